"""Questions over the records of a program."""
