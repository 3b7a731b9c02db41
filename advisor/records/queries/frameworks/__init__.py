"""What programs ask of frameworks that train for them."""
