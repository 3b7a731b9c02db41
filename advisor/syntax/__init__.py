"""A piece of Python: its tree, where its nodes stand, and what can be said of it without interpreting it."""
