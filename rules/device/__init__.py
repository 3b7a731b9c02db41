"""Rules about device placement."""
