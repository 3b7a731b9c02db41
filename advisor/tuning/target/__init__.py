"""What a person wants tuned: the command, how it is started, and what helps where it fails by itself."""
