"""What rules ask about copies to the GPU."""
