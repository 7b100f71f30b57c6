"""The device that a name stands for, and what is said of names that stand for none."""

from types import SimpleNamespace

import pytest

from fdmix.runtime.devices import _check_cuda, device_in_words, torch_device

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


@pytest.mark.parametrize(
    ("cuda", "gpus", "index", "sentence"),
    [
        (
            None,
            0,
            0,
            r"needs a PyTorch with CUDA, but the installed one \(2\.13\) has none; see https://pytorch\.org",
        ),
        ("12.6", 0, 0, "PyTorch finds no CUDA device"),
        ("12.6", 2, 2, "there are only cuda:0 to cuda:1"),
    ],
)
def test_what_is_missing_for_cuda_is_named(cuda, gpus, index, sentence):
    """On pretended installations of PyTorch."""
    pretended = SimpleNamespace(
        __version__="2.13",
        version=SimpleNamespace(cuda=cuda, hip=None),
        cuda=SimpleNamespace(device_count=lambda: gpus),
    )
    with pytest.raises(ValueError, match=sentence):
        _check_cuda(pretended, f"cuda:{index}", index)


@pytest.mark.skipif(torch.cuda.is_available() or torch.backends.mps.is_available(), reason="this machine has a GPU")
def test_people_are_told_that_no_gpu_was_found():
    """Otherwise one may take a fit on the CPU for one on a GPU."""
    assert device_in_words("auto") == "PyTorch computes on the CPU: it finds no GPU."
    assert device_in_words("cpu") == "PyTorch computes on the CPU."
