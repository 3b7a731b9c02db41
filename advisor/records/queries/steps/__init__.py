"""What a step of a program does with the device: copies, waits, and graphs that it keeps."""
