"""The files that a client has open, and what is known of each."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field

from pygls.uris import to_fs_path

from accel_advisor.library.engine import Checked, Engine
from accel_advisor.server.open_texts import OpenNotebook, OpenText
from accel_advisor.source.document import Document


@dataclass(slots=True)
class OpenFile:
    """A Python file or a notebook.

    Attributes:
        path: absolute; of a file that was never saved, one that it could have.
        engine: that of its folder of the workspace.
        checked: what was found last.
        checked_at: after how many changes of all texts.
        published: the URIs that have diagnostics.
    """

    uri: str
    path: str
    engine: Engine
    text: OpenText | None = None
    notebook: OpenNotebook | None = None
    checked: Checked | None = None
    checked_at: int = -1
    published: set[str] = field(default_factory=set)

    def give(self) -> None:
        """Gives the text to the engine."""
        if self.notebook is not None:
            self.engine.update(self.path, json.dumps(self.notebook.json))
        elif self.text is not None:
            self.engine.update(self.path, self.text.text)

    @property
    def document(self) -> Document | None:
        """The text that was checked last."""
        return self.checked.document if self.checked is not None else None

    @property
    def uris(self) -> list[str]:
        """Those of the texts that diagnostics stand in."""
        if self.notebook is None:
            return [self.uri]
        return [one.document for one in self.notebook.cells if one.document in self.notebook.texts]

    def version_of(self, uri: str) -> int | None:
        """The client's version of one of its texts."""
        own = self.text if self.notebook is None else self.notebook.texts.get(uri)
        return own.version if own is not None else None


def path_of(uri: str, root: str) -> str | None:
    """The path of a document; None where it can be none of a Python file or notebook."""
    path = to_fs_path(uri) if uri.startswith("file:") else None
    if path is None:
        name = os.path.basename(uri.rpartition(":")[2]) or "untitled"
        path = os.path.join(root, name if name.endswith((".py", ".ipynb")) else f"{name}.py")
    return path if path.endswith((".py", ".pyw", ".ipynb")) else None
