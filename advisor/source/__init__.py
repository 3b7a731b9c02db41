"""Text: reading files and notebooks, their lines, and comments that suppress findings."""
