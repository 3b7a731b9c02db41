"""One module a format; each has ``render``, which turns a report into text."""
