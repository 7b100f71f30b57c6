"""Save results: files of named arrays, model folders, and writes that are complete or leave the old file."""

from fdmix.storage.arrays import FileError, read_arrays, write_arrays
from fdmix.storage.model_folder import is_model
from fdmix.storage.temporaries import replacing

__all__ = ["FileError", "is_model", "read_arrays", "replacing", "write_arrays"]
