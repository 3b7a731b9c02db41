"""Where a trial takes place, as the command line has it: alone on its machine, and on how many nodes."""
