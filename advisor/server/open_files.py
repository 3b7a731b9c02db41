"""The files that a client has open, and what is known of each."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field

from pygls.uris import to_fs_path

from accel_advisor.library.engine import Checked, Engine, encoded
from accel_advisor.project.discovery import may_hold_python
from accel_advisor.server.open_texts import OpenNotebook, OpenText
from accel_advisor.source.document import Document
from accel_advisor.source.parsing import DocumentError


@dataclass(slots=True)
class OpenFile:
    """A Python file or a notebook.

    Attributes:
        path: absolute; of a file that was never saved, one that it could have.
        engine: that of its folder of the workspace.
        checked: what was found last.
        checked_at: after how many changes of all texts.
        failure: why it cannot be checked, as the person was told; empty where it can.
        published: the URIs that have diagnostics.
    """

    uri: str
    path: str
    engine: Engine
    text: OpenText | None = None
    notebook: OpenNotebook | None = None
    checked: Checked | None = None
    checked_at: int = -1
    failure: str = ""
    published: set[str] = field(default_factory=set)

    def give(self) -> None:
        """Gives the text to the engine."""
        self.engine.update(self.path, self.content)

    @property
    def content(self) -> str:
        """The text as its file would have it; of a notebook, JSON."""
        if self.notebook is not None:
            return json.dumps(self.notebook.json)
        return self.text.text if self.text is not None else ""

    @property
    def differs_from_disk(self) -> bool:
        """Whether its code is another than that of the file on disk, which can be read."""
        try:
            saved = Document.read(self.path).text
            return Document.from_bytes(self.path, encoded(self.content)).text != saved
        except DocumentError:
            return False

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


def path_of(uri: str, root: str, ending: str = ".py") -> str | None:
    """The path of a document; None where it can be none of a Python file or notebook.

    Args:
        ending: of one that was never saved.
    """
    path = to_fs_path(uri) if uri.startswith("file:") else None
    if path is None:
        name = os.path.basename(uri.rpartition(":")[2]) or "untitled"
        path = os.path.join(root, name if name.endswith((".py", ".ipynb")) else f"{name}{ending}")
    return path if may_hold_python(path) else None
