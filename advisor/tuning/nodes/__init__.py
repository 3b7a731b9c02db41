"""Several processes of one training, on one or more nodes: how their messages become one stream, and how nodes meet."""
