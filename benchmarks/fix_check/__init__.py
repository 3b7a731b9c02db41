"""What `lint --fix` does to whole projects of other people."""
