"""Rules about training and evaluation loops, and optimizers."""
