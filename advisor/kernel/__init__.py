"""``%accel``: the linter inside the kernel of a notebook."""
