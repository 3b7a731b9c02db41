"""What nothing in a program uses, so that what is found in it costs nobody anything."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property

import libcst as cst

from accel_advisor.analysis.broken_files import MissingModules, cannot_start
from accel_advisor.analysis.configured_names import Configurations
from accel_advisor.analysis.imports_by_text import imported_by_text
from accel_advisor.analysis.running_code import CALLED_BY_LIBRARIES, READ_BY_OTHERS, RunningCode, is_script, texts_read
from accel_advisor.analysis.units import WORD
from accel_advisor.finding import Finding
from accel_advisor.project.manifests import is_published
from accel_advisor.records.facts import Facts
from accel_advisor.records.operations import Operation
from accel_advisor.records.queries.models.unasked_options import is_never_asked
from accel_advisor.records.queries.waits.forward_options import is_unasked_in_trainings
from accel_advisor.source.document import Document
from accel_advisor.syntax.imports import full_name
from accel_advisor.syntax.shapes import dotted, last_name, mentioned_in
from accel_advisor.syntax.walking import descendants

MOST_CHARACTERS = 1_000_000
"""A larger program may have been taken in pieces, of which one may use what another defines."""

_BUILT = re.compile(r"^\[(?:build-system|project|tool\.poetry)\]", re.MULTILINE)
_WORDS = re.compile(rb"[A-Za-z_]\w*")
_BY_TEXT_ELSEWHERE = frozenset(
    "__subclasses__ __init_subclass__ fire LightningCLI iter_modules entry_points getmembers run_path "
    "run_module".split()
)
"""Names that stand where others are found so, or classes by their bases."""
_BY_CONFIGURATION = frozenset({"instantiate", "hydra"})
"""Names that stand where others are found by what files of configurations say."""
_BASES = frozenset({"object", "abc.ABC", "torch.nn.Module", "torch.utils.data.Dataset"})
"""Classes of libraries that call no methods of others but those below."""


class UnusedCode:
    """The functions, classes and methods of a program that nothing which runs speaks of (:class:`RunningCode`): where
    nobody can install the project, and it finds nothing by texts, nothing runs them. Where no file of the program is
    seen to run, it takes more: that nothing else in these files, nor a script of the project, has their names.

    Args:
        documents: the files of the program, and what they import: whatever imports one of them is among these.
        root: the root of the project.
        unsaved: bytes by absolute path that stand instead of what is on disk.
    """

    def __init__(self, documents: Sequence[Document], root: str, unsaved: Mapping[str, bytes]) -> None:
        self._read_here: set[str] = set()
        self._documents = documents
        self._root = os.path.realpath(root)
        self._unsaved = unsaved
        self._missing = MissingModules(documents, self._root, unsaved)
        self._asked: dict[str, bool] = {}
        self._untaken: dict[str, dict[int, list[Operation]]] = {}
        """What happens in branches that are not taken, by where it begins, for each file."""

    def set_aside(self, facts: Facts, findings: Iterable[Finding]) -> Iterator[Finding]:
        """Findings of a document, as minor ones those in unused code, and those behind options that nothing in the
        program gives."""
        document = facts.document
        for one in findings:
            beside = [each.span.start.offset for each in one.related if each.filename == document.filename]
            places = one.span.start.offset, *beside
            unused = not one.minor and (
                self._missing.stops(document)
                or (
                    self._is_asked(document)
                    and (
                        all(self._is_unused(document, at) for at in places)
                        or all(self._is_behind_option(facts, at) for at in places)
                    )
                )
            )
            yield replace(one, minor=True, aside=False, wait=None) if unused else one

    @property
    def consulted(self) -> set[str]:
        """Other files that were read to find it out, and where some would stand that are missing."""
        configurations = self._configurations.consulted if "_configurations" in vars(self) else frozenset()
        return self._read_here | self._missing.consulted | configurations

    def _is_behind_option(self, facts: Facts, at: int) -> bool:
        """Whether what stands at a place happens only in branches for options that no call gives."""
        document = facts.document
        if document.path not in self._untaken:
            found = self._untaken[document.path] = {}
            known = {id(by): by for one in facts.operations for each in one.contexts[:1] for by in each.conditions}
            options = {at for at, by in known.items() if by.never or by.off_unless_asked}
            for one in facts.operations:
                if not options.isdisjoint(id(by) for each in one.contexts[:1] for by in each.conditions):
                    found.setdefault(document.span(one.node).start.offset, []).append(one)
        there = self._untaken[document.path].get(at, ())
        return any(is_never_asked(facts, one) or is_unasked_in_trainings(facts, one) for one in there)

    def _is_asked(self, document: Document) -> bool:
        if document.path not in self._asked:
            folders = list(_upwards(os.path.dirname(document.path), self._root))
            mine = self._is_whole and not any(map(_is_installed, folders))
            self._asked[document.path] = mine and (self._runs or self._lies_beside_scripts(folders))
        return self._asked[document.path]

    @cached_property
    def _is_whole(self) -> bool:
        """Whether all that may use what is defined in one of the files is a name in these."""
        small = sum(len(one.text) for one in self._documents) <= MOST_CHARACTERS
        if not small or any(one.once(_finds_by_text) for one in self._documents):
            return False
        return not self._is_configured or bool(self._configurations.words)

    @cached_property
    def _is_configured(self) -> bool:
        """Whether files of configurations name what the program builds."""
        return any(one.once(_finds_by_configuration) for one in self._documents)

    @cached_property
    def _configurations(self) -> Configurations:
        return Configurations(self._root)

    @cached_property
    def _spoken(self) -> frozenset[str]:
        """The words of the files of configurations, where these name what is built."""
        return self._configurations.words if self._is_configured else frozenset()

    @cached_property
    def _scripts(self) -> dict[str, frozenset[bytes]]:
        """The words in each of the scripts at the root of the project."""
        with suppress(OSError):
            names = [one for one in sorted(os.listdir(self._root)) if one.endswith(".py") and one not in READ_BY_OTHERS]
            return {one: frozenset(_WORDS.findall(self._read(os.path.join(self._root, one)))) for one in names}
        return {}

    def _read(self, path: str) -> bytes:
        self._read_here.add(path)
        if path in self._unsaved:
            return self._unsaved[path]
        with open(path, "rb") as file:
            return file.read()

    def _lies_beside_scripts(self, folders: Sequence[str]) -> bool:
        """Whether a file is a part of a package, in a project with scripts at its root: where no script is seen to
        import it, it may be there to be copied elsewhere."""
        return len(folders) > 1 and os.path.exists(os.path.join(folders[0], "__init__.py")) and bool(self._scripts)

    @cached_property
    def _runs(self) -> bool:
        """Whether one of the files is a script: what is seen to use the others is all that does, then."""
        return any(is_script(one, self._documents) for one in self._documents)

    @cached_property
    def _running(self) -> RunningCode:
        return RunningCode(self._documents, self._root, self._is_plain, self._spoken)

    @cached_property
    def _reads_names(self) -> bool:
        """Whether anything finds what a file defines by a text."""
        return self._running.takes_members or any(one.once(texts_read) for one in self._documents)

    def _is_unused(self, document: Document, at: int) -> bool:
        top = _definition_at(document, document.tree.body, at)
        if self._runs and (not self._running.is_loaded(document) or cannot_start(document, self._documents)):
            return True
        if top is None:
            return False
        method = _definition_at(document, top.body.body, at) if isinstance(top, cst.ClassDef) else None
        if self._runs:
            return any(one is not None and self._running.never_runs(one) for one in (top, method))
        if not self._reads_names and not self._is_used(top, document):
            return True
        if method is None or self._running.takes_attributes or method.name.value in CALLED_BY_LIBRARIES:
            return False
        return isinstance(top, cst.ClassDef) and self._is_plain(top) and not self._is_used(method, document)

    def _is_plain(self, cls: cst.ClassDef, below: tuple[str, ...] = ()) -> bool:
        """Whether no library calls methods of a class by their names, but for a few."""
        for base in cls.bases:
            name = last_name(base.value)
            own = [(one, each) for each in self._documents for one in each.once(_classes) if one.name.value == name]
            known = name == "object" or any(full_name(each.imported, base.value) in _BASES for each in self._documents)
            if not known and (not own or name in below):
                return False
            if not known and not all(self._is_plain(one, (*below, name)) for one, _ in own):
                return False
        return True

    def _is_used(self, definition: cst.FunctionDef | cst.ClassDef, document: Document) -> bool:
        name = definition.name.value
        if definition.decorators or name.startswith("__") or name.lower().startswith("test") or name in self._spoken:
            return True
        inside = _mentions(definition)[name]
        counted = (one.once(_mentions)[name] for one in self._documents if name in one.text)
        return sum(counted) > inside or self._is_in_scripts(name, document)

    def _is_in_scripts(self, name: str, document: Document) -> bool:
        """Whether a script of the project, which is not seen to import a file, mentions a name in it, or its own."""
        module = os.path.splitext(os.path.basename(document.path))[0]
        return any(not one.isdisjoint((name.encode(), module.encode())) for one in self._scripts.values())


def _definition_at(document: Document, body: Sequence[cst.CSTNode], at: int) -> cst.FunctionDef | cst.ClassDef | None:
    """The function or class among some statements in which a place is."""
    for one in body:
        if type(one) is cst.FunctionDef or type(one) is cst.ClassDef:
            span = document.span(one)
            if span.start.offset <= at < span.end.offset:
                return one
    return None


def _mentions(node: cst.CSTNode) -> Counter[str]:
    """How often each name is mentioned, other than to define it, and each word in texts."""
    texts = descendants(node, cst.SimpleString, cst.FormattedStringText)
    words = (word for one in texts for word in WORD.findall(getattr(one, "value", "")))
    return mentioned_in(node) + Counter(words)


def _finds_by_text(tree: cst.Module) -> bool:
    """Whether a text finds functions or classes by theirs, or any module."""
    if imported_by_text(tree) is None:
        return True
    if not _BY_TEXT_ELSEWHERE.isdisjoint(mentioned_in(tree)):
        return True
    called = (one.func for one in descendants(tree, cst.Call))
    parts = (dotted(one) for one in descendants(tree, cst.Attribute) if one.attr.value == "modules")
    return "sys.modules" in parts or any(type(one) is cst.Name and one.value == "exec" for one in called)


def _finds_by_configuration(tree: cst.Module) -> bool:
    """Whether what files of configurations say names functions or classes, as it does for Hydra."""
    return "_target_" in _mentions(tree) or not _BY_CONFIGURATION.isdisjoint(mentioned_in(tree))


def _classes(tree: cst.Module) -> tuple[cst.ClassDef, ...]:
    return tuple(descendants(tree, cst.ClassDef))


def _upwards(folder: str, root: str) -> Iterator[str]:
    """A folder and those around it up to the root."""
    while True:
        yield folder
        if folder == root or not folder.startswith(root):
            return
        folder = os.path.dirname(folder)


def _is_installed(folder: str) -> bool:
    """Whether others may install what is in a folder, and use what the project itself does not."""
    setup = os.path.join(folder, "setup.py")
    if os.path.exists(os.path.join(folder, "setup.cfg")) or (os.path.exists(setup) and is_published(_text(setup))):
        return True
    return _BUILT.search(_text(os.path.join(folder, "pyproject.toml"))) is not None


def _text(path: str) -> str:
    """What stands in a file; nothing where there is none."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
