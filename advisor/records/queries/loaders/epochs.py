"""Loaders whose workers are started again in every epoch."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import Act, Action, AnyCall, Sets, SetsItem, Within, calls
from accel_advisor.records.dataset_facts import IssueKind
from accel_advisor.records.queries.loaders.passes import passes_of
from accel_advisor.records.queries.loaders.start_method import start_methods
from accel_advisor.syntax.shapes import dotted, keywords_of, last_name, names_bound_in, names_read_in
from accel_advisor.syntax.walking import descendants
from accel_advisor.values.evidence import PROVEN, Evidence, Ground

if TYPE_CHECKING:
    from accel_advisor.project.target import Version
    from accel_advisor.records.facts import Facts, LoaderCall, Loop
    from accel_advisor.records.operations import Operation, OperationContext

_RUNS = re.compile(r"fold|seed|trial|run|split|repeat|experiment|config|cfg", re.IGNORECASE)
"""What the variable of a loop is called whose passes are trainings of their own."""
_SEEDS = (
    *calls("torch.manual_seed", "torch.cuda.manual_seed_all", "random.seed", "numpy.random.seed"),
    *(AnyCall("seed_everything"), AnyCall("set_seed")),
)
_LARGE = re.compile(
    r"[\"'](?![^\"'\n]*(?:_v[12]|mean|std|pretrained|weights)\b)[^\"'\n]*"
    r"(?:imagenet|ilsvrc|kinetics|laion|openimages|places365)",
    re.IGNORECASE,
)
"""Texts that name a data set whose epochs take so long that the start of workers is lost in them, as a path does, a
choice of an option or what its help says. Weights and means of ImageNet are used with whatever data."""
_LARGE_ONES = ("ImageNet", "Kinetics", "Places365")
_SMALL = re.compile(r"cifar|mnist|svhn|stl10|modelnet|shapenet", re.IGNORECASE)
_MANY = 8
"""Workers from which on it takes a moment to fork them."""
_FEW_BATCHES = 1000
"""Batches of an epoch up to which the start of its workers is no small part of it."""
_MANY_EPOCHS = 100
"""Epochs from which on a training is taken to go over little data, where nothing is known of these: so many, or more,
had each training whose workers readers of ``benchmarks/practice`` found worth keeping."""
_COUNTS_CORES = frozenset({"os.cpu_count", "multiprocessing.cpu_count", "os.process_cpu_count"})


def restarted_loaders(facts: Facts) -> Iterator[LoaderCall]:
    """The loaders of a document that are built once, have workers, and start them for every epoch, where workers can
    live on; beside these, in the order in which they were met, those that do so once in so many epochs or steps."""
    if facts.does(Within("torchrec.distributed")):
        return  # whose pipelines fetch ahead, and were seen to hang on workers that live on
    found = [
        one
        for one in facts.loaders
        if epochs_of(one) and _starts_anew(facts, one) and facts.supports(workers_live_on_since(one))
    ]
    if any(one.epoch_loops or one.renewed for one in found):
        yield from found


def when_restarted(facts: Facts, loader: LoaderCall) -> str:
    """When the workers of a loader are started again, for a message."""
    loop = epochs_of(loader)[0]
    where = f"{loop.document.span(loop.node).start.line}"
    where += "" if loop.document is facts.document else f" of {loop.document.filename}"
    if not loader.epoch_loops and loader.renewed:
        return f"whenever the loop in {where} has used up its batches"
    return f"in {'every pass' if loader.epoch_loops else 'some passes'} of the loop in {where}"


def weight_of(facts: Facts, loader: LoaderCall) -> tuple[bool, bool]:
    """Whether the restart of a loader's workers is of little consequence, since epochs are long or few, no loop that
    takes its batches trains, or only a file of settings knows whether there are any, and whether it is worth less than
    that of others, since nobody knows whether it shows."""
    evaluates = bool(loader.loops) and not any(loop.backward for loop in loader.loops)
    shows = _shows(facts, loader)
    rare = not shows and (passes_of(facts, epochs_of(loader)[0]) or 0) < _MANY_EPOCHS
    small = evaluates or _has_long_epochs(loader) or _is_filed(loader) or rare
    return small, evaluates or not (small or shows or _has_many_workers(loader))


def _is_filed(loader: LoaderCall) -> bool:
    """Whether a file of settings decides how many workers there are, often none, and the program names no number."""
    given = loader.given("num_workers").alternatives
    return loader.default_count("num_workers") is None and any(one.filed for one in given)


def _shows(facts: Facts, loader: LoaderCall) -> bool:
    """Whether the start of a loader's workers takes something that can be seen of an epoch: they are not forked, or
    epochs are short, as far as their batches are known, or their data are named."""
    if start_methods(facts, loader).fresh or loader.batches_of_a_pass is not None:
        return True
    return bool(_SMALL.search(loader.document.text))


def _has_many_workers(loader: LoaderCall) -> bool:
    count = loader.fixed_workers or loader.default_count("num_workers") or 0
    return count >= _MANY or loader.given("num_workers").made_by in _COUNTS_CORES


def _has_long_epochs(loader: LoaderCall) -> bool:
    """Whether a pass over a loader takes so long that the start of its workers does not show: its data set is a large
    one of torchvision, or none of its small ones, and a text of the file names a large one alone; or it is known to
    have that many batches."""
    if (loader.batches_of_a_pass or 0) > _FEW_BATCHES:
        return True
    made = loader.dataset.given.made_by if loader.dataset is not None else ""
    if made.startswith("torchvision.") and made.endswith(_LARGE_ONES):
        return True
    if made.startswith("torchvision.") and not made.endswith(("ImageFolder", "CocoDetection")):
        return False
    return bool(_LARGE.search(loader.document.text)) and not _SMALL.search(loader.document.text)


def epochs_of(loader: LoaderCall) -> list[Loop]:
    """The loops in each turn of which the workers of a loader are started; where there are none, those that begin again
    when its batches are used up, or those in some turns. None where a loop that takes no batches builds loaders one
    after the other, as that over runs does not."""
    built = {id(loop) for context in loader.contexts for loop in context.loops}
    if not built <= {id(loop) for loop in (*loader.around, *loader.now_and_then)}:
        return []
    return loader.epoch_loops or loader.renewed or loader.periodic_loops


def _starts_anew(facts: Facts, loader: LoaderCall) -> bool:
    if not loader.constructor.advises or not _has_workers(loader):
        return False
    if not loader.gives("persistent_workers", None) or loader.moved_by == "lightning":
        return False
    if _is_at_hand(loader):
        return False  # where no workers are better than workers that live on
    if not (loader.works or loader.feeds_gpu or loader.transfers):
        return False  # which is tried out, and not trained on
    if any(_takes_anew(one, other) for one in loader.loops for other in loader.loops):
        return False  # workers that live on begin anew for the inner loop, and the outer one loses its place
    return not loader.suffers(IssueKind.CHANGED) and not _may_change(facts, loader)


def _takes_anew(inner: Loop, outer: Loop) -> bool:
    """Whether a loop stands in the text of another, and does not go over what that gives it, as over one loader of a
    list."""
    if inner is outer or not isinstance(inner.node, cst.For) or outer.target is None:
        return False
    if not outer.holds(inner.document, inner.node):
        return False
    return names_read_in(inner.node.iter).isdisjoint(names_read_in(outer.target))


def spelled_workers(loader: LoaderCall) -> cst.BaseExpression | None:
    """The number of workers as the call of a loader spells it, by keyword; None where it does not."""
    return keywords_of(loader.node).get("num_workers")


def workers_are(loader: LoaderCall) -> str:
    """The beginning of a sentence about the workers of a loader, with what decides their number."""
    count, spelled = loader.fixed_workers, spelled_workers(loader)
    if count is not None:
        return f"the {count} workers of `{loader.label}` are" if count > 1 else f"the worker of `{loader.label}` is"
    default, code = loader.default_count("num_workers"), f"`{loader.document.code(spelled)}`" if spelled else ""
    said = ", ".join(filter(None, (code, f"{default} by default" if default else "")))
    return f"the workers of `{loader.label}` ({said}) are"


def evidence_of_workers(loader: LoaderCall) -> Evidence:
    """What shows that a loader which is restarted has workers, and that they may live on."""
    basis = PROVEN if loader.fixed_workers is not None else Evidence.of(Ground.WORKERS)
    return basis | Evidence.of(Ground.EPOCHS) if _has_unknown_data(loader) else basis


def what_epochs_grant(loader: LoaderCall) -> str:
    """What has to be taken for granted of the data set, for a message; empty where it is known."""
    return Evidence.of(Ground.EPOCHS).clause if _has_unknown_data(loader) else ""


def where_workers(loader: LoaderCall) -> str:
    """An expression that is true where a loader has workers: torch refuses to let them live on where there are none, as
    where another caller of a function asks for 0."""
    spelled = spelled_workers(loader)
    if spelled is None or isinstance(spelled, cst.Integer) or loader.given("num_workers").made_by in _COUNTS_CORES:
        return "True"
    code = loader.document.code(spelled)
    binds = isinstance(spelled, (cst.Name, cst.Attribute, cst.Subscript, cst.Call, cst.BinaryOperation))
    return f"{code} > 0" if binds else f"({code}) > 0"


def workers_live_on_since(loader: LoaderCall) -> Version:
    """The torch from which on the workers of a loader can live on: the argument came with 1.7, where the second epoch
    failed with pinned batches."""
    return (1, 8) if loader.pins else (1, 7)


def rebuilt_loaders(facts: Facts) -> Iterator[tuple[LoaderCall, Loop | None]]:
    """The loaders of a document that have workers and are built again of the same things: in every epoch, each with the
    loop over the epochs, or where ``next`` has used them up, with none."""
    anew = facts.document.once(_begun_anew) if facts.loaders else frozenset()
    for loader in facts.loaders:
        dataset = loader.dataset
        count = loader.fixed_workers or loader.default_count("num_workers") or 0
        if not loader.constructor.advises or not count > 0 or not loader.contexts:
            continue
        if dataset is not None and dataset.changes:
            continue
        if id(loader.node) in anew:
            if _is_made_of_the_same(loader):
                yield loader, None
            continue
        built = [one for one in loader.contexts if not one.untaken]
        if not built or not all(one.repeats for one in built):
            continue
        epochs = built[0].loops[-1]
        if not epochs.counts or any(one.loops[-1] is not epochs for one in built):
            continue
        if any(loop.parent is epochs for loop in loader.loops) and not _is_a_run(facts, epochs):
            yield loader, epochs


def _is_made_of_the_same(loader: LoaderCall) -> bool:
    """Whether the call of a loader reads nothing that the loop around it binds."""
    around = [one.loops[-1].node for one in loader.contexts if one.loops]
    bound = frozenset[str]().union(*map(names_bound_in, around))
    return bool(around) and bound.isdisjoint(name for one in loader.node.args for name in names_read_in(one))


def _begun_anew(tree: cst.Module) -> frozenset[int]:
    """The calls, by their identity, that stand where an iterator was found to be used up."""
    handlers = [
        one
        for one in descendants(tree, cst.ExceptHandler)
        if one.type is not None and "StopIteration" in names_read_in(one.type)
    ]
    return frozenset(id(call) for one in handlers for call in descendants(one.body, cst.Call))


def _may_change(facts: Facts, loader: LoaderCall) -> bool:
    """Whether the data set is, or may be, changed between epochs."""
    dataset = loader.dataset
    if dataset is None or dataset.changes:
        return True
    if _has_unknown_data(loader):
        return _is_at_hand_in_epochs(loader)
    single = len(epochs_of(loader)) == 1
    if dataset.adjusted and not single:
        return True
    return any(
        context.subject == dataset.given and not (single and _is_settled(facts, loader, operation, context))
        for one in facts.program
        for operation in one.operations
        if _assigns(operation.what)
        for context in operation.contexts
    )


def _has_unknown_data(loader: LoaderCall) -> bool:
    given = loader.dataset.given.alternatives if loader.dataset is not None else ()
    return any(one.unknown or one.named for one in given)


def _is_at_hand_in_epochs(loader: LoaderCall) -> bool:
    """Whether the loop over epochs has to do with a data set of which nothing is known: it may change it."""
    spelled = next(
        (one.value for one in loader.node.args if one.keyword is None or one.keyword.value == "dataset"), None
    )
    names = {"dataset", last_name(spelled)} - {""}
    for loop in epochs_of(loader):
        counted = [one for one in descendants(loop.node, cst.Call) if dotted(one.func) == "len"]
        harmless = {id(name) for one in counted for name in descendants(one, cst.Name)}
        if any(one.value in names and id(one) not in harmless for one in descendants(loop.node, cst.Name)):
            return True
    return False


def _is_settled(facts: Facts, loader: LoaderCall, operation: Operation, context: OperationContext) -> bool:
    """Whether something happens in no loop, and above the loader, at the top of a module or in a function that the
    program calls: workers that start afterwards have it, too."""
    if context.inner is not None:
        return False
    document = operation.document
    above = document.span(operation.node).start < document.span(loader.node).start
    called = operation.function is None or facts.call_graph.is_called(operation.function)
    return called or (document is loader.document and above)


def _has_workers(loader: LoaderCall) -> bool:
    """Whether a loader has workers: literals say so, or its call spells a number that is not known, or is above zero
    unless another one is configured, as one in a dictionary of arguments has to be."""
    if loader.fixed_workers is not None:
        return loader.fixed_workers > 0
    count = loader.default_count("num_workers")
    return bool(count) or (count is None and not loader.opaque and spelled_workers(loader) is not None)


def _is_at_hand(loader: LoaderCall) -> bool:
    """Whether a batch takes no work: its samples are in memory, and are no graphs, which have to be put together."""
    dataset = loader.dataset
    return dataset is not None and dataset.cost == "memory" and not dataset.given.made_by.startswith("torch_geometric.")


def _assigns(what: Action) -> bool:
    """Whether an action sets an attribute or an item, or calls a method that is named so."""
    assigns = isinstance(what, (Sets, SetsItem)) or what in (Act.SETS_MODULE_ATTRIBUTE, Act.SETS_TENSOR_ITEM)
    return assigns or what.name.startswith("set_")


def _is_a_run(facts: Facts, loop: Loop) -> bool:
    """Whether a pass of a loop is a training of its own: it seeds again, makes an optimizer, or is named so."""
    if isinstance(loop.node, cst.For) and _RUNS.search(loop.document.code(loop.node.target)):
        return True
    program = tuple(facts.program)
    seeds = [one for known in program for one in known.operations_of(*_SEEDS)]
    optimizers = [
        one for known in program for one in known.operations_of(Within("torch.optim")) if one.builds_optimizer
    ]
    return any(context.inner is loop for one in (*seeds, *optimizers) for context in one.contexts)
