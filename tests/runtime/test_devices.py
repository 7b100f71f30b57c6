"""The device that a name stands for, and what is said of names that stand for none."""

import pytest

from fdmix.runtime.devices import torch_device

torch = pytest.importorskip("torch", reason="PyTorch is not installed")


def test_the_cpu_is_there():
    assert torch_device("cpu") == torch.device("cpu")


def test_auto_is_one_of_the_devices_that_are_there():
    assert torch_device("auto").type in {"cpu", "mps", "cuda"}


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a CUDA device")
def test_a_missing_cuda_device_is_refused_in_words():
    with pytest.raises(ValueError, match=r"device 'cuda:1' .*use device='cpu'"):
        torch_device("cuda:1")


@pytest.mark.skipif(torch.backends.mps.is_available(), reason="this machine has MPS")
def test_a_missing_mps_device_is_refused_in_words():
    with pytest.raises(ValueError, match="no MPS device"):
        torch_device("mps")


@pytest.mark.parametrize("name", ["gpu", "cuda:x", "", "meta"])
def test_a_name_that_is_no_device_is_refused_in_words(name):
    with pytest.raises(ValueError, match=r"there is no device|fdmix computes on"):
        torch_device(name)
