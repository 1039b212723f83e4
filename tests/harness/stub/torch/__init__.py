"""The part of torch that the worker uses, so that the harness is tested quickly without torch.

The environment variable STUB_TORCH sets the version, STUB_DEVICES the devices that work. With
STUB_ASKED_CUDA, importing the stub queries CUDA's devices, so a fork can use only the CPU.
"""

import os

__version__ = os.environ.get("STUB_TORCH", "2.15.0+stub")
_devices = os.environ.get("STUB_DEVICES", "cpu").split()
_imported_by = os.getpid()


class version:
    cuda = None


class cuda:
    def _is_in_bad_fork():
        return "STUB_ASKED_CUDA" in os.environ and os.getpid() != _imported_by


class backends:
    pass


def set_num_threads(count):
    pass


def get_num_threads():
    return 1


_seed = 0


def manual_seed(seed):
    global _seed
    _seed = seed


def initial_seed():
    return _seed


class _Tensor:
    """A square of integers, which is enough for the computation of a probe."""

    device = "cpu"

    def __init__(self, rows):
        self.rows = rows

    def reshape(self, height, width):
        flat = [value for row in self.rows for value in row]
        return _Tensor([flat[start : start + width] for start in range(0, height * width, width)])

    def to(self, device):
        if device not in _devices:
            raise AssertionError(f"the stub has no {device}")
        if device != "cpu" and cuda._is_in_bad_fork():
            raise RuntimeError(f"cannot initialise {device} in a fork")
        return self

    def cpu(self):
        return self

    @property
    def T(self):
        return _Tensor([list(column) for column in zip(*self.rows)])

    def __matmul__(self, other):
        columns = list(zip(*other.rows))
        return _Tensor(
            [[sum(a * b for a, b in zip(row, column)) for column in columns] for row in self.rows]
        )

    def __sub__(self, other):
        return _Tensor([[a - b for a, b in zip(*rows)] for rows in zip(self.rows, other.rows)])

    def abs(self):
        return _Tensor([[abs(value) for value in row] for row in self.rows])

    def max(self):
        return max(map(max, self.rows))


def arange(end):
    return _Tensor([[float(value) for value in range(int(end))]])


def empty(size):
    return _Tensor([[]])
