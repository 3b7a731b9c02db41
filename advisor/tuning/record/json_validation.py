"""JSON -> dataclasses, with a sentence that names the key where it does not fit."""

from __future__ import annotations

import dataclasses
import json
import math
import types
from functools import cache
from typing import Any, NoReturn, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")

_WORDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}


class Unfit(Exception):  # noqa: N818
    """The data are not what they should be; the message names the key."""


def parse(text: str) -> Any:
    """JSON as the standard has it: without NaN and Infinity.

    Raises:
        Unfit: it is not.
    """

    def refuse(constant: str) -> NoReturn:
        raise Unfit(f"is not JSON: {constant} is no number")

    try:
        return json.loads(text, parse_constant=refuse)
    except ValueError as error:
        raise Unfit(f"is not JSON: {error}") from error
    except RecursionError as error:
        raise Unfit("is nested too deeply") from error


def build(kind: type[T], data: object) -> T:
    """``data`` as a dataclass. Keys that it does not know are skipped: a newer version may have written them.

    Raises:
        Unfit: a key is missing, or its value is of another kind.
    """
    found: T = _build(kind, data, "")
    return found


def _build(kind: Any, data: object, where: str) -> Any:
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        (inner,) = (one for one in get_args(kind) if one is not types.NoneType)
        return None if data is None else _build(inner, data, where)
    if origin is tuple:
        _expect(isinstance(data, list), where, "a list")
        assert isinstance(data, list)
        return tuple(_build(get_args(kind)[0], one, f"{where}[{number}]") for number, one in enumerate(data))
    if origin is dict:
        _expect(isinstance(data, dict), where, "an object")
        assert isinstance(data, dict)
        return {key: _build(get_args(kind)[1], one, f"{where}.{key}") for key, one in data.items()}
    if dataclasses.is_dataclass(kind):
        return _object(kind, data, where)
    _expect(isinstance(data, (int, float) if kind is float else kind), where, _WORDS[kind])
    _expect(kind is bool or not isinstance(data, bool), where, _WORDS[kind])
    if isinstance(data, (int, float)) and not isinstance(data, bool):
        _expect(abs(data) < 2.0**63 and math.isfinite(data), where, "a number that is not so large")
    return float(data) if kind is float and isinstance(data, (int, float)) else data


def _object(kind: Any, data: object, where: str) -> Any:
    _expect(isinstance(data, dict), where, "an object")
    assert isinstance(data, dict)
    values = {}
    for one in dataclasses.fields(kind):
        key = f"{where}.{one.name}".lstrip(".")
        if one.name in data:
            values[one.name] = _build(_hints(kind)[one.name], data[one.name], key)
        elif one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING:
            raise Unfit(f"has no `{key}`")
    return kind(**values)


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _expect(holds: bool, where: str, wanted: str) -> None:
    if not holds:
        raise Unfit(f"has a `{where}` that is not {wanted}" if where else f"is not {wanted}")
