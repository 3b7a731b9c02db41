"""What other programs use: the linter in memory, and the trial, as functions and a class."""
