"""Whether autocast reaches what a model computes, what it breaks there, and what to do."""
