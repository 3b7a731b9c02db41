"""Loaders: how their workers start, what keeps a program from pinning, and what is built or set at the wrong time."""
