"""Whether what a line is said to cost is what it costs: planted costs at lines that lint reports."""
