"""The knobs of the training, one class in one file each, for both sides: the child turns them, and the parent reads
what they need, where they are written and what they mean."""
