"""What a person needs first: what is here, a configuration, completion in the shell, the manual."""
