"""What single lines say of a package: requirements as pip and conda write them, commands that install, and prose."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from accel_advisor.project.target import Versions, specified
from accel_advisor.project.torch_releases import BESIDE_TORCH, first_too_new

PACKAGES = frozenset({"torch", "python", "lightning", "transformers", "accelerate", "timm"})
"""What is recorded of all that a project requires."""
INCLUDED = re.compile(r"\s*(?:-r|--requirement)[\s=]+(\S+)")

_ALIASES = {"pytorch": "torch"}
_ARCHIVE = re.compile(r"\s*https?://\S*/([\w.-]+?)-(\d[^-/\s]*)-[^-/\s]+\.(?:tar\.bz2|conda)\b.*", re.DOTALL)
"""A package of conda by its address, as ``conda list --explicit`` writes it: its name, its version and its build."""
_LISTS_ARCHIVES = re.compile(r"^\s*@EXPLICIT\b|^#.*\bconda create\b.*--file\b", re.MULTILINE)
_REQUIREMENT = re.compile(r"\s*(?:[\w.-]+::)?([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*(.*)", re.DOTALL)
_CUT = re.compile(r"[;@\\]|\s--|(?:^|\s)#")
_CONDA_PIN = re.compile(r"(==?)?\s*(\d+(?:\.\d+)*)(\.?\*)?(?:\s*=\s*[\w.*]+)?")
"""``=1.4``, ``=1.4.0=py37_0``, ``1.4.*``: what conda writes beside the notation of PEP 440."""
_BUILD = re.compile(r"(?<=[\d*])=[\w.*]+$")
_ENTRY = re.compile(r"\s*-\s*[\"']?([^\"'#]*)")
_KEY = re.compile(r"([A-Za-z_]\w*)\s*:")
_FLOW = re.compile(r"dependencies\s*:\s*\[([^\]]*)")
_INSTALLS = re.compile(
    r"\b(?:pip3?|conda|mamba|micromamba|poetry|uv)\b[^\n;&|]*?\b(?:install|add|create)\b([^\n;&|`]*)"
)
_CONTINUED = re.compile(r"\\\s*\n\s*")
_BUILD_ARGUMENT = re.compile(r"^\s*(?:ARG|ENV)\s+(\w+)[ =][ \t]*[\"']?([^\s\"']+)", re.MULTILINE | re.IGNORECASE)
_SUBSTITUTED = re.compile(r"\$\{?(\w+)(?::-[^}\s]*)?\}?")
_IMAGE = re.compile(r"^\s*FROM\s+(?:\S*/)?pytorch/pytorch:(\d+\.\d+)", re.MULTILINE | re.IGNORECASE)
_VERSION = re.compile(
    r"(?:(?P<least>\d+\.\d+(?:\.\d+)*)\s*(?:=<|<=|<|≤)\s*)?"
    r"\b(?:py)?torch(?:-gpu)?\b(?:[`*_]*\]\([^)\s]*\))?[`*_\]()\[ \t:|-]{0,6}(?:,? ?(?:install )?versions?\b|v\b)?\s*"
    r"(?:of at least|at least|(?P<operator>[<>=~≥≤]=?|=<))?\s*"
    r"v?(?P<version>\d+\.\d+(?:\.\d+)*)(?P<open>\s*\(?(?:\+|or|and (?:above|later|newer|higher|up)|及?以上))?",
    re.IGNORECASE,
)
_BOUNDS = {"<": "<", "<=": "<=", "=<": "<=", "≤": "<="}
"""What names a newest version in prose; anything else names one that is known to work."""
_NAMES_ONE = frozenset({None, "=", "=="})
"""What names the version that was used, and not the oldest one."""
_ITEM = re.compile(
    r"\s*(?:[-*+|>]|\d+[.)])?\s*(?:\[[ x]\]\s*)?(?:\d+\.\d+[\d.]*\s*(?:=<|<=|<|≤)\s*)?[\[(`*]*(?:py)?torch\b",
    re.IGNORECASE,
)
_DEMAND = re.compile(
    r"requir|depend|prerequisit|install|tested|tried|environment|\bneeds?\b|badge|\brel(?:y|ies)\b|support|runnable|"
    r"implement|train(?:ed|s) (?:on|using|with)|\buses\b|compatible|works? with|in version",
    re.IGNORECASE,
)
_DENIED = re.compile(r"[^.;,(]*(?:\b(?:not|no longer|unsupported)\b|n't\b)", re.IGNORECASE)
_HEADING = re.compile(r"\s*(?:#+\s|\*\*[^*]+\*\*:?\s*$)")
"""What a list of what is needed stands under."""


def requirements(lines: Iterable[str], *, companions: bool = True) -> Iterator[tuple[str, Versions]]:
    """The packages that the lines of one list require, among :data:`PACKAGES`, with the versions that are allowed: of
    torch those with which what else stands there works, unless ``companions`` says that this is no reason."""
    found = [one for one in map(_requirement, lines) if one is not None]
    # pip's torch brings a toolkit of its own, conda's takes the one beside it
    toolkits = any(name == "pytorch" for name, _, _ in found)
    beside = [(package, versions) for _, package, versions in found if package in BESIDE_TORCH]
    bound = first_too_new(beside, toolkits=toolkits) if companions else None
    for _, package, versions in found:
        if package in PACKAGES:
            yield package, versions if bound is None or package != "torch" else versions.before(bound)
    if bound is not None and all(package != "torch" for _, package, _ in found):
        yield "torch", Versions(below=bound)


def conda_entries(text: str) -> Iterator[str]:
    """The dependencies of a conda environment, those for pip included, or the lines of a list that conda wrote."""
    if _LISTS_ARCHIVES.search(text):
        yield from text.splitlines()
        return
    if "dependencies" not in text:
        return
    section = ""  # a channel may be called like a package
    for line in text.splitlines():
        key, entry = _KEY.match(line), _ENTRY.match(line)
        if key is not None:
            section = key[1]
        elif entry is not None and section == "dependencies":
            yield entry[1]
    for listed in _FLOW.finditer(text):
        yield from (one.strip(" \t\"'") for one in listed[1].split(","))


def installed(text: str, *, companions: bool = True) -> Iterator[tuple[str, Versions]]:
    """The versions that commands in a text install: ``pip install torch==1.7.1``, ``conda create -n x python=3.8``."""
    for command in _INSTALLS.finditer(_CONTINUED.sub(" ", text)):
        words = (word.strip("\"'") for word in command[1].split())
        for package, versions in requirements(words, companions=companions):
            if versions != Versions():  # a channel or an environment may be called like a package
                yield package, versions


def built(text: str) -> Iterator[tuple[str, Versions]]:
    """What a Dockerfile brings: the torch of PyTorch's own images that it is based on, and what it installs, with its
    build arguments as it sets them itself."""
    arguments = dict(_BUILD_ARGUMENT.findall(text))
    for _ in range(2):  # one may be made of others
        text = _SUBSTITUTED.sub(lambda found: arguments.get(found[1], found[0]), text)
    for image in _IMAGE.finditer(text):
        yield "torch", versions_of(f"=={image[1]}.*")
    yield from installed(text)


def demanded(text: str) -> Iterator[tuple[str, Versions]]:
    """What a README tells its readers to install: in commands, or, where none of them names a version of torch, in
    lines such as ``- PyTorch 1.7.1``. Neither pins anything: they say what was tested years ago more often than what
    is needed."""
    commands = [(package, versions.onwards) for package, versions in installed(text, companions=False)]
    yield from commands
    if any(package == "torch" for package, _ in commands):
        return
    below_demand = False
    for line in text.splitlines():
        if _HEADING.match(line):
            below_demand = bool(_DEMAND.search(line))
        if not (_ITEM.match(line) or below_demand or _DEMAND.search(line)):
            continue
        for mention in _VERSION.finditer(line):
            if _DENIED.match(line, mention.end()):
                continue
            least = f">={mention['least']}," if mention["least"] else ""
            operator = _BOUNDS.get(mention["operator"], ">=")
            found = versions_of(f"{least}{operator}{mention['version']}")
            one = mention["operator"] in _NAMES_ONE and not mention["open"]
            yield "torch", replace(found, newest=found.oldest) if one else found


def versions_of(text: str) -> Versions:
    """A range in the notation of PEP 440 or conda; one without bounds where it is in neither."""
    alternatives = [_range(one.strip()) for one in text.split("|")]
    joined = alternatives[0]
    for one in alternatives[1:]:
        joined = joined.joined(one)
    return joined


def _range(text: str) -> Versions:
    pin = _CONDA_PIN.fullmatch(text)
    if pin is None:
        return specified(_BUILD.sub("", text)) or Versions()
    exact = pin[1] == "==" and not pin[3]
    return specified(f"=={pin[2]}" if exact else f"=={pin[2]}.*") or Versions()


def _requirement(line: str) -> tuple[str, str, Versions] | None:
    """The name that a line gives to a package, which package this is, and its versions."""
    found = _REQUIREMENT.match(_CUT.split(_ARCHIVE.sub(r"\1==\2", line), maxsplit=1)[0])
    if found is None:
        return None
    name = re.sub(r"[-_.]+", "-", found[1]).lower()
    package = _ALIASES.get(name, name)
    if package not in PACKAGES and package not in BESIDE_TORCH:
        return None
    return name, package, versions_of(found[2].strip().removeprefix("(").removesuffix(")"))
