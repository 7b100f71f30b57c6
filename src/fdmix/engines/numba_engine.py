from fdmix.engines.numpy_engine import NumpyEngine


class NumbaEngine(NumpyEngine):
    pass
