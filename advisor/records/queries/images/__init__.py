"""Questions about the images that a program trains on."""
