"""What this machine offers to a training run, and what limits it."""
