"""The user's script as the probe sees it: run, imported, and where in it something stands."""
