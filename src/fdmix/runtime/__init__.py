"""The machine: threads, memory, and checks of whole numbers."""
