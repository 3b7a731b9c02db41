"""Rules about what workers run, and who gets which samples."""
