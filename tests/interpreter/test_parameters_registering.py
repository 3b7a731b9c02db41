"""Functions and classes that decorators put into a registry, as the rule about pinned batches (ACC101) sees them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..rules.checks import check_one
from .library.test_unknown_code import HEAD, LOOP

PHOTOS = """
def make(workers):
    return DataLoader(photos, batch_size=8, num_workers=workers)  # -> info unsafe
"""
SILENT = PHOTOS.replace("  # -> info unsafe", "")
BY_NAME = """
makers = {}
def register(name):
    def add(function):
        if name in makers:
            raise ValueError(name)
        makers[name] = function
        return function
    return add
@register("photos")"""
BY_ITSELF = """
makers = {}
def register(function):
    makers[function.__name__] = function
    return function
@register"""
BY_CLASS = """
class Registry(object):
    def __init__(self):
        self.held = dict()
    def get(self, key):
        return self.held.get(key)
    def register(self, name=None, module=None):
        if module is not None:
            self.held[module.__name__] = module
            return module
        def add(module):
            self.held[name or module.__name__] = module
            return module
        return add
makers = Registry()
@makers.register()"""


@pytest.mark.parametrize(
    ("registry", "entry"),
    [
        (BY_NAME, "makers[sys.argv[1]]"),
        (BY_NAME, "makers['photos']"),
        (BY_ITSELF, "makers[sys.argv[1]]"),
        (BY_ITSELF, "makers['make']"),
        (BY_ITSELF, "make"),
        (BY_CLASS, "makers.get(sys.argv[1])"),
    ],
)
def test_what_was_registered_is_found_again(tmp_path: Path, registry: str, entry: str) -> None:
    made = PHOTOS if "argv" in entry else PHOTOS.replace("info unsafe", "warning safe")
    check_one("ACC101", f"{HEAD}{registry}{made}batches = {entry}(4)\n{LOOP}", tmp_path)
    pinned = SILENT.replace("workers)\n", "workers, pin_memory=True)\n")
    check_one("ACC101", f"{HEAD}{registry}{pinned}batches = {entry}(4)\n{LOOP}", tmp_path)


def test_a_decorator_that_returns_something_else_hides_the_result(tmp_path: Path) -> None:
    wraps = "def wrap(function):\n    def inner(*args): return list(function(*args))\n    return inner\n@wrap"
    check_one("ACC101", f"{HEAD}{wraps}{SILENT}batches = make(4)\n{LOOP}", tmp_path)
    keeps = "def keep(function):\n    print(function)\n    return function\n@keep"
    check_one(
        "ACC101", f"{HEAD}{keeps}{PHOTOS.replace('info unsafe', 'warning safe')}batches = make(4)\n{LOOP}", tmp_path
    )
