"""What rules may see of a program: its loaders, transfers, loops and operations."""
