"""What decides values from outside of a program: command lines, the environment, and files that it reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from accel_advisor.interpreter.arguments import Arguments
from accel_advisor.interpreter.library.settings_classes import (
    as_dict,
    configure,
    is_record,
    named_entries,
    namespace,
    optional,
    replaced,
)
from accel_advisor.interpreter.resolution import FLAGS
from accel_advisor.records.operations import Argument
from accel_advisor.tables.gpu_signs import option_names_gpu
from accel_advisor.tables.settings_libraries import FILE_READERS, NAMESPACES, OPTION_DECORATORS, PARSERS, RUNNERS
from accel_advisor.values.values import (
    UNKNOWN,
    Choice,
    Class,
    Configured,
    Constant,
    Filed,
    Function,
    Instance,
    Namespace,
    Opaque,
    Parser,
    Sequence,
    Value,
)

if TYPE_CHECKING:
    import libcst as cst

    from accel_advisor.interpreter.abstract_machine import Machine


def call_configuration(machine: Machine, name: str, arguments: Arguments, node: cst.Call) -> Value | None:
    """What a library callable returns that reads the command line, the environment or a file; None for others."""
    if name in PARSERS:
        return parser(machine, arguments)
    if name in NAMESPACES:
        return namespace(machine, arguments)
    if name in ("os.environ.get", "os.getenv"):
        return environment(arguments)
    if name in FILE_READERS:
        return read_file(name, arguments)
    if name in RUNNERS:
        return run_command(machine, arguments, node)
    if name.startswith("absl.flags.DEFINE_"):
        define_flag(machine, arguments)
        return UNKNOWN
    if name == "int" and len(arguments.positional) == 1:
        return as_integer(arguments.positional[0].value)
    if name in ("vars", "dataclasses.asdict", "attr.asdict", "attrs.asdict") and arguments.positional:
        return as_dict(machine, arguments.positional[0].value)
    if name in ("dataclasses.replace", "attr.evolve", "attrs.evolve") and arguments.positional:
        return replaced(machine, arguments)
    return None


# -- functions that a command line calls


def command_options(
    decorators: tuple[Value, ...], defaults: tuple[tuple[str, Value], ...], first: str | None
) -> tuple[tuple[str, Value], ...]:
    """The parameters of a decorated function that a command line gives; ``first`` is the name of its first one."""
    found: dict[str, Value] = {}
    for decorator in decorators:
        if not isinstance(decorator, Opaque):
            continue
        if decorator.name in OPTION_DECORATORS:
            declared = _click_option(decorator)
            if declared is not None:
                found[declared[0]] = declared[1]
        elif decorator.name == "typer.command":
            found.update((name, optional(name, value)) for name, value in defaults)
        elif decorator.name == "hydra.main" and first is not None:
            found[first] = Filed(_hydra_file(decorator), (), overrides=True)
    for name, value in defaults:
        if isinstance(value, Opaque) and value.name in ("typer.Option", "typer.Argument"):
            found[name] = optional(name, value)
    return tuple(found.items())


def is_command(function: Function) -> bool:
    """Whether a function gets its arguments from a command line alone, whatever it is called with."""
    return any(isinstance(one, Opaque) and one.name in OPTION_DECORATORS for one in function.decorators)


def _click_option(decorator: Opaque) -> tuple[str, Configured] | None:
    names = [one.value for one in decorator.arguments if isinstance(one, Constant)]
    texts = [one for one in names if isinstance(one, str)]
    flags = tuple(one for one in texts if one.startswith("-"))
    plain = [one for one in texts if not one.startswith("-")]
    longest = max(flags, key=len, default="").lstrip("-").split("/")[0].replace("-", "_")
    name = plain[0] if plain else longest.lower()
    if not name:
        return None
    given = dict(decorator.keywords)
    default = given.get("default", Constant(None))
    flag = next((one for one in flags if one.startswith("--")), next(iter(flags), ""))
    if isinstance(default, Constant):
        default = default.at("option default", flag)
    return name, Configured(default, flags)


def _hydra_file(decorator: Opaque) -> str:
    given = dict(decorator.keywords)
    parts = []
    for position, (name, fallback) in enumerate((("config_path", ""), ("config_name", ""))):
        value = given.get(name, decorator.arguments[position] if position < len(decorator.arguments) else None)
        known = value.value if isinstance(value, Constant) else fallback
        parts.append(known if isinstance(known, str) else fallback)
    if not parts[1]:
        return ""
    name = parts[1] if parts[1].endswith((".yaml", ".yml")) else f"{parts[1]}.yaml"
    return f"{parts[0]}/{name}" if parts[0] else name


def run_command(machine: Machine, arguments: Arguments, node: cst.Call) -> Value:
    """``typer.run(main)``, ``tyro.cli(Config)`` and the like."""
    called = arguments.positional[0].value if arguments.positional else UNKNOWN
    if isinstance(called, Class):
        instance = machine.instantiate(called, Arguments(None), node)
        if isinstance(instance, Instance) and is_record(called):
            configure(machine, instance)
        return instance
    if isinstance(called, Function):
        given = Arguments(None, keywords={name: Argument(optional(name, value)) for name, value in called.defaults})
        given.open = True
        return machine.call_value(called, given, node)
    return UNKNOWN


# -- argparse and absl


def parser(machine: Machine, arguments: Arguments) -> Parser:
    """``ArgumentParser(...)``, with what its ``parents`` declare."""
    made = Parser()
    parents = arguments.get("parents")
    for parent in parents.items if isinstance(parents, Sequence) else ():
        if isinstance(parent, Parser):
            for name, value in named_entries(machine, parent):
                machine.store.set(made, name, value)
    return made


def parser_method(machine: Machine, receiver: Parser, name: str, arguments: Arguments) -> Value:
    """What a method of an ``ArgumentParser`` returns."""
    if name == "add_argument":
        _add_argument(machine, receiver, arguments)
        return UNKNOWN
    if name == "set_defaults":
        for key, argument in arguments.keywords.items():
            value = argument.value
            before = machine.store.get(receiver, key)
            options = before.options if isinstance(before, Configured) else ()
            if isinstance(value, Constant):
                value = value.at("argparse default", next((one for one in options if one.startswith("--")), key))
            machine.store.set(receiver, key, Configured(value, options))
        return UNKNOWN
    if name in ("parse_args", "parse_intermixed_args"):
        return Namespace(receiver)
    if name == "parse_known_args":
        return Sequence((Namespace(receiver), UNKNOWN))
    if name in ("add_argument_group", "add_mutually_exclusive_group", "add_subparsers", "add_parser"):
        return receiver
    return UNKNOWN


def _add_argument(machine: Machine, receiver: Parser, arguments: Arguments) -> None:
    options = tuple(
        one.value.value
        for one in arguments.positional
        if isinstance(one.value, Constant) and isinstance(one.value.value, str)
    )
    if any(map(option_names_gpu, options)):
        machine.recorder.gpu_named(machine.document)
    given = arguments.get("dest")
    destination: str | None = None
    if isinstance(given, Constant) and isinstance(given.value, str):
        destination = given.value
    flag = next((one for one in options if one.startswith("--")), options[0] if options else "")
    if destination is None and options:
        destination = flag.lstrip("-").replace("-", "_")
    default = arguments.get("default")
    if default is None:
        action = arguments.get("action")
        stored = action.value if isinstance(action, Constant) else None
        default = Constant(stored != "store_true") if stored in ("store_true", "store_false") else Constant(None)
    if isinstance(default, Constant):
        default = default.at("argparse default", flag)
    if destination:
        machine.store.set(receiver, destination, Configured(default, options))


def define_flag(machine: Machine, arguments: Arguments) -> None:
    """``absl.flags.DEFINE_integer("workers", 0, ...)``."""
    name, default = arguments.get("name", 0), arguments.get("default", 1)
    if isinstance(name, Constant) and isinstance(name.value, str):
        machine.store.set(FLAGS, name.value, optional(name.value, default if default is not None else UNKNOWN))


def settings_in(value: Value, depth: int = 4) -> Iterator[Configured | Filed]:
    """What decides a formula's operands from outside of the program."""
    if isinstance(value, (Configured, Filed)):
        yield value
    elif isinstance(value, (Opaque, Choice)) and depth:
        for one in value.arguments if isinstance(value, Opaque) else value.options:
            yield from settings_in(one, depth - 1)


