"""accel-advisor: finds what keeps an accelerator waiting in PyTorch training code, proves it, and fixes it."""

__version__ = "0.1.0"
