"""ACC5xx: more than one GPU."""
