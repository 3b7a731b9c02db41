"""The story of a trial whose loop takes its batches from no DataLoader."""
