"""The look of what ``%accel`` shows, in the colours of the front end's theme, light or dark."""

from __future__ import annotations

import html
import re
from string import Template

_STYLE = Template(
    """\
.accel-advisor { color: $ink; background: $paper; padding: 8px; overflow-x: auto; font-size: 13px; }
.accel-advisor table { border-collapse: collapse; width: 100%; max-width: 100%; margin: 8px 0 0; }
.accel-advisor tbody tr:nth-child(n), .accel-advisor tbody tr:nth-child(n):hover { background: none; }
.accel-advisor th, .accel-advisor td { color: $ink; text-align: left; vertical-align: top; white-space: normal;
  max-width: none; padding: 5px 14px 5px 0; border: 0; border-bottom: 1px solid $line; }
.accel-advisor td:not(:last-child) { white-space: nowrap; }
.accel-advisor a { color: $link; }
.accel-advisor pre, .accel-advisor code { color: inherit; background: none; padding: 0; margin: 0;
  font-family: ui-monospace, monospace; font-size: 12px; }
.accel-advisor pre { margin-bottom: 3px; white-space: pre-wrap; }
.accel-advisor .error, .accel-advisor .warning, .accel-advisor .best { font-weight: 600; }
.accel-advisor p { margin: 8px 0 0; }
"""
)
_NAMES = {
    "ink": "--jp-content-font-color1 --colab-primary-text-color --vscode-editor-foreground",
    "paper": "--jp-layout-color0 --colab-primary-surface-color --vscode-editor-background",
    "line": "--jp-border-color2 --colab-border-color --vscode-panel-border",
    "link": "--jp-content-link-color --colab-anchor-color --vscode-textLink-foreground",
}
"""What front ends call the colours of their themes. Where none does, those of the reader's system are used."""
_LIGHT = {"ink": "#1f2328", "paper": "#ffffff", "line": "#d0d7de", "link": "#0550ae"}
_DARK = {"ink": "#e6edf3", "paper": "#0d1117", "line": "#3d444d", "link": "#6cb6ff"}


def marked(sentence: str) -> str:
    """A sentence as HTML, its code marked as such."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(sentence))


def themed(body: str) -> str:
    """HTML in a block of its own, with its style."""
    style = f"{_styled(_LIGHT)}@media (prefers-color-scheme: dark) {{\n{_styled(_DARK)}}}\n"
    return f'<style>\n{style}</style>\n<div class="accel-advisor">{body}</div>'


def _styled(fallback: dict[str, str]) -> str:
    colours = {}
    for name, colour in fallback.items():
        for variable in reversed(_NAMES[name].split()):
            colour = f"var({variable}, {colour})"
        colours[name] = colour
    return _STYLE.substitute(colours)
