"""The record of a run: written, read again, compared over time."""
