"""Batches from candidates, and the clock that times them."""
