"""The device interpreter: follows values forward through a program."""
