"""Gradients and graphs that a step computes, and who uses them."""