# -- the environment


def environment(arguments: Arguments) -> Value:
    """``os.environ.get("WORKERS", 0)``."""
    name, default = arguments.get("key", 0), arguments.get("default", 1)
    if not isinstance(name, Constant) or not isinstance(name.value, str):
        return UNKNOWN
    return variable(name.value, default if default is not None else Constant(None))


def variable(name: str, default: Value = UNKNOWN) -> Configured:
    """What an environment variable holds."""
    if isinstance(default, Constant):
        default = default.at("environment default", name)
    return Configured(default, (), name)


def as_integer(value: Value) -> Value | None:
    """``int(value)`` where the value is a number, or is configured from outside; None where nothing is known."""
    if isinstance(value, Configured):
        default = as_integer(value.default)
        return Configured(default if default is not None else UNKNOWN, value.options, value.variable)
    if isinstance(value, Constant) and isinstance(value.value, (int, str)):
        try:
            return Constant(int(value.value), value.origin)
        except ValueError:
            return None
    return value if isinstance(value, Filed) else None


def switch(arguments: Arguments) -> Configured | None:
    """``settings.get("pin", False)`` where it is not known what the settings hold: off, or on, unless they say so; None
    for a default that is no literal True or False."""
    default = arguments.get("default", 1)
    if isinstance(default, Constant) and isinstance(default.value, bool):
        return Configured(default.at("option default", ""))
    return None


# -- files


def read_file(name: str, arguments: Arguments) -> Value | None:
    """What a reader of configuration files returns; None where its argument is no file."""
    source = arguments.positional[0].value if arguments.positional else UNKNOWN
    path = source.arguments[0] if isinstance(source, Opaque) and source.name == "open" and source.arguments else None
    if path is None and name in ("omegaconf.OmegaConf.load", "toml.load"):
        path = source
    if path is None:
        return None
    if isinstance(path, Opaque) and path.name == "pathlib.Path" and path.arguments:
        path = path.arguments[0]
    if isinstance(path, Configured):
        path = path.default
    return Filed(path.value if isinstance(path, Constant) and isinstance(path.value, str) else "")
