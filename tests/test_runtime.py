"""Devices and threads: the requested ones or a clear error, and callers keep their settings."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
import torch

from egoscore.errors import DeviceError
from egoscore.runtime import choose_device, one_thread


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
        with pytest.raises(DeviceError, match=f"GPU {gpu} was requested.* only 2 CUDA devices"):
            choose_device(gpu)

    @pytest.mark.parametrize("gpu", [0, 3])
    def test_without_a_gpu_the_message_says_how_to_use_the_cpu(self, cuda, gpu):
        cuda(0)
        with pytest.raises(DeviceError, match=f"GPU {gpu} was requested.* no CUDA .* use -1"):
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

    def test_nested_blocks_keep_one_thread_until_the_outer_ends(self, two_threads):
        with one_thread():
            with one_thread():
                pass
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 2

    def test_a_thread_that_starts_inside_restores_the_number_outside(self, two_threads):
        def inside():
            with one_thread():
                return torch.get_num_threads()

        def both():
            return inside(), torch.get_num_threads()

        with ThreadPoolExecutor(1) as pool:
            with one_thread():
                assert pool.submit(both).result() == (1, 2)
                assert torch.get_num_threads() == 1
            assert pool.submit(both).result() == (1, 2)
        assert torch.get_num_threads() == 2

    def test_blocks_that_overlap_in_two_threads_end_in_any_order(self, two_threads):
        entered, leave = Event(), Event()

        def other():
            with one_thread():
                entered.set()
                leave.wait()
                number = torch.get_num_threads()
            return number, torch.get_num_threads()

        with ThreadPoolExecutor(1) as pool:
            with one_thread():
                running = pool.submit(other)
                entered.wait()
            assert torch.get_num_threads() == 2
            leave.set()
            assert running.result() == (1, 2)
        assert torch.get_num_threads() == 2


def test_denormal_numbers_are_zero_inside_only():
    tiny = torch.tensor(1e-40)
    with one_thread():
        assert float(tiny * 1.0) == 0.0
    assert float(tiny * 1.0) > 0.0
