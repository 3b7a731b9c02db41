"""The commands, one file each; only what a command needs is imported, and only when it runs."""
