"""Questions about what a training does with the parameters of its models, one by one or together."""
