"""Which parameters of a program's functions are given sizes and settings alone, by every call of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.queries.constants.recorded_code import RecordedCode
from accel_advisor.records.queries.constants.size_values import SizeValues
from accel_advisor.syntax.shapes import is_written

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Program

_DEEPEST = 3
"""How many calls, one from within another, are asked what they are given."""


class GivenSizes:
    """What the calls of a program give, each function asked once."""

    def __init__(self, program: Program) -> None:
        self._codes = {id(one): RecordedCode(one) for one in program}
        self._home = {key: code for code in self._codes.values() for key in code.functions}
        self._known: dict[tuple[int, int], frozenset[str]] = {}
        self._values: dict[tuple[int, int], SizeValues] = {}

    def code_of(self, facts: Facts) -> RecordedCode:
        """The code of one document of the program."""
        return self._codes[id(facts)]

    def parameters(self, function: cst.FunctionDef, depth: int = _DEEPEST) -> frozenset[str]:
        """The parameters of a function that every call of it gives sizes or settings."""
        code = self._home.get(id(function))
        if not depth or code is None:
            return frozenset()
        key = (id(function), depth)
        if key not in self._known:
            self._known[key] = frozenset()  # what calls itself knows nothing
            self._known[key] = self._found(code, function, depth)
        return self._known[key]

    def _found(self, code: RecordedCode, function: cst.FunctionDef, depth: int) -> frozenset[str]:
        given: set[str] | None = None
        for call, caller in code.facts.call_graph.calls_of(function):
            if caller is function:
                return frozenset()
            values = None
            if isinstance(caller, cst.FunctionDef):
                values = self._values_of(caller, depth - 1)
                if values is None:
                    return frozenset()
            names = _given(function, call, values)
            given = names if given is None else given & names
            if not given:
                break
        return frozenset(given or ())

    def _values_of(self, function: cst.FunctionDef, depth: int) -> SizeValues | None:
        """The values of a function; None where nothing is recorded of it."""
        code = self._home.get(id(function))
        if code is None:
            return None
        key = (id(function), depth)
        if key not in self._values:
            self._values[key] = SizeValues(code, function, function, self.parameters(function, depth))
        return self._values[key]


def _given(function: cst.FunctionDef, call: cst.Call, values: SizeValues | None) -> set[str]:
    """The parameters that one call gives nothing else, and those that it leaves to such a default.

    Args:
        values: those of the function that calls; None where the call stands at the top of a module.
    """
    holds = values.holds if values is not None else is_written
    params = [one.name.value for one in (*function.params.posonly_params, *function.params.params)]
    if params[:1] in (["self"], ["cls"]):
        params = params[1:]
    if any(arg.star for arg in call.args):
        return set()
    defaults = (*function.params.posonly_params, *function.params.params, *function.params.kwonly_params)
    found = {one.name.value for one in defaults if one.default is not None and holds(one.default)}
    for at, arg in enumerate(call.args):
        name = arg.keyword.value if arg.keyword is not None else params[at] if at < len(params) else ""
        (found.add if holds(arg.value) else found.discard)(name)
    return found
