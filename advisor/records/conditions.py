"""The conditions that a statement stands under."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.syntax.rarity import (
    evaluating_branch,
    exclude_each_other,
    lasting_branch,
    leaves_with_kept,
    rare_branch,
    tests_of,
)
from accel_advisor.syntax.shapes import asks_for_something, dotted, last_name, modulus_in, names_read_in
from accel_advisor.values.immutable import immutable

if TYPE_CHECKING:
    from accel_advisor.records.loops import Loop

_MOST_TESTS = 10_000
"""Of which is kept whether they ask for a GPU and the like."""
_DEBUGGING = re.compile(r"debug|profil|bench|anomal|verbose", re.IGNORECASE)
_GPU = re.compile(r"cuda|gpu|is_available", re.IGNORECASE)
_FLAG = re.compile(
    r"(?:use_?|with_?|has_?|is_?|on_?)?(?:cuda|gpus?)(?:_available)?|is_available"
    r"|(?P<host>(?:(?:use|force|on|to)_?)?cpu\w*|no_?(?:cuda|gpu)|offload\w*)"
)
_LISTS = frozenset({"list", "tuple", "List", "Tuple", "Sequence"})
"""Types whose elements are things of their own, each of which may be a tensor."""
_UNASKED = ("True", "False", "None")
"""Defaults of parameters that switch something."""
_GIVEN_BY_THE_RUN = re.compile(r"cuda|gpu|device|rank|main_process|master|distributed|is_available", re.IGNORECASE)


@immutable
class Condition:
    """What decides whether a statement happens: the branch that it stands in, or an exit that it stands behind.

    Attributes:
        node: the statement or expression that decides.
        within: the innermost loop around it, if any.
        varies: the innermost loop whose passes it tells apart, as ``step % 10 == 0`` does; None where its answer is the
            same in all passes of every loop, as that of ``if args.amp`` is.
        branch: which of the branches it is, from 0; None for an exit, and where they are not alternatives.
        branches: how many there are, if one of them is taken in any case; 0 otherwise.
        exits: whether it leads out of the loop or the function, before the statement is reached.
        answer: what the test comes to where what the function was given decides it.
        untaken: the branches that are not taken, where what the function was given decides that.
        option: the option of the command line that decides the test alone, or else the environment's variable, where
            its default is known; empty otherwise.
        default: what the test comes to while that keeps its default.
        function: the function that it is written in; None at the top of a module.
    """

    node: cst.CSTNode
    within: Loop | None
    varies: Loop | None
    branch: int | None = None
    branches: int = 0
    exits: bool = False
    answer: bool | None = None
    option: str = ""
    default: bool = False
    function: cst.FunctionDef | cst.Lambda | None = None
    untaken: frozenset[int] = frozenset()

    def of_branch(self, branch: int) -> Condition:
        """This condition in one of its branches."""
        known = self.node, self.within, self.varies, branch, self.branches, self.exits, self.answer
        return Condition(*known, self.option, self.default, self.function, self.untaken)

    @property
    def test(self) -> cst.BaseExpression | None:
        """The expression that decides, where it is a single one."""
        return self.node.test if isinstance(self.node, (cst.If, cst.IfExp)) else None

    @property
    def never(self) -> bool:
        """Whether it is a branch that is not taken, by what the function was given."""
        return self.branch in self.untaken

    def excludes(self, other: Condition, *, top: bool = False) -> bool:
        """Whether both are branches in one function, and no value of a name that they ask for leads to both.

        Args:
            top: whether both are known to stand at the top of one file.
        """
        if self.function is not other.function or (self.function is None and not top and self.node is not other.node):
            return False
        mine, others = (list(tests_of(one.node, one.branch)) for one in (self, other))
        return bool(mine and others) and exclude_each_other(mine, others)

    @property
    def rare(self) -> bool:
        """Whether it is a branch that is seldom taken, by what the test asks for: the first use of something that
        lasts, one pass of so many, the first passes; or what follows an exit with what was kept the first time."""
        node = self.node
        if self.exits and isinstance(node, cst.If) and isinstance(self.function, cst.FunctionDef):
            return leaves_with_kept(node, self.function)
        if self.branch is None or self.exits or not isinstance(node, (cst.If, cst.IfExp)):
            return False
        return self.branch == rare_branch(node, self.function)

    @property
    def counts_off(self) -> bool:
        """Whether it is the branch for one pass of so many, and for others that something else asks for:
        ``if step % 100 == 0 or is_last:``."""
        test = self.test
        either = isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.Or)
        return self.branch == 0 and either and test is not None and modulus_in(test) is not None

    @property
    def off_by(self) -> str:
        """The option, or the variable, without which the branch is not taken; empty where it is, or may be."""
        return self.option if self.branch is not None and self.default is not (self.branch == 0) else ""

    @property
    def off_unless_asked(self) -> bool:
        """Whether it is the branch that is not taken while a parameter of the function keeps its default, of which
        nothing is known: ``if reverse:`` in ``def forward(self, x, reverse=False)``."""
        return self.is_off_unless_asked(self.function)

    def is_off_unless_asked(self, function: cst.CSTNode | None) -> bool:
        """The same, for a parameter of a function around its own."""
        negated, test = self._negated, self.test
        asked = test.expression if negated and isinstance(test, cst.UnaryOperation) else test
        if self.branch is None or self.answer is not None or not isinstance(function, cst.FunctionDef):
            return False
        params = (*function.params.params, *function.params.kwonly_params)
        name = dotted(asked) if isinstance(asked, cst.Name) else ""
        given = (one.default for one in params if one.name.value == name and one.default is not None)
        default = dotted(next(given, None))
        return default in _UNASKED and ((default == "True") is negated) is (self.branch == 0)

    @property
    def ordinary(self) -> bool:
        """Whether it is the branch for there being something, as nearly always: ``if len(boxes) > 0:``, or the other
        branch of ``if count == 0:``; or that which all passes take once enough are done: ``if step > warmup:``."""
        if type(self.node) is not cst.If or type(self.node.orelse) is cst.If or self.exits:
            return False
        if self.branch is None:
            return False
        counting = self.varies.node if self.varies is not None else None
        if asks_for_something(self.node.test) is (self.branch == 0):
            return True
        return lasting_branch(self.node.test, counting) == self.branch

    @property
    def evaluates(self) -> bool:
        """Whether it is the branch for evaluation: the other one of ``if self.training:``."""
        return self.branch is not None and self.test is not None and evaluating_branch(self.test) == self.branch

    @property
    def for_debugging(self) -> bool:
        """Whether it is, by the names in it, met only by somebody who looks for a fault or measures; the other branch
        is for everybody else."""
        if self.exits or not self._reads(_DEBUGGING):
            return False
        return self.branch is None or (self.branch == 0) is not self._negated

    @property
    def asks_type(self) -> bool:
        """Whether it asks what kind of thing something is, as ``isinstance(value, torch.Tensor)`` does."""
        called = dotted(self.test.func) if isinstance(self.test, cst.Call) else ""
        return called.rpartition(".")[2] in ("isinstance", "is_tensor", "hasattr")

    def asks_for_list(self, name: str) -> bool:
        """Whether it is the branch where what bears a name is a list or the like: ``if isinstance(name, list):``."""
        test = self.test
        if self.branch != 0 or not isinstance(test, cst.Call) or len(test.args) != 2:
            return False
        kinds = names_read_in(test.args[1].value)
        return dotted(test.func) == "isinstance" and dotted(test.args[0].value) == name and bool(kinds & _LISTS)

    @property
    def is_choice(self) -> bool:
        """Whether it is the same in all passes and no answer to where the program runs: an option asks for it."""
        return self.test is not None and self.varies is None and not self.exits and not self._reads(_GIVEN_BY_THE_RUN)

    @property
    def without_gpu(self) -> bool:
        """Whether it is, by the names in it, the branch of those who have no GPU, or do not want it."""
        if self.branch is None or not self._reads(_GPU):
            return False
        return (self.branch == 0) is self._negated

    @property
    def on_host(self) -> bool:
        """Whether it is the branch of a flag that keeps values on the host: ``if args.no_cuda``, ``if self.cpu_cache``,
        or the other one of ``if use_gpu``."""
        test = self.test
        while isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
            test = test.expression
        name = last_name(test.func if isinstance(test, cst.Call) else test).lower()
        flag = _FLAG.fullmatch(name)
        if self.branch is None or flag is None:
            return False
        return (self.branch == 0) is (self._negated is (flag["host"] is None))

    @property
    def _negated(self) -> bool:
        return isinstance(self.test, cst.UnaryOperation) and isinstance(self.test.operator, cst.Not)

    def _reads(self, words: re.Pattern[str]) -> bool:
        return self.test is not None and _reads(self.test, words)


@lru_cache(maxsize=_MOST_TESTS)
def _reads(test: cst.BaseExpression, words: re.Pattern[str]) -> bool:
    return any(map(words.search, names_read_in(test)))
