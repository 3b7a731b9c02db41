"""What a step of a program does with the device: copies, waits, what is in the wrong place, and graphs it keeps."""
