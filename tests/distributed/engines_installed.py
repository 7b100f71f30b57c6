"""Marks of tests that need Dask, or Spark and Java."""

import os
import shutil
from importlib.util import find_spec

import pytest

SKIP_NOTHING = bool(os.environ.get("FDMIX_SKIP_NOTHING"))
NO_DASK = find_spec("dask") is None and not SKIP_NOTHING
NO_SPARK = (find_spec("pyspark") is None or shutil.which("java") is None) and not SKIP_NOTHING
needs_dask = pytest.mark.skipif(NO_DASK, reason="Dask is not installed, so engine='dask' is not tested")
needs_spark = pytest.mark.skipif(NO_SPARK, reason="PySpark or Java is not installed, so engine='spark' is not tested")
