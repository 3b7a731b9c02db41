"""Ends well, and says why it did nothing."""

import sys

print("No GPU. Exiting.")
sys.exit()
