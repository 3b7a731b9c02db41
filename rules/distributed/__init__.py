"""Rules about more than one GPU."""
