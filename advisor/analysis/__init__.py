"""From the files of a project to the facts of each."""
