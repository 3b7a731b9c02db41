"""What turns a knob in the source: plain data, of which the parent makes edits.

In a text ``{torch}`` stands for what the source calls torch, ``{model}`` for its name of the model, ``{device}`` for
the kind of device, ``{blocks}`` and ``{block}`` for the model's repeated blocks and one of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from accel_advisor.tuning.probe.channel.wire import ENABLE


@dataclass(frozen=True, slots=True)
class BehindImports:
    """Statements for the start of the script, a line each; ``imports`` are modules that they name beside torch."""

    lines: tuple[str, ...]
    imports: tuple[str, ...] = ()

    def text(self, torch: str, newline: str = "; ") -> str:
        """The statements for a script that calls torch so."""
        return _filled(newline.join(self.lines), torch=torch)

    def shown(self, device: str, blocks: str) -> str:
        """The statements in one line."""
        return self.text("torch")


@dataclass(frozen=True, slots=True)
class WorkerStart:
    """A statement that each worker of the loader begins with; ``imports`` are modules that it names."""

    statement: str
    imports: tuple[str, ...] = ()
    keyword: str = "worker_init_fn"

    @property
    def value(self) -> str:
        """The argument of the loader that brings it about."""
        return f"lambda _: {self.statement}"

    def shown(self, device: str, blocks: str) -> str:
        """The argument as it is written."""
        return f"{self.keyword}={self.value}"


@dataclass(frozen=True, slots=True)
class OptimizerArgument:
    """An argument of every optimizer that was turned."""

    keyword: str
    value: str

    def shown(self, device: str, blocks: str) -> str:
        """The argument as it is written."""
        return f"{self.keyword}={self.value}"


@dataclass(frozen=True, slots=True)
class LoaderSetting:
    """An argument of the loader, changed where its value is decided; None where no value was chosen."""

    keyword: str
    value: int | None

    def shown(self, device: str, blocks: str) -> str:
        """The argument as it is written."""
        return f"{self.keyword}={'N' if self.value is None else self.value}"


@dataclass(frozen=True, slots=True)
class OnceForModel:
    """A statement that stands once before the training loop, for every model that was turned.

    Attributes:
        statement: further lines are indented relative to the first.
        imports: modules that it names beside torch.
        method: the statement instead where the model has a method of its own for it, which ``{blocks}`` stands for.
    """

    statement: str
    imports: tuple[str, ...] = ()
    method: str = ""

    def text(self, *, torch: str, model: str, device: str, blocks: str = "", block: str = "block") -> str:
        """The statement for a model that is called so, whose blocks are reached so (``{}`` stands for the model)."""
        template = self.method if is_method(blocks) else self.statement
        reached = blocks.replace("{}", model)
        return _filled(template, blocks=reached, block=block, torch=torch, model=model, device=device)

    def shown(self, device: str, blocks: str) -> str:
        """The statement in one line, for a model that is called ``model``."""
        text = self.text(torch="torch", model="model", device=device, blocks=blocks or "{}.blocks")
        return text.replace(":\n    ", ": ").replace("\n", "; ")


Statement = BehindImports | WorkerStart | OptimizerArgument | LoaderSetting | OnceForModel


def is_method(blocks: str) -> bool:
    """Whether the blocks of a model are turned by a method of its own."""
    return blocks.endswith(ENABLE)


def _filled(text: str, **names: str) -> str:
    """``str.format`` would take the sets and dicts of a statement for names."""
    for name, value in names.items():
        text = text.replace(f"{{{name}}}", value)
    return text
