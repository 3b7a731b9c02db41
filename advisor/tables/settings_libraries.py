"""Where settings come from: parsers of the command line, files, and classes whose fields are settings.

From the documentation of the libraries that are named.
"""

from __future__ import annotations

PARSERS = frozenset(
    f"{name}.ArgumentParser" for name in ("argparse", "configargparse", "jsonargparse", "simple_parsing")
) | {"configargparse.ArgParser"}
"""Parsers of the command line that are used as argparse's is."""

NAMESPACES = frozenset({"types.SimpleNamespace", "argparse.Namespace"})
"""Callables that make an object of their keyword arguments, with an attribute for each."""

DICTS = frozenset(
    {"dict", "collections.OrderedDict", "easydict.EasyDict", "addict.Dict", "munch.Munch", "munch.munchify", "box.Box"}
    | {"omegaconf.OmegaConf.create", "ml_collections.ConfigDict", "ml_collections.config_dict.ConfigDict"}
    | {"yacs.config.CfgNode", "fvcore.common.config.CfgNode"}
)
"""Callables that make a dict of their arguments, whose entries some of them give as attributes, too."""

FILE_READERS = frozenset(
    {"yaml.safe_load", "yaml.load", "yaml.full_load", "yaml.unsafe_load", "json.load", "json.loads", "toml.load"}
    | {"tomllib.load", "tomllib.loads", "tomli.load", "toml.loads", "omegaconf.OmegaConf.load"}
)
"""Functions that read settings from a file."""

RUNNERS = frozenset({"typer.run", "fire.Fire", "tyro.cli", "jsonargparse.CLI", "jsonargparse.auto_cli", "defopt.run"})
"""Callables that call a function, or build a class, with what the command line says."""

OPTION_DECORATORS = frozenset({"click.option", "rich_click.option", "asyncclick.option"})
"""Decorators that fill an argument from the command line."""

FIELD_MAKERS = frozenset(
    {"dataclasses.field", "pydantic.Field", "attr.ib", "attr.field", "attrs.field", "msgspec.field"}
)
"""Callables that describe a field of a class of settings."""

RECORD_DECORATORS = ("dataclasses.dataclass", "attr.", "attrs.", "pydantic.dataclasses.dataclass", "chex.dataclass")
"""Beginnings of decorators that make a constructor from annotated fields."""

RECORD_BASES = frozenset(
    {"typing.NamedTuple", "pydantic.BaseModel", "pydantic.BaseSettings", "pydantic_settings.BaseSettings"}
    | {"msgspec.Struct", "tap.Tap", "typed_argument_parser.Tap"}
)
"""Base classes that make a constructor from annotated fields."""

CONFIGURED_BASES = frozenset({"pydantic.BaseSettings", "pydantic_settings.BaseSettings", "tap.Tap"})
"""Those of them that also read the environment or the command line."""
