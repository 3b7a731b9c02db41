"""Edits made from syntax nodes and kept as text: where they go, what fits together, and writing them safely."""
