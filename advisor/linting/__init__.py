"""From files to findings, and from findings to fixed files."""
