"""Stands in for requests: every address is answered with the file of that name in ``WILD_DOWNLOADS``."""

import os
from pathlib import Path
from typing import IO, Any, Self


class Response:
    """As much of a response as downloads need: a context manager with the file as ``raw``."""

    def __init__(self, raw: IO[bytes]) -> None:
        self.raw = raw

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.raw.close()


def get(url: str, **_: Any) -> Response:
    """The file that the fixture made for ``url``.

    Raises:
        OSError: there is none.
    """
    return Response((Path(os.environ["WILD_DOWNLOADS"]) / url.rpartition("/")[2]).open("rb"))
