"""The knobs of the training itself: what each needs, and the patch that turns it in the source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from accel_advisor.finding import Edit
from accel_advisor.tune.knobs.binding import Split, written
from accel_advisor.tune.probe.channel.wire import ENABLE, Frame, LoaderInfo, Site, Turned

if TYPE_CHECKING:
    from accel_advisor.source.document import Document

Setting = int | Split | None
"""The value of a knob that has one."""


@dataclass(frozen=True, slots=True)
class Knob:
    """One of them.

    Attributes:
        name: as ``--knobs`` takes it.
        device: the only kind of device on which it does anything; empty for any.
        statement: what turns it in the source; ``{torch}``, ``{model}``, ``{blocks}``, ``{block}``, ``{device}``,
            ``{value}``, ``{training}`` and ``{workers}`` stand for what was measured.
        values: how many of them are tried at most.
    """

    name: str
    statement: str
    device: str = ""
    values: int = 1

    def refusal(self, device: str, base: Turned) -> str:
        """Why it need not be tried on a device, in words; empty where it may be."""
        if self.device and self.device != device:
            return f"it does something on {self.device} alone, and the model is on {device}"
        if self.name == "tf32" and base.precision != "highest":
            return "the script allows less than full float32 already"
        if self.name == "cudnn_benchmark" and base.benchmark:
            return "the script asks for it already"
        return ""


TURNED: tuple[Knob, ...] = (
    Knob("threads", "{torch}.set_num_threads({value})", "cpu", 3),
    Knob(
        "thread_binding",
        "os.sched_setaffinity(0, {training})\n{torch}.set_num_threads({value})\n"
        "worker_init_fn=lambda _: os.sched_setaffinity(0, {workers})",
        "cpu",
        3,
    ),
    Knob("tf32", '{torch}.set_float32_matmul_precision("high")', "cuda"),
    Knob("cudnn_benchmark", "{torch}.backends.cudnn.benchmark = True", "cuda"),
    Knob("fused_optimizer", "fused=True"),
    Knob("channels_last", "{model}.to(memory_format={torch}.channels_last)"),
    Knob("autocast", '{model}.forward = {torch}.autocast("{device}", {torch}.bfloat16)({model}.forward)'),
    Knob("compile", "{model}.compile()"),
    Knob("batch_size", "batch_size={value}", values=4),
    Knob(
        "activation_checkpointing",
        "for {block} in {blocks}:\n    {block}.forward = "
        "functools.partial(torch.utils.checkpoint.checkpoint, {block}.forward, use_reentrant=False)",
        values=5,
    ),
)
"""In the order in which they are tried, and in which their statements follow each other."""


@dataclass(frozen=True, slots=True)
class Patch:
    """How to turn a knob in the source.

    Attributes:
        edits: empty where the place is not certain.
        remedy: what to do by hand then, in one sentence.
    """

    edits: tuple[Edit, ...] = ()
    remedy: str = ""


def patch(
    knob: Knob, value: Setting, turned: Turned, info: LoaderInfo, *, device: str, root: Path, argv: tuple[str, ...]
) -> Patch:
    """The edits that do in the source what was measured, each where it is certain to do the same."""
    from accel_advisor.source.document import DocumentError

    try:
        if isinstance(value, Split):
            return _bound(knob, value, info, root)
        if knob.name == "batch_size":
            return _at_loader(value, info, root, argv)
        if knob.name == "activation_checkpointing":
            return _recomputed(knob, value, turned, info, device, root, argv)
        if knob.name == "fused_optimizer":
            return _at_optimizers(turned, root)
        if "{model}" in knob.statement:
            return _at_models(knob, turned, device, root)
        return _behind_imports(knob, value, info, root)
    except (DocumentError, SyntaxError) as error:
        shown = shown_statement(knob, value, device)
        return Patch(remedy=f"write `{shown}` by hand, since the source cannot be read: {error}")


def shown_statement(knob: Knob, value: Setting, device: str, blocks: str = "") -> str:
    """What turns a knob, in one line, for a model that is called so."""
    if blocks.endswith(ENABLE):
        return _enabled(blocks, "model")
    blocks = blocks.replace("{}", "model") or "model.blocks"
    text = knob.statement.format(
        torch="torch", model="model", block="block", blocks=blocks, device=device, **_values(value)
    )
    return text.replace(":\n    ", ": ").replace("\n", "; ")


def _values(value: Setting) -> dict[str, str]:
    """What a value puts into a statement."""
    if isinstance(value, Split):
        return {"value": str(value.threads), "training": written(value.training), "workers": written(value.workers)}
    return {"value": "N" if value is None else str(value), "training": "{...}", "workers": "{...}"}


def _enabled(blocks: str, model: str) -> str:
    return f'{blocks.replace("{}", model)}(gradient_checkpointing_kwargs={{"use_reentrant": False}})'


def _own(stack: Sequence[Frame], root: Path) -> list[Frame]:
    from accel_advisor.tune.applying.locate import own_frames

    return own_frames(stack, root)


def _behind_imports(knob: Knob, value: Setting, info: LoaderInfo, root: Path) -> Patch:
    from accel_advisor.editing.insertion import after_imports, torch_name
    from accel_advisor.source.document import Document

    own = _own(info.stack, root)
    edit = None
    name: str | None = "torch"
    if own:
        document = Document.read(own[0].filename)
        name = torch_name(document)
        edit = after_imports(document, knob.statement.format(torch=name, value=value)) if name else None
    if edit is None:
        return Patch(remedy=f"write `{knob.statement.format(torch=name or 'torch', value=value)}` behind the imports")
    return Patch((edit,))


def _bound(knob: Knob, value: Split, info: LoaderInfo, root: Path) -> Patch:
    """Behind the imports of the script, and at the loader: both, or neither."""
    from accel_advisor.editing.edits import add_keyword, newline_of
    from accel_advisor.editing.insertion import after_imports, torch_name, with_imports
    from accel_advisor.source.document import Document
    from accel_advisor.tune.applying.locate import call_at

    *first, last = knob.statement.splitlines()
    name, _, start = last.partition("=")
    own = _own(info.stack, root)
    found = call_at(own[-1], root, "torch.utils.data.") if own else None
    script = Document.read(own[0].filename) if own else None
    torch = torch_name(script) if script is not None else None
    shown = "; ".join(first).format(torch=torch or "torch", **_values(value))
    init = start.format(**_values(value))
    starts = f"let each worker of the loader start with `{init.partition(': ')[2]}`"
    remedy = f"write `{shown}` behind the imports, and {starts}"
    if script is None or torch is None or found is None:
        return Patch(remedy=remedy)
    loader, call = found
    given = any(arg.keyword is not None and arg.keyword.value == name for arg in call.args)
    # what starts the workers must be pickled where they are not forked
    keyword = add_keyword(loader, call, name, init) if info.start_method == "fork" and not given else None
    row = len(script.text.splitlines())
    imports = with_imports(script, row, "os"), with_imports(loader, loader.span(call).start.row, "os")
    behind = after_imports(script, newline_of(script).join(first).format(torch=torch, **_values(value)))
    if keyword is None or behind is None or None in imports:
        return Patch(remedy=remedy)
    return Patch(tuple(dict.fromkeys((*(imports[0] or ()), *(imports[1] or ()), behind, keyword))))


def _at_loader(value: int | None, info: LoaderInfo, root: Path, argv: tuple[str, ...]) -> Patch:
    from accel_advisor.tune.applying.locate import plan_edits

    plan = plan_edits(info.stack, {"batch_size": value}, root=root, argv=argv, current={"batch_size": info.batch_size})
    if plan.refusals or not plan.edits:
        return Patch(remedy=" ".join(plan.refusals) or f"pass batch_size={value} to the loader")
    return Patch(plan.edits)


def _at_optimizers(turned: Turned, root: Path) -> Patch:
    from accel_advisor.editing.edits import add_keyword
    from accel_advisor.tune.applying.locate import call_at

    edits: list[Edit] = []
    for stack in turned.sites:
        own = _own([site.frame for site in stack], root)
        found = call_at(own[-1], root, "torch.optim.") if own else None
        edit = add_keyword(*found, "fused", "True") if found is not None else None
        if edit is None:
            where = f" ({Path(own[-1].filename).name}:{own[-1].row})" if own else ""
            return Patch(remedy=f"pass fused=True to the optimizer{where}")
        edits.append(edit)
    return Patch(tuple(dict.fromkeys(edits)))


def _recomputed(
    knob: Knob, value: int | None, turned: Turned, info: LoaderInfo, device: str, root: Path, argv: tuple[str, ...]
) -> Patch:
    """At the models, and where a size of the batch goes with it at the loader: both, or neither."""
    models = _at_models(knob, turned, device, root)
    if value is None:
        return models
    loader = _at_loader(value, info, root, argv)
    if models.edits and loader.edits:
        return Patch((*models.edits, *loader.edits))
    statement = shown_statement(knob, None, device, *turned.blocks[:1])
    first = models.remedy or f"write `{statement}` once before the training loop"
    return Patch(remedy=f"{first}, and {loader.remedy or f'pass batch_size={value} to the loader'}")


def _at_models(knob: Knob, turned: Turned, device: str, root: Path) -> Patch:
    from accel_advisor.source.document import Document

    edits: list[Edit] = []
    for number, stack in enumerate(turned.sites):
        own = _own([site.frame for site in stack], root)
        sites = [site for site in stack if site.frame in own]
        documents = {frame.filename: Document.read(frame.filename) for frame in own}
        blocks = turned.blocks[number] if turned.blocks else ""
        place = _naming(sites, documents)
        found = _at_model(knob, *place, device=device, blocks=blocks) if place is not None else None
        if found is None:
            where = f", which is called in {Path(own[-1].filename).name}:{own[-1].row}" if own else ""
            statement = shown_statement(knob, None, device, blocks)
            return Patch(remedy=f"write `{statement}` once before the training loop, for the model{where}")
        edits += found
    return Patch(tuple(dict.fromkeys(edits)))


def _at_model(
    knob: Knob, document: Document, row: int, name: str, *, device: str, blocks: str
) -> tuple[Edit, ...] | None:
    """The edits that turn one model; None where no place is certain, or what they name is not there."""
    from accel_advisor.editing.insertion import before_loop, free_name, torch_name, with_imports

    torch = torch_name(document) if "{torch}" in knob.statement else "torch"
    block = free_name(document, "block", "part", "each_block") if blocks else "block"
    if torch is None or block is None:
        return None
    reached = blocks.replace("{}", name)
    imports: tuple[Edit, ...] | None = ()
    if blocks.endswith(ENABLE):
        statement = _enabled(blocks, name)
    else:
        statement = knob.statement.format(torch=torch, model=name, device=device, block=block, blocks=reached)
        imports = with_imports(document, row, "functools", "torch.utils.checkpoint") if blocks else ()
    edit = before_loop(document, row, name, statement)
    return None if edit is None or imports is None else (*imports, edit)


def _naming(sites: Sequence[Site], documents: dict[str, Document]) -> tuple[Document, int, str] | None:
    """The outermost place at which the model has a name, unless it is come by several times."""
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
