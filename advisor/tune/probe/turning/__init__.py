"""A knob of the training, turned from outside."""
