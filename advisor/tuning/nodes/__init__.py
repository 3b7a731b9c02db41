"""Several processes of one training, on one node or on more: how they are heard as one, and how nodes meet."""
