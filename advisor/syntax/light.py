"""Trees without white space: what CPython's own parser reads, in libcst's nodes.

libcst's parser takes ten times as long as CPython's, most of it for the white space, commas and brackets around every
node, which nobody asks for where nothing is to be edited. So a text is read by :func:`ast.parse`, and its tree is made
of libcst's classes. All fields that hold syntax (:data:`accel_advisor.syntax.walking.PARTS`, and operators, stars and
the text of literals) are as libcst reads them; those for white space, commas and brackets have their defaults, whatever
the text has there. So what libcst generates from such a tree is not the code: that is what
:meth:`accel_advisor.source.document.Document.code` gives.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

import libcst as cst

from accel_advisor.syntax.light_expressions import Expressions, Place, UnknownSyntaxError, build
from accel_advisor.syntax.light_operators import AUGMENTED
from accel_advisor.syntax.nesting import deep_stack

Handler = TypeVar("Handler", bound="cst.ExceptHandler | cst.ExceptStarHandler")


class Light(NamedTuple):
    """A tree without white space.

    Attributes:
        tree: of the text.
        places: by the id of a node, the nodes of CPython that say where it stands. Nodes that are not in it, and
            everything inside of formatted strings, must be looked for in the whole tree.
    """

    tree: cst.Module
    places: dict[int, Place]


def read(text: str) -> Light | None:
    """The tree of a text without its white space; None where CPython does not parse it, or parses what has no
    counterpart here (``match``, type parameters)."""
    try:
        with deep_stack(), warnings.catch_warnings(action="ignore"):
            statements = _Statements(text)
            return Light(statements.module(ast.parse(text)), statements.places)
    except (SyntaxError, ValueError, RecursionError, MemoryError, UnknownSyntaxError, cst.ParserSyntaxError):
        return None


class _Statements(Expressions):
    """Makes statements."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._compound: dict[type[ast.stmt], Callable[[Any], cst.BaseCompoundStatement]] = {
            ast.FunctionDef: self._function,
            ast.AsyncFunctionDef: self._function,
            ast.ClassDef: self._class,
            ast.If: self._if,
            ast.For: self._for,
            ast.AsyncFor: self._for,
            ast.While: self._while,
            ast.With: self._with,
            ast.AsyncWith: self._with,
            ast.Try: self._try,
            ast.TryStar: self._try,
        }
        self._small: dict[type[ast.stmt], Callable[[Any], cst.BaseSmallStatement]] = {
            ast.Expr: self._expression,
            ast.Assign: self._assign,
            ast.AugAssign: self._augmented,
            ast.AnnAssign: self._annotated,
            ast.Return: self._return,
            ast.Import: self._import,
            ast.ImportFrom: self._import_from,
            ast.Raise: self._raise,
            ast.Assert: self._assert,
            ast.Delete: self._delete,
            ast.Global: self._global,
            ast.Nonlocal: self._nonlocal,
            ast.Pass: lambda node: build(cst.Pass),
            ast.Break: lambda node: build(cst.Break),
            ast.Continue: lambda node: build(cst.Continue),
        }

    def module(self, node: ast.Module) -> cst.Module:
        """The tree of a whole text."""
        return build(cst.Module, body=self._lines(node.body))

    def _lines(self, nodes: Iterable[ast.stmt]) -> list[cst.BaseStatement]:
        """Statements, those that semicolons part in a line of their own."""
        found: list[cst.BaseStatement] = []
        line: list[cst.BaseSmallStatement] = []
        ends = 0
        for node in nodes:
            kind = type(node)
            compound = self._compound.get(kind)
            if compound is not None:
                made = compound(node)
                self.places[id(made)] = node
                found.append(made)
                continue
            small = self._small_statement(node, kind)
            if node.lineno == ends:
                line.append(small)
                self.places.pop(id(found[-1]), None)
            else:
                line = [small]
                found.append(self.placed(build(cst.SimpleStatementLine, body=line), node))
            ends = node.end_lineno or 0
        return found

    def _small_statement(self, node: ast.stmt, kind: type[ast.stmt]) -> cst.BaseSmallStatement:
        make = self._small.get(kind)
        if make is None:
            raise UnknownSyntaxError(kind.__name__)
        made = make(node)
        self.places[id(made)] = node
        return made

    def _suite(self, nodes: Sequence[ast.stmt]) -> cst.BaseSuite:
        first = nodes[0]
        if type(first) not in self._compound and not self.begins_line(first):
            return build(cst.SimpleStatementSuite, body=[self._small_statement(node, type(node)) for node in nodes])
        return build(cst.IndentedBlock, body=self._lines(nodes))

    def _else(self, nodes: Sequence[ast.stmt]) -> cst.Else | None:
        return build(cst.Else, body=self._suite(nodes)) if nodes else None

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> cst.FunctionDef:
        self._without_type_parameters(node)
        return build(
            cst.FunctionDef,
            name=self.word(node.name, node),
            params=self.parameters(node.args),
            body=self._suite(node.body),
            decorators=self._decorators(node.decorator_list),
            returns=self.annotation(node.returns),
            asynchronous=self.asynchronous(isinstance(node, ast.AsyncFunctionDef)),
            type_parameters=None,
        )

    def _class(self, node: ast.ClassDef) -> cst.ClassDef:
        self._without_type_parameters(node)
        return build(
            cst.ClassDef,
            name=self.word(node.name, node),
            body=self._suite(node.body),
            bases=[self.argument(one) for one in node.bases],
            keywords=[self.keyword(one) for one in node.keywords],
            decorators=self._decorators(node.decorator_list),
            type_parameters=None,
        )

    def _without_type_parameters(self, node: ast.stmt) -> None:
        if getattr(node, "type_params", None):
            raise UnknownSyntaxError("type parameters")

    def _decorators(self, nodes: Iterable[ast.expr]) -> list[cst.Decorator]:
        return [build(cst.Decorator, decorator=self.expression(one)) for one in nodes]

    def _if(self, node: ast.If) -> cst.If:
        orelse: cst.If | cst.Else | None
        if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If) and self.begins_with(node.orelse[0], b"elif"):
            orelse = self.placed(self._if(node.orelse[0]), node.orelse[0])
        else:
            orelse = self._else(node.orelse)
        return build(cst.If, test=self.expression(node.test), body=self._suite(node.body), orelse=orelse)

    def _for(self, node: ast.For | ast.AsyncFor) -> cst.For:
        return build(
            cst.For,
            target=self.expression(node.target),
            iter=self.expression(node.iter),
            body=self._suite(node.body),
            orelse=self._else(node.orelse),
            asynchronous=self.asynchronous(isinstance(node, ast.AsyncFor)),
        )

    def _while(self, node: ast.While) -> cst.While:
        return build(
            cst.While, test=self.expression(node.test), body=self._suite(node.body), orelse=self._else(node.orelse)
        )

    def _with(self, node: ast.With | ast.AsyncWith) -> cst.With:
        items = [
            build(
                cst.WithItem,
                item=self.expression(one.context_expr),
                asname=None if one.optional_vars is None else self._as(self.expression(one.optional_vars)),
            )
            for one in node.items
        ]
        asynchronous = self.asynchronous(isinstance(node, ast.AsyncWith))
        return build(cst.With, items=items, body=self._suite(node.body), asynchronous=asynchronous)

    def _try(self, node: ast.Try | ast.TryStar) -> cst.Try | cst.TryStar:
        star = isinstance(node, ast.TryStar)
        kind: type[cst.Try | cst.TryStar] = cst.TryStar if star else cst.Try
        handler: type[cst.ExceptHandler | cst.ExceptStarHandler] = cst.ExceptStarHandler if star else cst.ExceptHandler
        return build(
            kind,
            body=self._suite(node.body),
            handlers=[self._handler(one, handler) for one in node.handlers],
            orelse=self._else(node.orelse),
            finalbody=build(cst.Finally, body=self._suite(node.finalbody)) if node.finalbody else None,
        )

    def _handler(self, node: ast.ExceptHandler, kind: type[Handler]) -> Handler:
        name = None if node.name is None else self._as(build(cst.Name, value=node.name))
        made = build(kind, type=self.optional(node.type), name=name, body=self._suite(node.body))
        return self.placed(made, node)

    def _expression(self, node: ast.Expr) -> cst.Expr:
        return build(cst.Expr, value=self.expression(node.value))

    def _assign(self, node: ast.Assign) -> cst.Assign:
        targets = [build(cst.AssignTarget, target=self.expression(one)) for one in node.targets]
        return build(cst.Assign, targets=targets, value=self.expression(node.value))

    def _augmented(self, node: ast.AugAssign) -> cst.AugAssign:
        return build(
            cst.AugAssign,
            target=self.expression(node.target),
            operator=AUGMENTED[type(node.op)],
            value=self.expression(node.value),
        )

    def _annotated(self, node: ast.AnnAssign) -> cst.AnnAssign:
        return build(
            cst.AnnAssign,
            target=self.expression(node.target),
            annotation=self.annotation(node.annotation),
            value=self.optional(node.value),
        )

    def _return(self, node: ast.Return) -> cst.Return:
        return build(cst.Return, value=self.optional(node.value))

    def _import(self, node: ast.Import) -> cst.Import:
        return build(cst.Import, names=[self._alias(one) for one in node.names])

    def _import_from(self, node: ast.ImportFrom) -> cst.ImportFrom:
        everything = node.names[0].name == "*"
        return build(
            cst.ImportFrom,
            module=None if node.module is None else self._dotted(node.module),
            names=build(cst.ImportStar) if everything else [self._alias(one) for one in node.names],
            relative=(_DOT,) * node.level,
        )

    def _alias(self, node: ast.alias) -> cst.ImportAlias:
        asname = None if node.asname is None else self._as(build(cst.Name, value=node.asname))
        return self.placed(build(cst.ImportAlias, name=self._dotted(node.name), asname=asname), node)

    def _dotted(self, name: str) -> cst.Name | cst.Attribute:
        first, *rest = name.split(".")
        made: cst.Name | cst.Attribute = build(cst.Name, value=first)
        for one in rest:
            made = build(cst.Attribute, value=made, attr=build(cst.Name, value=one))
        return made

    def _as(self, name: cst.BaseExpression) -> cst.AsName:
        return build(cst.AsName, name=name)

    def _raise(self, node: ast.Raise) -> cst.Raise:
        cause = None if node.cause is None else build(cst.From, item=self.expression(node.cause))
        return build(cst.Raise, exc=self.optional(node.exc), cause=cause)

    def _assert(self, node: ast.Assert) -> cst.Assert:
        return build(cst.Assert, test=self.expression(node.test), msg=self.optional(node.msg))

    def _delete(self, node: ast.Delete) -> cst.Del:
        targets = [self.expression(one) for one in node.targets]
        if len(targets) == 1:
            return build(cst.Del, target=targets[0])
        elements = [build(cst.Element, value=one) for one in targets]
        return build(cst.Del, target=build(cst.Tuple, elements=elements))

    def _global(self, node: ast.Global) -> cst.Global:
        return build(cst.Global, names=[build(cst.NameItem, name=build(cst.Name, value=one)) for one in node.names])

    def _nonlocal(self, node: ast.Nonlocal) -> cst.Nonlocal:
        return build(cst.Nonlocal, names=[build(cst.NameItem, name=build(cst.Name, value=one)) for one in node.names])


_DOT = cst.Dot()
