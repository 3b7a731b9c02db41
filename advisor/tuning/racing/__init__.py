"""Fixes of lint in turns with the source as it is: what each of them gains here."""
