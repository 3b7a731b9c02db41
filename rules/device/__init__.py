"""ACC3xx: device placement."""
