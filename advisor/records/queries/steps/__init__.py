"""What a step does with the device: copies, waits, exchanges, what is in the wrong place, and graphs that it keeps."""
