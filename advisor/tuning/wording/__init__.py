"""What reasons, notes, figures and outcomes read like for people: made here, and never read again."""
