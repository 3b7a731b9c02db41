"""From files to findings, and from findings to mended files."""
