"""Which functions, classes and methods of a program may run, seen from the files that do something by themselves."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence

import libcst as cst

from accel_advisor.analysis.imports_by_text import beginning, imported_by_text
from accel_advisor.analysis.units import Unit, definitions_in, units_in
from accel_advisor.source.document import Document
from accel_advisor.syntax.imports import modules_imported
from accel_advisor.syntax.shapes import dotted, last_name, main_guards
from accel_advisor.syntax.walking import descendants

CALLED_BY_LIBRARIES = frozenset(
    "forward backward step train eval to cuda extra_repr reset_parameters state_dict load_state_dict write flush close "
    "reset collate_fn".split()
)
"""Methods that libraries call on objects of those of their classes that call few."""
READ_BY_OTHERS = frozenset({"__init__.py", "conftest.py", "hubconf.py", "setup.py"})
_OF_THE_FILE = frozenset({"globals", "locals", "eval"})
"""Functions of Python with which the names that a file knows are found by their texts."""
_REGISTERS_NOTHING = re.compile(
    r"doc_?strings?|^(?:no_grad|inference_mode|jit|script|compile|autocast|custom_fwd|custom_bwd|wraps|lru_cache|cache"
    r"|dataclass|total_ordering|contextmanager|deprecated)$",
    re.IGNORECASE,
)
"""What is in the names of decorators that keep what they decorate nowhere."""
_LEADING = re.compile(r"\s*([A-Za-z_]\w*)\.")
_STATEMENTS = (cst.For, cst.While, cst.With)


class RunningCode:
    """What of a program may run: what its files do while they are loaded, and whatever that has a name of, and so on.
    A name that is only imported, listed in ``__all__``, documented, or read by what never runs starts nothing.

    Args:
        documents: the files of the program.
        root: the root of the project.
        is_plain: whether no library calls methods of a class by their names, but for a few.
        spoken: words of other files that name what runs.

    Attributes:
        takes_attributes: whether attributes of objects are asked for by texts that are computed.
        takes_members: whether what modules define is asked for by texts that are computed, or all of it is taken.
    """

    def __init__(
        self,
        documents: Sequence[Document],
        root: str,
        is_plain: Callable[[cst.ClassDef], bool],
        spoken: frozenset[str] = frozenset(),
    ) -> None:
        self._documents = documents
        self._here = _modules_of(documents, root)
        self._alive: set[int] = set()
        self._anywhere: set[str] = set(spoken)
        self._parts: set[str] = set(spoken)
        self._by_file: dict[str, set[str]] = {one.path: set() for one in documents}
        asked = [(one, dotted(owner).partition(".")[0]) for one in documents for owner in one.once(_asked_by_text)]
        opened = [(one, dotted(owner).partition(".")[0]) for one in documents for owner in one.once(_opened)]
        self.takes_attributes = any(first not in one.imported for one, first in asked)
        evaluated = [(one, first) for one in documents for first in one.once(_modules_evaluated) or ()]
        modules = [one.imported[first] for one, first in asked + opened + evaluated if first in one.imported]
        found = [self._files_of(full) for full in modules if self._is_here(full)]
        texts = {full for one in documents for full in one.once(imported_by_text) or () if self._is_here(full)}
        by_text = [self._files_of(full) for full in texts]
        self.takes_members = bool(found)
        self._takes_any = not all((*found, *by_text))
        self._taken_apart = self._with_what_they_take({path for paths in (*found, *by_text) for path in paths})
        self._take_by_text()
        self._loaded = self._find_loaded({path for paths in by_text for path in paths})
        self._idle = self._sweep(is_plain)

    def is_loaded(self, document: Document) -> bool:
        """Whether a file does something by itself, or may be imported by one that is loaded."""
        return document.path in self._loaded

    def never_runs(self, definition: cst.FunctionDef | cst.ClassDef) -> bool:
        """Whether a function or class at the top of a loaded file, or a method, is one that nothing comes to. What is
        no unit by itself runs where its class does."""
        return id(definition) in self._idle

    def _is_here(self, full: str) -> bool:
        """Whether a full name may be that of something in the project."""
        first = full.partition(".")[0]
        return not first or first in self._here

    def _files_of(self, full: str) -> set[str]:
        """The files of what a full name may mean: a module, or a package with all that lies in it; none where it may be
        something that a module defines."""
        end = os.path.join(os.sep, *full.strip(".").split("."))
        paths = [one.path for one in self._documents]
        return {one for one in paths if one.endswith(end + ".py") or f"{end}{os.sep}" in one}

    def _with_what_they_take(self, paths: set[str]) -> set[str]:
        """Files of which anything may be asked for by its name, with those that they take all of; what else they import
        is spoken of."""
        pending = set(paths)
        while pending:
            here = [one for one in self._documents if one.path in pending]
            self._anywhere |= {full.rpartition(".")[2] for one in here for full in one.imported.values()}
            stems = {name for one in here if one.once(_takes_all) for name in one.once(modules_imported)}
            pending = {one.path for one in self._documents if not stems.isdisjoint(_names_of(one))} - paths
            paths |= pending
        return paths

    def _take_by_text(self) -> None:
        """Takes what a file knows by name for spoken of, where it looks names up by texts; with ``eval``, what all of
        that has, too."""
        for one in self._documents:
            read = one.once(texts_read)
            if read:
                brought = {full.rpartition(".")[2] for full in one.imported.values()}
                self._anywhere |= brought
                self._by_file[one.path] |= {_name(unit) for unit in one.once(units_in)}
                evaluates = "eval" in read and not self._evaluates_modules(one)
                self.takes_attributes |= evaluates
                self._takes_any |= bool(evaluates and brought & self._here) or one.once(_takes_all)
                self.takes_members |= self._takes_any

    def _evaluates_modules(self, document: Document) -> bool:
        """Whether all that a file evaluates are texts that begin with what it imports."""
        names = document.once(_modules_evaluated)
        return names is not None and names <= document.imported.keys()

    def _find_loaded(self, by_text: set[str]) -> frozenset[str]:
        loaded = {
            one.path for one in self._documents if one.once(does_something) or self._is_called_into(one)
        } | by_text
        while True:
            imported = {name for one in self._documents if one.path in loaded for name in one.once(modules_imported)}
            more = {one.path for one in self._documents if _stem(one) in imported} - loaded
            if not more:
                return frozenset(loaded)
            loaded |= more

    def _is_called_into(self, document: Document) -> bool:
        """Whether others load a file by its name or by the names of its tests, or it binds what a function of the
        project gives."""
        names = {_name(unit) for unit in document.once(units_in)}
        known = names | {name for name, full in document.imported.items() if self._is_here(full)}
        binds = not known.isdisjoint(document.once(_called_to_bind))
        return binds or os.path.basename(document.path) in READ_BY_OTHERS or _has_tests(document, names)

    def _sweep(self, is_plain: Callable[[cst.ClassDef], bool]) -> frozenset[int]:
        """The definitions that are left when all that may run was met. Each unit is looked at again only where its name
        was spoken of, or its class was met, since."""
        left: dict[int, tuple[Document, Unit]] = {}
        waiting: dict[str | int, list[int]] = {}
        for document in self._documents:
            for unit in document.once(units_in) if document.path in self._loaded else ():
                left[id(unit)] = document, unit
                waiting.setdefault(_name(unit), []).append(id(unit))
                if unit.owner is not None:
                    waiting.setdefault(id(unit.owner), []).append(id(unit))
        pending = list(left)
        while pending:
            at = pending.pop()
            if at not in left or not self._is_met(*left[at], is_plain):
                continue
            document, unit = left.pop(at)
            self._alive.add(id(unit.definition))
            now: list[str | int] = [*self._take(document, unit), id(unit.definition)]
            pending += [each for one in now for each in waiting.get(one, ())]
        return frozenset(id(unit.definition) for _, unit in left.values())

    def _take(self, document: Document, unit: Unit) -> set[str]:
        """Takes what a unit speaks of for spoken of.

        Returns:
            The names that were not yet.
        """
        defined = document.once(_defined) - document.imported.keys()
        own = unit.names & defined
        outside = {part for module, part in unit.outside if self._is_here(module)}
        parts = unit.parts | unit.words | outside
        bound = unit.names if isinstance(unit.definition, cst.ClassDef) else set()  # `apply = convert` in its body
        new: set[str] = set()
        for known, spoken in (
            (self._by_file[document.path], own),
            (self._anywhere, (unit.names - own) | parts),
            (self._parts, parts | bound),
        ):
            new |= spoken - known
            known |= spoken
        return new

    def _is_met(self, document: Document, unit: Unit, is_plain: Callable[[cst.ClassDef], bool]) -> bool:
        definition, name = unit.definition, _name(unit)
        if definition is None or os.path.basename(document.path) == "hubconf.py":
            return True
        if unit.owner is not None:
            if id(unit.owner) not in self._alive:
                return False
            called = name in self._parts or name in CALLED_BY_LIBRARIES or _has_tests(document, (name,))
            return called or self.takes_attributes or not is_plain(unit.owner)
        if (
            self._takes_any
            or document.path in self._taken_apart
            or any(map(_may_register, definition.decorators))
            or name.startswith("__")
            or _has_tests(document, (name,))
        ):
            return True
        made_otherwise = isinstance(definition, cst.ClassDef) and bool(definition.keywords)
        return made_otherwise or name in self._anywhere or name in self._by_file[document.path]


def _defined(tree: cst.Module) -> frozenset[str]:
    return frozenset({"", *(one.name.value for top, methods in definitions_in(tree) for one in (top, *methods))})


def is_script(document: Document, documents: Sequence[Document]) -> bool:
    """Whether a file does something by itself, and is no part of what the others of a program import."""
    if os.path.basename(document.path) in READ_BY_OTHERS or not document.once(does_something):
        return False
    return not any(_stem(document) in one.once(modules_imported) for one in documents if one is not document)


def does_something(tree: cst.Module) -> bool:
    """Whether a file does more than to define things."""
    if main_guards(tree) or any(isinstance(one, _STATEMENTS) for one in tree.body):
        return True
    lines = (part for line in tree.body if isinstance(line, cst.SimpleStatementLine) for part in line.body)
    return any(isinstance(one, cst.Expr) and isinstance(one.value, cst.Call) for one in lines)


def _called_to_bind(tree: cst.Module) -> frozenset[str]:
    """The names with which the calls begin whose results the lines of a file bind."""
    lines = (part for line in tree.body if isinstance(line, cst.SimpleStatementLine) for part in line.body)
    values = (one.value for one in lines if isinstance(one, (cst.Assign, cst.AnnAssign)))
    return frozenset(dotted(one.func).partition(".")[0] for one in values if isinstance(one, cst.Call))


def texts_read(tree: cst.Module) -> frozenset[str]:
    """The functions of Python by which a file looks up names of its own by their texts; one that it defines itself,
    as ``eval`` often is, does what it says."""
    called = (one.func for one in descendants(tree, cst.Call))
    return frozenset(one.value for one in called if type(one) is cst.Name) & _OF_THE_FILE - _defined(tree)


def _modules_evaluated(tree: cst.Module) -> frozenset[str] | None:
    """The names with which the texts begin that a file evaluates (``eval("models." + name)``); None where one of them
    may begin with anything."""
    called = [one for one in descendants(tree, cst.Call) if type(one.func) is cst.Name and one.func.value == "eval"]
    found = [_LEADING.match(beginning(one.args[0].value)) if one.args else None for one in called]
    names = [one.group(1) for one in found if one is not None]
    return frozenset(names) if len(names) == len(called) else None


def _may_register(decorator: cst.Decorator) -> bool:
    """Whether a decorator may keep what it decorates, for others to find it."""
    code = decorator.decorator
    return not _REGISTERS_NOTHING.search(last_name(code.func if isinstance(code, cst.Call) else code))


def _takes_all(tree: cst.Module) -> bool:
    """Whether a file imports all that another has."""
    return any(isinstance(one.names, cst.ImportStar) for one in descendants(tree, cst.ImportFrom))


def _name(unit: Unit) -> str:
    return unit.definition.name.value if unit.definition is not None else ""


def _has_tests(document: Document, names: Iterable[str]) -> bool:
    """Whether names are those of tests, for a program that looks for them in a file: a ``test`` beside a ``train`` is
    none."""
    of_tests = _stem(document).startswith("test_") or _stem(document).endswith("_test")
    return any(one.startswith(("test_", "Test")) or (of_tests and one.startswith("test")) for one in names)


def _names_of(document: Document) -> tuple[str, ...]:
    """The names of a module, and that of the package that it is the beginning of."""
    folder = os.path.basename(os.path.dirname(document.path))
    return (folder, _stem(document)) if _stem(document) == "__init__" else (_stem(document),)


def _stem(document: Document) -> str:
    return os.path.splitext(os.path.basename(document.path))[0]


def _modules_of(documents: Iterable[Document], root: str) -> frozenset[str]:
    """The names of the modules and packages of a project, and of the project, which may be imported by its own."""
    parts = (part for one in documents for part in os.path.relpath(one.path, root).split(os.sep))
    return frozenset({os.path.basename(root), *(part.removesuffix(".py") for part in parts)})


def _asked_by_text(tree: cst.Module) -> tuple[cst.BaseExpression, ...]:
    """What ``getattr`` is asked of with a text that is computed."""
    calls = (one for one in descendants(tree, cst.Call) if dotted(one.func) == "getattr" and len(one.args) > 1)
    return tuple(one.args[0].value for one in calls if not isinstance(one.args[1].value, cst.SimpleString))


def _opened(tree: cst.Module) -> tuple[cst.BaseExpression, ...]:
    """What is taken as a dict of all that it has."""
    parts = (one.value for one in descendants(tree, cst.Attribute) if one.attr.value == "__dict__")
    calls = (one for one in descendants(tree, cst.Call) if dotted(one.func) == "vars" and one.args)
    return (*parts, *(one.args[0].value for one in calls))
