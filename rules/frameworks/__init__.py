"""Rules about frameworks that train for the user, in their own argument names."""
