"""Precision and recall on labelled public code."""
