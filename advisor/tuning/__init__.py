"""The trial: measure candidates inside the running loop of the user's own script."""
