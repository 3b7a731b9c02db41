"""Import statements: names of the project are followed, names of libraries are kept as full names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.syntax.shapes import dotted
from accel_advisor.tables.canonical_names import canonical
from accel_advisor.values.values import UNKNOWN, Pending, Qualified

if TYPE_CHECKING:
    from accel_advisor.interpreter.abstract_machine import Machine


def import_module(machine: Machine, node: cst.Import) -> bool:
    """``import a.b as c``."""
    for alias in node.names:
        name = dotted(alias.name)
        machine.recorder.package_imported(machine.document, name)
        if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
            filename = machine.modules.resolve(name, 0, machine.document)
            machine.recorder.imported(machine.document, filename)
            machine.bind(alias.asname.name.value, Pending(filename) if filename else Qualified(name))
        else:
            first = name.split(".")[0]
            filename = machine.modules.resolve(first, 0, machine.document)
            machine.recorder.imported(machine.document, filename)
            whole = machine.modules.resolve(name, 0, machine.document)
            machine.recorder.imported(machine.document, whole)
            if filename is None and whole is not None:
                parts = name.split(".")
                machine.folders.update(".".join(parts[:count]) for count in range(1, len(parts)))
            machine.bind(first, Pending(filename) if filename else Qualified(first))
        if name == "torch" and machine.scope.kind == "module":
            bound = alias.asname.name if alias.asname is not None else None
            machine.recorder.torch_imported(machine.document, bound.value if isinstance(bound, cst.Name) else "torch")
    return False


def import_names(machine: Machine, node: cst.ImportFrom) -> bool:
    """``from a import b as c``."""
    name, level = dotted(node.module), len(node.relative)
    filename = machine.modules.resolve(name, level, machine.document)
    machine.recorder.imported(machine.document, filename)
    if not level:
        machine.recorder.package_imported(machine.document, name)
    if isinstance(node.names, cst.ImportStar):
        machine.scope.globals.stars.append(Pending(filename) if filename else Qualified(name))
        return False
    for alias in node.names:
        imported = dotted(alias.name)
        bound = alias.asname.name if alias.asname is not None else alias.name
        if not isinstance(bound, cst.Name):
            continue
        part = None
        if filename is None and (name or level):
            # a folder without an __init__.py
            part = machine.modules.resolve(f"{name}.{imported}" if name else imported, level, machine.document)
            machine.recorder.imported(machine.document, part)
        if filename is not None:
            machine.bind(bound.value, Pending(filename, imported))
        elif part is not None:
            machine.bind(bound.value, Pending(part))
        elif level:
            machine.bind(bound.value, UNKNOWN)
        else:
            machine.bind(bound.value, Qualified(canonical(f"{name}.{imported}")))
            machine.recorder.name_used(machine.document, f"{name}.{imported}")
    return False
