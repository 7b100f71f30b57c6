"""What every package may use: threads, the memory that is free, and the check of whole-number parameters."""
