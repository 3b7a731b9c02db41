"""Names that a text uses as those of models, and as those of losses."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from accel_advisor.syntax.shapes import dotted, last_name
from accel_advisor.syntax.walking import descendants

_OF_MODELS = frozenset({"parameters", "named_parameters"})
"""Methods that nothing but a model has."""
_MODEL = re.compile(r"(^|_)(model|net|network)$", re.IGNORECASE)
_PART = re.compile(
    r"(?i:(?:^|_)(?:generator|discriminator|encoder|decoder|backbone|classifier|student|teacher|actor|critic|unet))$"
    r"|(?i:^net_?)[A-Z]{1,2}$|^(?:G|D|GD|G_D)(?:_[A-Za-z]{1,2})?$"
)
"""Names of one of several models that are trained together."""
_NO_MODEL = re.compile(
    r"^(?:move|send|copy|put|to)_(?:\w+_)?(?:to_)?(?:device|gpu|cuda|cpu|host|numpy|list)$|_to_(?:device|gpu|cuda)$"
    r"|^(?:print|show|plot|imshow|save|write|visuali[sz]e)(?:_|$)|^log(?:_(?:images?|metrics?|scalars?|batch))?$"
)
"""Names of functions that move a batch, or make something of it for people."""
_LOSS = re.compile(r"(^|_)(loss|losses|criterion|criteria|crit)(_(fn|func|function))?(_|$)", re.IGNORECASE)
_LOSS_CLASS = re.compile(r"Loss|Criterion", re.IGNORECASE)
_MOVES = frozenset({"to", "cuda"})
_OF_CALLED_MODELS = _MOVES | {"train", "eval", "state_dict", "load_state_dict", "zero_grad"}
"""Methods of models, which other objects have too; none of those is called as a function."""

_READS = frozenset({"item", "tolist", "numpy", "cpu", "float", "int"})
"""What a number on the host comes out of, which is called a loss as well."""


def models_named_in(tree: cst.Module) -> frozenset[str]:
    """The names, with dots, on which methods are called that only models have, or others and that are called, too; what
    a move returns bears the name as well (``model = build().cuda()``)."""
    asked: dict[str, set[str]] = {}
    called: set[str] = set()
    for one in descendants(tree, cst.Call, cst.Assign):
        if type(one) is cst.Call:
            name = dotted(one.func)
            called.add(name)
            owner, _, method = name.rpartition(".")
            if owner:
                asked.setdefault(owner, set()).add(method)
        elif isinstance(one, cst.Assign):
            made = one.value.func if type(one.value) is cst.Call else None
            if type(made) is cst.Attribute and made.attr.value in _MOVES:
                for target in one.targets:
                    asked.setdefault(dotted(target.target), set()).add(made.attr.value)
    return frozenset(
        owner
        for owner, methods in asked.items()
        if methods & _OF_MODELS or (owner in called and methods & _OF_CALLED_MODELS)
    )


def is_named_as_model(called: cst.BaseExpression) -> bool:
    """Whether what is called bears the name of a model: ``model``, ``self.net``."""
    return _MODEL.search(last_name(called)) is not None


def may_be_model(called: cst.BaseExpression) -> bool:
    """Whether what is called bears the name of a model, or of one of several that are trained together."""
    name = last_name(called)
    return (_MODEL.search(name) or _PART.search(name)) is not None


def is_no_model(called: cst.BaseExpression) -> bool:
    """Whether what is called bears the name of a function that computes nothing with a batch: ``to_device``, ``show``,
    ``save_images``."""
    return _NO_MODEL.search(last_name(called)) is not None


def is_named_as_loss(called: cst.BaseExpression) -> bool:
    """Whether what is called bears the name of a loss: ``criterion``, ``self.loss_fn``, ``losses["mel"]``."""
    while isinstance(called, cst.Subscript):
        called = called.value
    return _LOSS.search(last_name(called)) is not None


def is_class_of_losses(name: str) -> bool:
    """Whether a class bears the name of a loss, as ``FocalLoss`` and ``CriterionOhemDSN`` do."""
    return _LOSS_CLASS.search(name) is not None


def losses_named_in(code: cst.CSTNode) -> frozenset[str]:
    """The names, with dots, of what is differentiated: ``loss`` in ``loss.backward()``, ``(loss / n).backward()``,
    ``scaler.scale(loss).backward()`` and ``accelerator.backward(loss)``."""
    found: set[str] = set()
    for call, receiver in calls_of_backward(code):
        found.update(_differentiated(receiver))
        found.update(dotted(one.value) for one in call.args[:1])
    return frozenset(found - {""})


def calls_of_backward(code: cst.CSTNode) -> Iterator[tuple[cst.Call, cst.BaseExpression]]:
    """The calls of methods called ``backward``, and what each is called on."""
    for call in descendants(code, cst.Call):
        if type(call.func) is cst.Attribute and call.func.attr.value == "backward":
            yield call, call.func.value


def _differentiated(node: cst.BaseExpression) -> Iterator[str]:
    if isinstance(node, cst.BinaryOperation):
        yield from _differentiated(node.left)
        yield from _differentiated(node.right)
    elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        given = node.args[0].value if node.args and node.func.attr.value == "scale" else node.func.value
        yield from _differentiated(given)
    else:
        yield dotted(node)


def reads_number(code: cst.BaseExpression) -> bool:
    """Whether an expression reads a number out of something: ``loss.item()``, ``float(loss)``."""
    return any(last_name(one.func) in _READS for one in descendants(code, cst.Call))
