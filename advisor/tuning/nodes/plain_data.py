"""Messages between nodes as JSON: plain data of a closed list of types, whose every field is checked.

What comes over a network is never unpickled, which would run what a sender wishes.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import types
from enum import Enum
from typing import Any, Union, get_args, get_origin, get_type_hints

from accel_advisor.tuning.nodes import node_messages
from accel_advisor.tuning.probe.channel import reasons, wire

_TYPE, _FIELDS, _MEMBER, _TUPLE, _SET = "type", "fields", "member", "tuple", "set"


class ForeignMessageError(ValueError):
    """What came is no message of this version."""


def _crosses(one: object) -> bool:
    return isinstance(one, type) and (dataclasses.is_dataclass(one) or issubclass(one, Enum)) and one is not Enum


_KNOWN: dict[str, type] = {
    name: one for module in (wire, reasons, node_messages) for name, one in vars(module).items() if _crosses(one)
}
"""The types that may cross: what the wire, its reasons and the messages of nodes define."""


def encode(message: Any) -> bytes:
    """A message as JSON.

    Raises:
        TypeError: it holds something that may not cross.
    """
    return json.dumps(_plain(message), separators=(",", ":")).encode()


def decode(data: bytes) -> Any:
    """The message that :func:`encode` was given.

    Raises:
        ForeignMessageError: it is none.
    """
    try:
        return _message(json.loads(data))
    except (ValueError, RecursionError) as error:
        raise ForeignMessageError(f"no message between nodes: {error}") from error


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return {_TYPE: _named(type(value)), _MEMBER: value.name}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, tuple):
        return {_TUPLE: [_plain(one) for one in value]}
    if isinstance(value, frozenset):
        return {_SET: sorted((_plain(one) for one in value), key=json.dumps)}
    name = _named(type(value))
    return {
        _TYPE: name,
        _FIELDS: {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)},
    }


def _named(kind: type) -> str:
    if _KNOWN.get(kind.__name__) is not kind:
        raise TypeError(f"{kind.__name__} may not cross between nodes")
    return kind.__name__


def _message(value: Any) -> Any:
    if isinstance(value, list):
        return [_message(one) for one in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"tuple": list(parts), **rest} if not rest:
            return tuple(_message(one) for one in parts)
        case {"set": list(parts), **rest} if not rest:
            return frozenset(_message(one) for one in parts)
        case {"type": str(name), "member": str(member), **rest} if not rest:
            kind = _KNOWN.get(name)
            if kind is None or not issubclass(kind, Enum) or member not in kind.__members__:
                raise ForeignMessageError(f"{name}.{member} is not known")
            return kind[member]
        case {"type": str(name), "fields": dict(given), **rest} if not rest:
            return _built(name, {key: _message(one) for key, one in given.items()})
    raise ForeignMessageError("an object without a type")


def _built(name: str, given: dict[str, Any]) -> Any:
    kind = _KNOWN.get(name)
    if kind is None or not dataclasses.is_dataclass(kind):
        raise ForeignMessageError(f"{name} is not known")
    hints = _hints(kind)
    if given.keys() != hints.keys():
        raise ForeignMessageError(f"{name} has other fields: {', '.join(sorted(given.keys() ^ hints.keys()))}")
    for key, one in given.items():
        if not _fits(one, hints[key]):
            raise ForeignMessageError(f"{name}.{key} has no such value")
    return kind(**given)


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value is what an annotation says."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if origin in (Union, types.UnionType):
        return any(_fits(value, one) for one in inner)
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        if inner[1:] == (Ellipsis,):
            return all(_fits(one, inner[0]) for one in value)
        return len(value) == len(inner) and all(map(_fits, value, inner))
    if origin is frozenset:
        return isinstance(value, frozenset) and all(_fits(one, inner[0]) for one in value)
    if hint in (int, float) and isinstance(value, bool):
        return False
    if hint is float:
        return isinstance(value, int | float)
    return isinstance(value, type(None) if hint is None else hint)
