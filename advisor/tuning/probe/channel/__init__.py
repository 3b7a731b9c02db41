"""What parent and child say to each other."""
