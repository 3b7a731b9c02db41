"""Questions about what is computed step by step where torch has one function for it."""
