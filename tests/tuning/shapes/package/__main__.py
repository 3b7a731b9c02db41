"""Run by ``python -m package``."""

from slow import step

from .data import build

if __name__ == "__main__":
    loader = build()
    while True:
        for x, y in loader:
            step(x, y)
