"""Checkpoints that are loaded onto the device that they were saved from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from accel_advisor.finding import Applicability, Finding, Fix, Frequency, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.models.checkpoints import CheckpointLoad, has_ranks, loads_of_checkpoints
from accel_advisor.rule import Rule, also_at


class LoadWithoutMapLocation(Rule):
    """A checkpoint is loaded onto whichever device it was saved from.

    What it does
        Finds loads of checkpoints and models without `map_location`, in programs that use CUDA: what `load_state_dict`
        takes, and what is used or named as a model or checkpoint.

    Why it costs time
        `torch.load` puts each tensor back where it lived. On a machine without that GPU it raises; with several ranks
        all of them load onto `cuda:0`, which then holds a copy for each; and on the one GPU there is, the checkpoint
        lies beside the model and its optimizer, for as long as its name is bound.

    Example
        import torch
        from torch import nn

        model = nn.Linear(8, 2).to("cuda" if torch.cuda.is_available() else "cpu")
        model.load_state_dict(torch.load("model.pt"))

    Use instead
        import torch
        from torch import nn

        model = nn.Linear(8, 2).to("cuda" if torch.cuda.is_available() else "cpu")
        model.load_state_dict(torch.load("model.pt", map_location="cpu"))

    When to ignore it
        Where the file is known to have been saved from the CPU: the rule is silent where the program saves it so
        (`torch.save(model.cpu().state_dict(), file)`, or `model.cpu()` before it), where a run of one process takes
        back what it trained, where nothing shows that a GPU is meant, where the file holds data or the state of a
        scheduler, and where the program replaces `torch.load`. One process loads its checkpoint once, onto the GPU
        that it mostly has: this is reported with `--minor`, or if this rule is selected by its code or name. By
        default it is reported where the program may run in several processes, except in notebooks. Scripts that train
        nothing are one finding together, or are named by that of a training.

    Fix safety
        Unsafe: the tensors pass through the memory of the host; `load_state_dict` copies them to the parameters'
        device. No fix is made for a model that is loaded as a whole, and for what the program keeps as it was loaded,
        such as the tensors of a moving average, or an optimizer: there the message asks for the device of the process.

    References
        - https://docs.pytorch.org/docs/stable/generated/torch.load.html
    """

    code = "ACC426"
    name = "load-without-map-location"
    severity = Severity.INFO
    frequency = Frequency.ONCE

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports a document once, at the first load, with the others as related places."""
        loads = list(loads_of_checkpoints(facts))
        if loads:
            yield self._report(facts, loads)

    def _report(self, facts: Facts, loads: list[CheckpointLoad]) -> Finding:
        document, first, basis = facts.document, loads[0], loads[0].basis
        copied = [one.operation for one in loads if one.basis.proven and not one.kept]
        edits = [edit for one in copied for edit in one.keyword_edits("map_location", '"cpu"') or ()]
        fix = Fix('Pass `map_location="cpu"`', tuple(edits), Applicability.UNSAFE) if edits else None
        then = "" if basis.proven else " and move what is needed on the GPU"
        claim = (
            f"`{document.code(first.operation.node)}` puts every tensor back onto the device that it was saved from, "
            f"which may not exist here, be another rank's, or have no room for a second copy{basis.clause}"
        )
        remedy = f'pass `map_location="cpu"`{then}'
        keeping = next((one for one in loads if one.kept), None)
        if keeping is not None:
            where = "" if keeping is first else f"{remedy}, but in {document.span(keeping.operation.node).start.line} "
            device = "the device of this process as `map_location`"
            moved = f', or `"cpu"` where `{keeping.kept}` is moved afterwards'
            kept = moved if keeping.handed_on else f": `{keeping.kept}` is kept as it was loaded"
            remedy = f"{where or 'pass '}{device}{kept}"
        related = [also_at(document, one.operation.node, "loads likewise") for one in loads[1:]]
        minor = document.notebook is not None or not has_ranks(facts)
        known = self.finding(
            facts, first.operation.node, claim, remedy, fix=fix, related=related, basis=basis, minor=minor
        )
        learns = any(one.learns and one.document is document for one in facts.loops)
        return replace(known, aside=not learns)
