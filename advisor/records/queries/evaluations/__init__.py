"""What rules ask about evaluations: what they bring to the host, and count there."""
