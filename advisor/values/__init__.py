"""What an expression can be worth, and the store that keeps it."""
