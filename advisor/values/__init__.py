"""The values that an expression can have, and the store that keeps them."""
