"""Fails with a message of several lines."""

raise ValueError("no colour: red\n\nSee the manual.")
