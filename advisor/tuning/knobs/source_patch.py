"""From what turns a knob to edits of the source, each where it is certain to do what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from accel_advisor.finding import Edit
from accel_advisor.tuning.probe.channel.wire import Frame, LoaderInfo, Site, Turned
from accel_advisor.tuning.probe.knobs.knob import Knob
from accel_advisor.tuning.probe.knobs.knob_statements import (
    BehindImports,
    LoaderSetting,
    OnceForModel,
    OptimizerArgument,
    Statement,
    WorkerStart,
    is_method,
)

if TYPE_CHECKING:
    from accel_advisor.source.document import Document


@dataclass(frozen=True, slots=True)
class Patch:
    """How to turn a knob in the source.

    Attributes:
        edits: empty where the place is not certain.
        remedy: what to do by hand then, in one sentence.
    """

    edits: tuple[Edit, ...] = ()
    remedy: str = ""


def patch(knob: Knob, turned: Turned, info: LoaderInfo, *, device: str, root: Path, argv: tuple[str, ...]) -> Patch:
    """The edits that turn a knob as it was turned in a run: all that it is written as, or none.

    Args:
        turned: what that run reported.
        info: the loader that trains.
        device: the kind of device that the model is on.
        root: of the project; only files below it are edited.
        argv: the script's command line arguments.
    """
    from accel_advisor.source.parsing import DocumentError

    source = _Source(turned, info, device, root, argv)
    try:
        parts = [source.patch(statement) for statement in knob.written]
    except (DocumentError, SyntaxError) as error:
        return Patch(remedy=f"write `{knob.shown(device)}` by hand, since the source cannot be read: {error}")
    if all(part.edits for part in parts):
        return Patch(tuple(dict.fromkeys(edit for part in parts for edit in part.edits)))
    return Patch(remedy=", and ".join(part.remedy for part in parts))


@dataclass(frozen=True, slots=True)
class _Source:
    """A project whose script was run with a knob turned; the arguments of :func:`patch`."""

    turned: Turned
    info: LoaderInfo
    device: str
    root: Path
    argv: tuple[str, ...]

    def patch(self, statement: Statement) -> Patch:
        """The edits that one statement takes, and what to do by hand in their stead."""
        match statement:
            case BehindImports():
                return self._behind_imports(statement)
            case WorkerStart():
                return self._at_worker_start(statement)
            case OptimizerArgument():
                return self._at_optimizers(statement)
            case LoaderSetting():
                return self._at_loader(statement)
            case OnceForModel():
                return self._at_models(statement)

    def _own(self, stack: Sequence[Frame]) -> list[Frame]:
        from accel_advisor.tuning.applying.project_code import own_frames

        return own_frames(stack, self.root)

    def _behind_imports(self, statement: BehindImports) -> Patch:
        from accel_advisor.editing.insertion import after_imports, torch_name, with_imports
        from accel_advisor.editing.wrapping import newline_of
        from accel_advisor.source.document import Document

        own = self._own(self.info.stack)
        document = Document.read(own[0].filename) if own else None
        torch = torch_name(document) if document is not None else None
        remedy = f"write `{statement.text(torch or 'torch')}` behind the imports"
        if document is None or torch is None:
            return Patch(remedy=remedy)
        imports = with_imports(document, len(document.text.splitlines()), *statement.imports)
        edit = after_imports(document, statement.text(torch, newline_of(document)))
        return Patch((*imports, edit) if imports is not None and edit is not None else (), remedy)

    def _at_worker_start(self, statement: WorkerStart) -> Patch:
        from accel_advisor.editing.edits import add_keyword
        from accel_advisor.editing.insertion import with_imports
        from accel_advisor.syntax.shapes import keywords_of
        from accel_advisor.tuning.applying.locate import call_at

        remedy = f"let each worker of the loader start with `{statement.statement}`"
        own = self._own(self.info.stack)
        found = call_at(own[-1], self.root, "torch.utils.data") if own else None
        # what starts the workers must be pickled where they are not forked
        if found is None or self.info.start_method != "fork":
            return Patch(remedy=remedy)
        document, call = found
        if statement.keyword in keywords_of(call):
            return Patch(remedy=remedy)
        edits = add_keyword(document, call, statement.keyword, statement.value)
        imports = with_imports(document, document.span(call).start.row, *statement.imports)
        return Patch((*imports, *edits) if imports is not None and edits is not None else (), remedy)

    def _at_loader(self, statement: LoaderSetting) -> Patch:
        from accel_advisor.tuning.applying.locate import plan_edits

        plan = plan_edits(
            self.info.stack,
            {statement.keyword: statement.value},
            root=self.root,
            argv=self.argv,
            current={statement.keyword: self.info.batch_size},
        )
        by_hand = f"pass {statement.keyword}={statement.value} to the loader"
        return Patch(() if plan.refusals else plan.edits, " ".join(plan.refusals) or by_hand)

    def _at_optimizers(self, statement: OptimizerArgument) -> Patch:
        from accel_advisor.editing.edits import add_keyword
        from accel_advisor.tuning.applying.locate import call_at

        edits: list[Edit] = []
        by_hand = f"pass {statement.keyword}={statement.value} to the optimizer"
        for stack in self.turned.sites:
            own = self._own([site.frame for site in stack])
            found = call_at(own[-1], self.root, "torch.optim") if own else None
            added = add_keyword(*found, statement.keyword, statement.value) if found is not None else None
            if added is None:
                where = f" ({_named(own[-1])})" if own else ""
                return Patch(remedy=f"{by_hand}{where}")
            edits += added
        return Patch(tuple(edits), by_hand)

    def _at_models(self, statement: OnceForModel) -> Patch:
        from accel_advisor.source.document import Document

        edits: list[Edit] = []
        for number, stack in enumerate(self.turned.sites):
            own = self._own([site.frame for site in stack])
            sites = [site for site in stack if site.frame in own]
            documents = {frame.filename: Document.read(frame.filename) for frame in own}
            blocks = self.turned.blocks[number] if self.turned.blocks else ""
            place = _naming(sites, documents)
            found = self._at_model(statement, *place, blocks=blocks) if place is not None else None
            if found is None:
                where = f", which is called in {_named(own[-1])}" if own else ""
                return Patch(remedy=f"{self._once(statement, blocks)}, for the model{where}")
            edits += found
        return Patch(tuple(edits), self._once(statement, *self.turned.blocks[:1]))

    def _once(self, statement: OnceForModel, blocks: str = "") -> str:
        return f"write `{statement.shown(self.device, blocks)}` once before the training loop"

    def _at_model(
        self, statement: OnceForModel, document: Document, row: int, name: str, *, blocks: str
    ) -> tuple[Edit, ...] | None:
        """The edits that turn one model; None where no place is certain, or what they name is not there."""
        from accel_advisor.editing.insertion import before_loop, free_name, torch_name, with_imports

        torch = torch_name(document) if "{torch}" in statement.statement else "torch"
        block = free_name(document, "block", "part", "each_block") if blocks else "block"
        if torch is None or block is None:
            return None
        text = statement.text(torch=torch, model=name, device=self.device, blocks=blocks, block=block)
        imports = () if is_method(blocks) else with_imports(document, row, *statement.imports)
        edit = before_loop(document, row, name, text)
        return None if edit is None or imports is None else (*imports, edit)


def _named(frame: Frame) -> str:
    from accel_advisor.source.program_lines import line_name

    return f"{Path(frame.filename).name}:{line_name(frame.filename, frame.row)}"


def _naming(sites: Sequence[Site], documents: dict[str, Document]) -> tuple[Document, int, str] | None:
    """The outermost place at which the model has a name, unless that place is passed several times."""
    from accel_advisor.editing.insertion import in_loop

    for site in sites:
        document, row = documents[site.frame.filename], site.frame.row
        if site.names:
            return document, row, site.names[0]
        if site.frame.function.startswith("<") and site.frame.function != "<module>":
            return None
        if in_loop(document, row):
            return None
    return None
