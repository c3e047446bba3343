"""Devices and threads: what is asked for, or a clear refusal; and all is put back."""

import pytest
import torch

from egoscore.device import choose_device, one_thread
from egoscore.errors import DeviceError


@pytest.fixture
def cuda(monkeypatch):
    """A machine with as many CUDA devices as a test says."""

    def devices(count):
        monkeypatch.setattr(torch.cuda, "is_available", lambda: count > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: count)

    return devices


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


class TestDevice:
    @pytest.mark.parametrize("count", [0, 2])
    def test_minus_one_is_the_cpu_even_beside_a_gpu(self, cuda, count):
        cuda(count)
        assert choose_device(-1) == torch.device("cpu")

    @pytest.mark.parametrize("gpu", [0, 1])
    def test_a_gpu_that_is_there_is_taken_by_its_number(self, cuda, gpu):
        cuda(2)
        assert choose_device(gpu) == torch.device("cuda", gpu)

    @pytest.mark.parametrize("gpu", [2, 7])
    def test_a_number_too_high_is_refused_with_what_there_is(self, cuda, gpu):
        cuda(2)
        with pytest.raises(DeviceError, match=f"GPU {gpu} was asked for.* only 2 CUDA devices"):
            choose_device(gpu)

    @pytest.mark.parametrize("gpu", [0, 3])
    def test_without_any_gpu_the_way_out_is_told(self, cuda, gpu):
        cuda(0)
        with pytest.raises(DeviceError, match=f"GPU {gpu} was asked for.* no CUDA .* ask for -1"):
            choose_device(gpu)


class TestOneThread:
    def test_there_is_one_inside_and_as_many_as_before_outside(self, two_threads):
        with one_thread():
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 2

    def test_an_error_passes_through_and_the_threads_come_back(self, two_threads):
        with pytest.raises(RuntimeError, match="power cut"), one_thread():
            raise RuntimeError("power cut")
        assert torch.get_num_threads() == 2

    def test_one_inside_another_changes_nothing(self, two_threads):
        with one_thread():
            with one_thread():
                pass
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 2


def test_numbers_next_to_nothing_are_zero_inside_and_not_outside():
    tiny = torch.tensor(1e-40)
    with one_thread():
        assert float(tiny * 1.0) == 0.0
    assert float(tiny * 1.0) > 0.0
