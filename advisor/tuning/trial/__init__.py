"""The parent's side of a trial: the user's command in a child process, heard and ended for sure."""
