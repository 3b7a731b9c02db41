"""Which files a project has, which of them belong together, and what they run on."""
