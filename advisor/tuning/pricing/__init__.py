"""What the lines of a step cost: where the loop was found at work, joined with what lint finds there."""
