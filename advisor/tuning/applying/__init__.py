"""From settings to edits of the right lines, proven before they stay."""
