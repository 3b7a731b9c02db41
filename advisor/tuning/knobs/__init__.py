"""The knobs of the training, each tried in processes of its own."""
