"""Questions about single kinds of waits for the GPU, in trainings and outside of them."""
