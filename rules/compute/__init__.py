"""Rules about computing: autograd, precision, optimizers, settings of torch's backends."""
