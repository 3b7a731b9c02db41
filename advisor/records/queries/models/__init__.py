"""What models are made of: their layers, in which order, and what their classes keep."""
