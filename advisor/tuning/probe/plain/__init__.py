"""A training loop that takes its batches from no DataLoader: its steps, and the call that fetches."""
