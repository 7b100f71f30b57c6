"""Files: named arrays, model folders, and the checks behind both."""

from fdmix.storage.arrays import FileError, read_arrays, replacing, write_arrays
from fdmix.storage.model_folder import is_model

__all__ = ["FileError", "is_model", "read_arrays", "replacing", "write_arrays"]
