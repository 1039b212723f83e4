import gc
import math
import weakref
from types import SimpleNamespace

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from torch import nn

from reference_fixes import memory

TEXTS = [  # (kind, text): as printed in public reports
    ("cuda", "CUDA out of memory. Tried to allocate 2.00 MiB (GPU 0; 79.14 GiB total capacity)"),
    ("cuda", "CUDA error: out of memory\nCUDA kernel errors might be asynchronously reported"),
    ("cuda", "HIP out of memory. Tried to allocate 20.00 MiB"),
    ("cuda", "CUDA driver error: out of memory"),
    ("cuda", "XPU out of memory. Tried to allocate 1.00 GiB"),
    (
        "mps",
        "MPS backend out of memory "
        "(MPS allocated: 0 bytes, other allocations: 0 bytes, max allowed: 7.93 GB)",
    ),
    ("mps", "Invalid buffer size: 1048576.00 GiB"),
    (
        "cpu",
        "[enforce fail at alloc_cpu.cpp:75] err == 0. "
        "DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes.",
    ),
    (
        "cpu",
        "[enforce fail at alloc_cpu.cpp:127] data. "
        "DefaultCPUAllocator: not enough memory: you tried to allocate 8 bytes.",
    ),
    ("cpu", "unable to mmap 4096 bytes from file </torch_1_2>: Cannot allocate memory (12)"),
    ("library", "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
    ("library", "cuDNN error: CUDNN_STATUS_ALLOC_FAILED"),
    ("library", "Unable to find a valid cuDNN algorithm to run convolution"),
    (
        "mig",
        "NVML_SUCCESS == r INTERNAL ASSERT FAILED at "
        '"../c10/cuda/CUDACachingAllocator.cpp":1123, please report a bug',
    ),
    ("other", "NCCL error: unhandled cuda error. Last error: Cuda failure 2 'out of memory'"),
]
OTHERS = [
    "element 0 of tensors does not require grad and does not have a grad_fn",
    "CUDA error: device-side assert triggered",
    "CUDA error: an illegal memory access was encountered",
    "CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasSgemm`",
    "cuDNN error: CUDNN_STATUS_NOT_SUPPORTED. "
    "This error may appear if you passed in a non-contiguous input.",
    "The size of tensor a (3) must match the size of tensor b (4)",
    "DataLoader worker (pid 1) exited unexpectedly",
    "out of resource: shared memory, Required: 131072, Hardware limit: 101376",
    "",
]


@pytest.mark.parametrize(("kind", "text"), TEXTS)
def test_out_of_memory_texts_are_recognised(kind, text):
    assert memory.out_of_memory_kind(RuntimeError(text)) == kind
    assert memory.is_out_of_memory(RuntimeError(text))


@pytest.mark.parametrize("text", OTHERS)
def test_other_errors_are_not_taken_for_out_of_memory(text):
    assert not memory.is_out_of_memory(RuntimeError(text))


@given(st.sampled_from(TEXTS), st.text(max_size=30), st.text(max_size=30))
def test_a_text_inside_a_longer_one_is_still_recognised(known, before, after):
    assert memory.is_out_of_memory(RuntimeError(f"{before}\n{known[1]}\n{after}"))


def test_types_count_before_texts():
    assert memory.out_of_memory_kind(MemoryError()) == "cpu"
    assert memory.out_of_memory_kind(torch.cuda.OutOfMemoryError("any text")) == "cuda"
    assert not memory.is_out_of_memory(ValueError("CUDA out of memory"))
    assert not memory.is_out_of_memory(KeyboardInterrupt("out of memory"))


def test_a_wrapper_counts_by_its_cause_and_not_by_its_context():
    def chained(cause):
        try:
            try:
                raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 MiB")
            except RuntimeError as error:
                raise ValueError("step failed") from (error if cause else None)
        except ValueError as wrapper:
            return wrapper

    assert memory.is_out_of_memory(chained(cause=True))
    assert not memory.is_out_of_memory(
        chained(cause=False)
    )  # a bug in the handler is not an out-of-memory error
    loop = RuntimeError("a")
    loop.__cause__ = loop
    assert not memory.is_out_of_memory(loop)


def exhaust(device):
    torch.empty(2**50, dtype=torch.uint8, device=device)


def test_the_real_error_of_this_device_is_recognised(device):
    with pytest.raises(RuntimeError) as caught:
        exhaust(device)
    assert memory.out_of_memory_kind(caught.value) == device


class Step:
    """run(size) that fits up to a limit, with tensors that a leaked frame would keep alive."""

    def __init__(self, device, limit, real=False):
        self.device, self.limit, self.real, self.sizes, self.alive = device, limit, real, [], []

    def __call__(self, size):
        assert not [tensor for tensor in self.alive if tensor() is not None], (
            "the last try is still alive"
        )
        self.sizes.append(size)
        assert len(self.sizes) < 100, "the search does not end"
        activations = torch.ones(8, device=self.device)
        self.alive.append(weakref.ref(activations))
        if size > self.limit:
            if self.real:
                exhaust(self.device)
            raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 MiB")


@given(st.integers(1, 300), st.integers(0, 300), st.data())
@example(1, 1, None)
@example(300, 0, None)
def test_the_largest_size_that_fits_is_found_in_logarithmic_tries(largest, limit, data):
    smallest = data.draw(st.integers(1, largest), label="smallest") if data else 1
    step = Step("cpu", limit)
    tries = math.ceil(math.log2(largest - smallest + 1)) + 1
    if limit < smallest:
        with pytest.raises(
            RuntimeError, match=f"even batch size {smallest} runs out of memory: CUDA out of memory"
        ) as caught:
            memory.find_batch_size(step, largest, smallest)
        assert memory.is_out_of_memory(caught.value)
    else:
        assert memory.find_batch_size(step, largest, smallest) == min(limit, largest)
    assert len(step.sizes) <= tries
    assert len(set(step.sizes)) == len(step.sizes)
    assert step.sizes[0] == largest
    assert all(smallest <= size <= largest for size in step.sizes)


def test_real_errors_of_this_device_are_survived_and_nothing_of_them_is_kept(device):
    step = Step(device, limit=5, real=True)
    assert memory.find_batch_size(step, largest=64) == 5
    assert not [tensor for tensor in step.alive if tensor() is not None]


def test_nothing_is_remembered_between_searches():
    assert memory.find_batch_size(Step("cpu", 3), largest=64) == 3
    assert memory.find_batch_size(Step("cpu", 50), largest=64) == 50


def test_tensors_in_cycles_are_collected_between_tries():
    alive = []

    def run(size):
        cycle = [torch.ones(8)]
        cycle.append(cycle)
        assert not [tensor for tensor in alive if tensor() is not None]
        alive.append(weakref.ref(cycle[0]))
        if size > 2:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 MiB")

    gc.disable()
    try:
        assert memory.find_batch_size(run, largest=16) == 2
    finally:
        gc.enable()


def test_other_errors_pass_through_a_search():
    def run(size):
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    with pytest.raises(RuntimeError, match="^mat1"):
        memory.find_batch_size(run, 8)


@pytest.mark.parametrize(
    ("largest", "smallest"), [(0, 1), (4, 0), (4, 5), (4.0, 1), (True, 1), ("8", 1)]
)
def test_impossible_ranges_are_refused(largest, smallest):
    with pytest.raises(ValueError, match=f"smallest={smallest!r}, largest={largest!r}"):
        memory.find_batch_size(lambda size: None, largest, smallest)


def test_one_is_the_smallest_size_unless_asked_otherwise():
    assert memory.find_batch_size(Step("cpu", 1), largest=8) == 1


def test_an_error_without_a_text_is_quoted_by_its_type():
    def run(size):
        raise MemoryError

    with pytest.raises(RuntimeError, match="^even batch size 1 runs out of memory: MemoryError$"):
        memory.find_batch_size(run, 4)


def test_release_inside_the_except_block_is_refused(device):
    text = r"^release\(\) inside the except block frees nothing: .* call it afterwards$"
    with pytest.raises(RuntimeError, match=text):  # noqa: PT012
        try:
            exhaust(device)
        except RuntimeError:
            memory.release()


def test_release_while_another_error_is_handled_is_fine():
    try:
        raise KeyError("x")
    except KeyError:
        memory.release()


def test_release_collects_before_it_empties_the_cache(monkeypatch):
    calls = []
    monkeypatch.setattr(gc, "collect", lambda: calls.append("collect"))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: calls.append("empty_cache"))
    memory.release()
    assert calls == ["collect", "empty_cache"]


