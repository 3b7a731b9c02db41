"""The rules: one file, one class, one code."""
