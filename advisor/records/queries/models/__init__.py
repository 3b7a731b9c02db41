"""What models are made of: their layers, in which order, what their classes keep, and how they attend."""