def test_release_does_not_start_cuda_where_nothing_has_used_it(monkeypatch):
    calls = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: False)
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: calls.append("empty_cache"))
    memory.release()
    assert calls == []


@pytest.mark.parametrize("has_mps", [False, True])
def test_release_empties_the_cache_of_mps_where_this_torch_can(monkeypatch, has_mps):
    calls = []
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    if has_mps:
        monkeypatch.setattr(
            torch,
            "mps",
            SimpleNamespace(empty_cache=lambda: calls.append("empty_cache")),
            raising=False,
        )
    else:
        monkeypatch.delattr(torch, "mps", raising=False)
    memory.release()
    assert calls == ["empty_cache"] * has_mps


def test_release_returns_memory_of_dead_cycles_to_the_driver(device):
    if device != "cuda":
        pytest.skip("only CUDA's allocator tells what it reserves")
    memory.release()
    before = torch.cuda.memory_reserved()
    cycle = [torch.empty(64 * 2**20, dtype=torch.uint8, device=device)]
    cycle.append(cycle)
    del cycle
    memory.release()
    assert torch.cuda.memory_reserved() == before


@pytest.mark.parametrize("chain", ["alone", "cause", "context", "group"])
def test_drop_frames_frees_tensors_of_the_whole_chain_and_keeps_the_traceback(device, chain):
    alive = []

    def step():
        activations = torch.ones(8, device=device)
        alive.append(weakref.ref(activations))
        raise RuntimeError("step failed")

    def kept():
        try:
            step()
        except RuntimeError as error:
            if chain == "alone":
                return error
            if chain == "group":
                wrapper = ValueError("group")
                wrapper.exceptions = (error,)
                return wrapper
            try:
                if chain == "cause":
                    raise ValueError("wrapped") from error
                raise ValueError("wrapped")
            except ValueError as wrapper:
                return wrapper

    error = kept()
    gc.collect()
    assert alive[0]() is not None
    assert memory.drop_frames(error) is error
    gc.collect()
    assert alive[0]() is None
    if chain == "alone":
        assert error.__traceback__.tb_next.tb_frame.f_code.co_name == "step"


