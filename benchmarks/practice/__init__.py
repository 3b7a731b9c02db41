"""Remarks of readers on repositories that the rules were then mended on."""
