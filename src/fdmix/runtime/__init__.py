"""What every package may use: threads, Ctrl-C, free memory, and the check of whole-number parameters."""
