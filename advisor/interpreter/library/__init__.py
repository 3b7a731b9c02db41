"""What the interpreter knows of libraries: their functions, and the methods of what they make."""
