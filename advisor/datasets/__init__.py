"""What data sets give, what their samples cost, and what goes wrong in workers."""
