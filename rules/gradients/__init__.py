"""Rules about gradients, and graphs for them, that nobody uses."""