def test_drop_frames_ends_on_a_circle_of_exceptions_and_leaves_out_none():
    alive = []

    def failed():
        activations = torch.ones(8)
        alive.append(weakref.ref(activations))
        raise RuntimeError("step failed")

    def caught():
        try:
            failed()
        except RuntimeError as error:
            return error

    top, cause, context = caught(), caught(), caught()
    top.__cause__, top.__context__ = cause, context
    context.__cause__ = top
    memory.drop_frames(top)
    gc.collect()
    assert [tensor() for tensor in alive] == [None, None, None]


@given(st.lists(st.booleans(), min_size=2, max_size=2))
def test_scratch_gradients_leaves_every_gradient_as_it_was(device, present):
    model = nn.Linear(2, 1).to(device)
    for parameter, wanted in zip(model.parameters(), present):
        parameter.grad = torch.full_like(parameter, 7.0) if wanted else None
    before = [parameter.grad for parameter in model.parameters()]
    with pytest.raises(KeyError), memory.scratch_gradients(model):  # noqa: PT012
        model(torch.ones(3, 2, device=device)).sum().backward()
        assert model.bias.grad == 3
        raise KeyError
    for parameter, gradient in zip(model.parameters(), before):
        assert parameter.grad is gradient
        assert gradient is None or bool((gradient == 7.0).all())
