"""Rules about waiting for the accelerator, and about memory that it keeps."""
