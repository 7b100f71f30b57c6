"""Settings for all tests."""

from hypothesis import settings

settings.register_profile("fdmix", deadline=None)  # the first call of a kernel compiles it
settings.load_profile("fdmix")
