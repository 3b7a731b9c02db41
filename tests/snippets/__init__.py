"""The remedies that the rule pages show, run with real torch."""
