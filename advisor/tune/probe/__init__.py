"""The child's side of a trial: runs inside the user's process, with torch and the standard library only."""
