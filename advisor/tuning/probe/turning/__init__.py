"""What a knob of the training takes hold of in a script that knows nothing of it."""
