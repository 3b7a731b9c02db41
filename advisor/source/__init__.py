"""Text: finding files, reading them, suppressions, positions."""
