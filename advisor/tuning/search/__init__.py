"""Which candidate to measure next, and what follows from what was measured. Pure, without clock or processes."""
