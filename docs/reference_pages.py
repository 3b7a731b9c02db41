"""The reference that is made of the code: the keys of the configuration, the JSON of findings and of trials, the exit
statuses."""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import tempfile
import types
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

from accel_advisor import Engine
from accel_advisor.commands.starting.configuration_keys import GROUPS
from accel_advisor.commands.starting.man_page_command import EXIT_STATUS
from accel_advisor.config import Config
from accel_advisor.output.json import plain
from accel_advisor.rule import registry
from accel_advisor.rule_page import rule_page
from accel_advisor.tuning.record.schema import Record

_WORDS = {str: "text", int: "whole number", float: "number", bool: "`true` or `false`"}
_SHOWN = "ACC402"
"""The rule whose example shows what a finding is in JSON: it has a fix."""


def reference() -> dict[str, str]:
    """The pages, by their place in the site."""
    return {
        "reference/keys.md": _keys(),
        "reference/finding.md": _finding(),
        "reference/trial.md": _trial(),
        "reference/exit-status.md": _statuses(),
    }


def _keys() -> str:
    defaults = Config(Path()).settings()
    rows = [
        f"| `{key}` | `{_toml(defaults[key])}` | `{example}` | {topic.says} |"
        for group in GROUPS
        for topic in group
        for key, example in topic.keys.items()
    ]
    return "\n".join(
        [
            "# Keys of the configuration\n",
            "They stand below `[tool.accel-advisor]` in `pyproject.toml`; `accel-advisor init` writes them there as "
            "comments. [Configuration](../configuration.md) says how they work together.\n",
            "| key | default | for example | |",
            "|---|---|---|---|",
            *rows,
            "",
        ]
    )


def _toml(value: object) -> str:
    """A default as the file would have it; what is not set has no form there."""
    return "not set" if value in (None, {"script": None, "args": []}) else json.dumps(value)


def _finding() -> str:
    source = rule_page(registry()[_SHOWN]).sections["Example"]
    with tempfile.TemporaryDirectory() as folder:
        engine = Engine(folder, select=[_SHOWN])
        engine.update("train.py", source)
        shown = json.dumps([plain(one) for one in engine.findings("train.py")][:1], indent=2)
    shown = shown.replace(f"{folder}/", "")
    return "\n".join(
        [
            "# JSON of a finding\n",
            f"What `accel-advisor lint --output-format json` says of the example of [{_SHOWN}](../rules/{_SHOWN}.md). "
            "[Output formats](../output.md#json) says what each key means.\n",
            f"```json\n{shown}\n```\n",
        ]
    )


def _trial() -> str:
    parts = [
        "# Keys of a trial's JSON\n",
        "Each key that `accel-advisor tune --json FILE` writes, with its kind. [JSON of a trial](../json.md) says what "
        "they mean. Keys that may be missing are missing in files of older versions.\n",
    ]
    for kind in _kinds(Record, {}):
        own = types_of(kind)
        parts += [f"## {kind.__name__}\n", f"{_sentence(kind)}\n", "| key | kind | |", "|---|---|---|"]
        for one in dataclasses.fields(kind):
            has_default = one.default is not dataclasses.MISSING or one.default_factory is not dataclasses.MISSING
            parts.append(f"| `{one.name}` | {_words(own[one.name])} | {'may be missing' if has_default else ''} |")
        parts.append("")
    return "\n".join(parts)


def types_of(kind: type) -> Mapping[str, Any]:
    """The types of a dataclass's fields."""
    return get_type_hints(kind)


def _kinds(kind: Any, seen: dict[type, None]) -> Iterator[type]:
    """A dataclass and all that stand in it, each once, the outer ones first."""
    inner = [one for one in _parts(kind) if dataclasses.is_dataclass(one)]
    for one in inner:
        assert isinstance(one, type)
        if one not in seen:
            seen[one] = None
            yield one
            for each in types_of(one).values():
                yield from _kinds(each, seen)


def _parts(kind: Any) -> Iterator[Any]:
    arguments = get_args(kind)
    if not arguments:
        yield kind
    for one in arguments:
        yield from _parts(one)


def _words(kind: Any) -> str:
    """A type as people say what may stand in JSON."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        (one,) = (each for each in inner if each is not types.NoneType)
        return f"{_words(one)}, or `null`"
    if origin is tuple:
        return f"list of {_words(inner[0])}"
    if origin is dict:
        return f"object: names with {_words(inner[1])}"
    if dataclasses.is_dataclass(kind):
        return f"[{kind.__name__}](#{kind.__name__.lower()})"
    return _WORDS[kind]


def _sentence(kind: type) -> str:
    """The first paragraph of what a class says of itself."""
    text = (inspect.getdoc(kind) or "").split("\n\n")[0]
    return " ".join(re.sub(r"\bNone\b", "`null`", text.replace("``", "`")).split())


def _statuses() -> str:
    rows = [f"| {status} | {meaning} |" for status, meaning in EXIT_STATUS]
    return "\n".join(["# Exit status\n", "| status | meaning |", "|---|---|", *rows, ""])
