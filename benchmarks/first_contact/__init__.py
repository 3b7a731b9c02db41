"""What the linter says, and misses, on code that nobody here had read, linted or tuned on before."""
