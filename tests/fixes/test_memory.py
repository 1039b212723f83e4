import asyncio
import contextlib
import gc
import math
import sys
import traceback
import weakref
from types import SimpleNamespace
from unittest import mock

import numpy
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from torch import nn

from reference_fixes import memory

TEXTS = [  # texts from public reports
    "CUDA out of memory. Tried to allocate 2.00 MiB (GPU 0; 79.14 GiB total capacity)",
    "CUDA error: out of memory\nCUDA kernel errors might be asynchronously reported",
    "HIP out of memory. Tried to allocate 20.00 MiB",
    "CUDA driver error: out of memory",
    "XPU out of memory. Tried to allocate 1.00 GiB",
    "MPS backend out of memory "
    "(MPS allocated: 0 bytes, other allocations: 0 bytes, max allowed: 7.93 GB)",
    "Invalid buffer size: 1048576.00 GiB",
    "[enforce fail at alloc_cpu.cpp:75] err == 0. "
    "DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes.",
    "[enforce fail at alloc_cpu.cpp:127] data. "
    "DefaultCPUAllocator: not enough memory: you tried to allocate 8 bytes.",
    "unable to mmap 4096 bytes from file </torch_1_2>: Cannot allocate memory (12)",
    "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
    "cuDNN error: CUDNN_STATUS_ALLOC_FAILED",
    "Unable to find a valid cuDNN algorithm to run convolution",
    "NVML_SUCCESS == r INTERNAL ASSERT FAILED at "
    '"../c10/cuda/CUDACachingAllocator.cpp":1123, please report a bug',
    "NCCL error: unhandled cuda error. Last error: Cuda failure 2 'out of memory'",
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
# Like TEXTS, but not used to judge other libraries.
RARE_TEXTS = [
    "Invalid buffer size: 8.21 GB",
    "RESOURCE_EXHAUSTED: Out of memory allocating 8589934592 bytes.",
    "Out of Memory",
    "std::bad_alloc",
    "posix_memalign: Cannot allocate memory",
    "$ Torch: unable to mmap memory: you tried to mmap 4GB.",
    "unable to allocate shared memory(shm) for file </torch_1_2>: Success (0)",
    "Caught _ArrayMemoryError in DataLoader worker process 0.\n"
    "Unable to allocate 7.45 GiB for an array with shape (1000000000,) and data type float64",
    "cuFFT error: CUFFT_ALLOC_FAILED",
    "CUDA error: HIPBLAS_STATUS_ALLOC_FAILED when calling `hipblasCreate(handle)`",
    "CURAND_STATUS_ALLOCATION_FAILED",
    "CUDA error: cudaErrorMemoryAllocation",
    "Native API failed. Native API returns: 39 (UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)",
    "NVML_SUCCESS == DriverAPI::get()->nvmlInit_v2_() INTERNAL ASSERT FAILED at "
    '"/pytorch/c10/cuda/CUDACachingAllocator.cpp":983, please report a bug to PyTorch.',
]
LOOKALIKES = [
    "unable to mmap 80 bytes from file <memory.bin>: Invalid argument (22)",
    "Unable to allocate port 29500",
    "Invalid buffer size: got 3 rows, expected 4",
    "CUFFT_EXEC_FAILED",
    # expandable segments ask NVML about links between GPUs, regardless of free memory
    "NVML_SUCCESS == DriverAPI::get()->nvmlInit_v2_() INTERNAL ASSERT FAILED at "
    '"/pytorch/c10/cuda/PeerToPeerAccess.cpp":83, please report a bug to PyTorch.',
    "NVML_SUCCESS == r INTERNAL ASSERT FAILED",
    'block->expandable_segment_ INTERNAL ASSERT FAILED at "../c10/cuda/CUDACachingAllocator.cpp":9',
    "timeout of memory check",
]


@pytest.fixture(scope="module", autouse=True)
def quick_collections():
    """Makes the collector skip existing objects, because it is run in hundreds of attempts."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.parametrize("text", TEXTS + RARE_TEXTS)
def test_out_of_memory_texts_are_recognised(text):
    assert memory.is_out_of_memory(RuntimeError(text))


@pytest.mark.parametrize("text", OTHERS + LOOKALIKES)
def test_other_errors_are_not_taken_for_out_of_memory(text):
    assert not memory.is_out_of_memory(RuntimeError(text))


@given(st.sampled_from(TEXTS), st.text(max_size=30), st.text(max_size=30))
def test_a_text_inside_a_longer_one_is_still_recognised(known, before, after):
    assert memory.is_out_of_memory(RuntimeError(f"{before}\n{known}\n{after}"))


def test_types_count_before_texts():
    assert memory.is_out_of_memory(MemoryError())
    assert memory.is_out_of_memory(torch.cuda.OutOfMemoryError("any text"))
    assert not memory.is_out_of_memory(ValueError("CUDA out of memory"))
    assert not memory.is_out_of_memory(KeyboardInterrupt("out of memory"))
    assert not memory.is_out_of_memory(OSError(12, "Cannot allocate memory"))
    assert not memory.is_out_of_memory(RuntimeError())
    for kind in (MemoryError, torch.cuda.OutOfMemoryError):
        assert memory.is_out_of_memory(type("Own", (kind,), {})("any text"))


@pytest.mark.parametrize("kind", ["own", "AcceleratorError", "NotImplementedError"])
def test_a_subclass_of_runtime_error_counts_by_its_text(kind):
    class Own(RuntimeError):
        def __init__(self, text):
            self.text = text

        def __str__(self):
            return self.text

    made = {"own": Own, "NotImplementedError": NotImplementedError}.get(kind)
    if made is None and not (made := getattr(torch, kind, None)):
        pytest.skip(f"torch {torch.__version__} has no {kind}")
    assert memory.is_out_of_memory(made("CUDA error: out of memory"))
    assert not memory.is_out_of_memory(made("CUDA error: device-side assert triggered"))


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
    twice = ValueError("epoch failed")
    twice.__cause__ = chained(cause=True)
    assert memory.is_out_of_memory(twice)
    assert not memory.is_out_of_memory(
        chained(cause=False)
    )  # a bug in the handler is not an out-of-memory error
    loop = RuntimeError("a")
    loop.__cause__ = loop
    assert not memory.is_out_of_memory(loop)


def group(*errors):
    """An ExceptionGroup, which requires Python 3.11."""
    made = ValueError("group")
    made.exceptions = errors
    return made


def test_a_group_counts_if_all_in_it_count():
    oom, other = MemoryError(), ValueError("x")
    assert memory.is_out_of_memory(group(oom))
    assert memory.is_out_of_memory(group(oom, group(oom, oom)))
    for errors in ((oom, other), (other, oom), (oom, oom, oom, other)):
        assert not memory.is_out_of_memory(group(*errors))  # the other error would be lost
    assert not memory.is_out_of_memory(group())
    other.__cause__ = group(other)  # `raise group.exceptions[0] from group`
    assert not memory.is_out_of_memory(other)
    other.exceptions = "not exceptions"
    assert not memory.is_out_of_memory(other)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python has no groups")
def test_pythons_own_group_counts():
    assert memory.is_out_of_memory(ExceptionGroup("tasks", [MemoryError()]))  # noqa: F821


def exhaust(device):
    torch.empty(2**50, dtype=torch.uint8, device=device)


def test_the_real_error_of_this_device_is_recognised(device):
    with pytest.raises(RuntimeError) as caught:
        exhaust(device)
    assert memory.is_out_of_memory(caught.value)


class Step:
    """A run(size) that fits up to a limit. A leaked frame would keep its tensors alive."""

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


@pytest.mark.parametrize("fits", [0, 5, 8])
def test_the_caches_are_emptied_before_each_call_and_after_the_last(monkeypatch, fits):
    calls = []
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: calls.append("empty"))

    def run(size):
        calls.append(size)
        if size > fits:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 MiB")

    with contextlib.suppress(RuntimeError):
        memory.find_batch_size(run, largest=8)
    sizes = calls[1::2]
    assert sizes[0] == 8
    assert calls == ["empty", *(each for size in sizes for each in (size, "empty"))]


def test_nothing_is_remembered_between_searches():
    assert memory.find_batch_size(Step("cpu", 3), largest=64) == 3
    assert memory.find_batch_size(Step("cpu", 50), largest=64) == 50


@pytest.fixture
def collector_is_off():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("fits", [0, 2, 16])
@pytest.mark.usefixtures("collector_is_off")
def test_tensors_in_cycles_are_collected_between_tries_and_after_the_last(fits):
    alive = [cycle()]

    def run(size):
        assert [tensor() for tensor in alive] == [None] * len(alive)
        alive.append(cycle())
        if size > fits:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 MiB")

    with contextlib.suppress(RuntimeError):
        assert memory.find_batch_size(run, largest=16) == fits
    assert [tensor() for tensor in alive] == [None] * len(alive)


def cycle():
    """A weak reference to a tensor that only the garbage collector can free."""
    owner = [torch.ones(8)]
    owner.append(owner)
    return weakref.ref(owner[0])


def test_other_errors_pass_through_a_search():
    def run(size):
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    with pytest.raises(RuntimeError, match="^mat1"):
        memory.find_batch_size(run, 8)


@pytest.mark.parametrize("error", [KeyError("x"), KeyboardInterrupt(), SystemExit()])
def test_errors_and_interrupts_of_any_class_pass_through_a_search(error):
    tried = []

    def run(size):
        tried.append(size)
        raise error from MemoryError() if isinstance(error, KeyboardInterrupt) else None

    with pytest.raises(type(error)):
        memory.find_batch_size(run, 8)
    assert tried == [8]


@pytest.mark.parametrize("wrap", [lambda oom: ValueError("step failed"), group])
def test_a_search_goes_on_after_a_wrapped_error(wrap):
    def run(size):
        if size > 5:
            oom = RuntimeError("CUDA out of memory. Tried to allocate 2.00 MiB")
            raise wrap(oom) from oom

    assert memory.find_batch_size(run, largest=64) == 5


async def coroutine(size):
    await asyncio.sleep(0)


def generator(size):
    yield size


async def asynchronous_generator(size):
    yield size


@pytest.mark.parametrize("run", [coroutine, generator, asynchronous_generator])
@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited")
def test_a_run_that_has_done_nothing_yet_is_refused(run):
    expected = rf"^run\(8\) returned <.*{run.__name__}.*>: expected a function that does the work$"
    with pytest.raises(TypeError, match=expected):
        memory.find_batch_size(run, 8)


class Handle:
    """Like the handle of a request that continues in parallel to the run."""

    def __await__(self):
        yield


@pytest.mark.parametrize("result", [torch.ones(2), iter([1]), Handle()])
def test_a_run_may_return_what_it_likes(result):
    assert memory.find_batch_size(lambda size: result, 8) == 8


def test_what_a_run_returned_is_gone_before_the_next_and_after_the_last():
    alive = []

    def run(size):
        assert [tensor() for tensor in alive] == [None] * len(alive)
        returned = torch.ones(8)
        alive.append(weakref.ref(returned))
        if size > 3:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 MiB")
        return returned

    assert memory.find_batch_size(run, 8) == 3
    assert [tensor() for tensor in alive] == [None] * len(alive)


@pytest.mark.parametrize("whole", [numpy.int64, torch.tensor])
def test_whole_numbers_of_any_type_are_sizes(whole):
    step = Step("cpu", 5)
    found = memory.find_batch_size(step, whole(8), whole(2))
    assert (found, type(found)) == (5, int)
    assert {type(size) for size in step.sizes} == {int}


def test_the_text_of_the_last_error_is_quoted():
    def run(size):
        raise MemoryError(f"no room for {size}")

    with pytest.raises(RuntimeError, match="^even batch size 3 runs out of memory: no room for 3$"):
        memory.find_batch_size(run, 64, 3)


@pytest.mark.parametrize(
    ("largest", "smallest"),
    [(0, 1), (4, 0), (4, 5), (4.0, 1), (True, 1), (4, True), ("8", 1), (4, None)],
)
def test_impossible_ranges_are_refused(largest, smallest):
    asked = f"^smallest={smallest!r}, largest={largest!r}: expected whole numbers with 1 <= "
    with pytest.raises(ValueError, match=f"{asked}smallest <= largest$"):
        memory.find_batch_size(lambda size: None, largest, smallest)


def test_one_is_the_smallest_size_unless_asked_otherwise():
    assert memory.find_batch_size(Step("cpu", 1), largest=8) == 1


def test_an_error_without_a_text_is_quoted_by_its_type():
    def run(size):
        raise MemoryError

    with pytest.raises(RuntimeError, match="^even batch size 1 runs out of memory: MemoryError$"):
        memory.find_batch_size(run, 4)


def failed_step(device, alive):
    activations = torch.ones(8, device=device)
    alive.append(weakref.ref(activations))
    raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 MiB")


@pytest.mark.parametrize("where", ["except", "finally", "exit", "nested"])
def test_memory_is_freed_while_the_error_is_handled(device, where):
    alive = []

    def clean_up():
        assert alive[-1]() is not None
        memory.free_memory()
        assert alive[-1]() is None

    if where == "finally":
        with pytest.raises(RuntimeError, match="^CUDA out of memory"):  # noqa: PT012
            try:
                failed_step(device, alive)
            finally:
                clean_up()
    elif where == "exit":
        text = "^CUDA out of memory"
        with pytest.raises(RuntimeError, match=text), contextlib.ExitStack() as stack:  # noqa: PT012
            stack.callback(clean_up)
            failed_step(device, alive)
    else:
        try:
            failed_step(device, alive)
        except RuntimeError:
            if where == "except":
                clean_up()
            else:  # an error in the handler itself
                with contextlib.suppress(KeyError):
                    try:
                        raise KeyError("x")
                    finally:
                        clean_up()


def test_a_search_goes_on_where_run_cleans_up_itself_or_an_error_is_handled(device):
    def run(size):
        try:
            step(size)
        finally:
            memory.free_memory()

    step = Step(device, limit=5)
    try:
        raise MemoryError
    except MemoryError:
        assert memory.find_batch_size(run, largest=64) == 5


def test_frames_of_other_errors_are_left_alone():
    def failed():
        kept = torch.ones(8)
        alive.append(weakref.ref(kept))
        raise KeyError("x")

    alive = []
    try:
        failed()
    except KeyError:
        memory.free_memory()
        assert alive[0]() is not None


DEVICES = ["cuda", "xpu", "mps"]


@pytest.mark.parametrize("name", DEVICES)
def test_the_collector_runs_before_a_cache_is_emptied(monkeypatch, name):
    calls = []
    there = SimpleNamespace(empty_cache=lambda: calls.append(name))
    monkeypatch.setattr(torch, name, there, raising=False)
    for other in DEVICES:
        if other != name:
            monkeypatch.setattr(torch, other, SimpleNamespace(empty_cache=int), raising=False)
    monkeypatch.setattr(gc, "collect", lambda: calls.append("collect"))
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    memory.free_memory()
    assert calls == ["collect", name]


@pytest.mark.parametrize("there", [False, True])
def test_old_torch_without_xpu_and_mps_is_served(monkeypatch, there):
    calls = []
    mps = SimpleNamespace(empty_cache=lambda: calls.append("mps")) if there else None
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    monkeypatch.delattr(torch, "xpu", raising=False)
    monkeypatch.delattr(torch, "mps", raising=False)  # torch 2.0 does not import torch.mps
    monkeypatch.setitem(sys.modules, "torch.mps", mps)
    memory.free_memory()
    assert calls == ["mps"] * there


def test_a_device_that_nobody_has_used_stays_unused(monkeypatch):
    def empty():
        raise AssertionError("started")

    for name in ("_cuda_emptyCache", "_xpu_emptyCache", "_mps_emptyCache"):
        monkeypatch.setattr(torch._C, name, empty, raising=False)
    # empty_cache() calls the function under this name
    monkeypatch.setattr(torch.cuda.memory, "is_initialized", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    memory.free_memory()


def test_memory_of_dead_cycles_goes_back_to_the_driver(device):
    if device != "cuda":
        pytest.skip("only CUDA's allocator tells what it reserves")
    memory.free_memory()
    before = torch.cuda.memory_reserved()
    owner = [torch.empty(64 * 2**20, dtype=torch.uint8, device=device)]
    owner.append(owner)
    del owner
    memory.free_memory()
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
                return group(ValueError("first"), error)
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

    class Equal(RuntimeError):
        """Compares equal to every other error, because some exceptions compare by text."""

        __hash__ = RuntimeError.__hash__

        def __eq__(self, other):
            return True

    def failed():
        activations = torch.ones(8)
        alive.append(weakref.ref(activations))
        raise Equal("step failed")

    def caught():
        try:
            failed()
        except RuntimeError as error:
            return error

    top, cause, context, deeper = (caught() for _ in range(4))
    top.__cause__, top.__context__ = cause, context
    context.__cause__, deeper.__cause__ = deeper, top
    memory.drop_frames(top)
    gc.collect()
    assert [tensor() for tensor in alive] == [None] * 4


def test_every_frame_of_a_traceback_is_cleared_and_still_printed():
    alive = []

    def inner(kept):
        raise RuntimeError("step failed")

    def middle():
        kept = torch.ones(8)
        alive.append(weakref.ref(kept))
        inner(kept)

    def outermost():
        kept = torch.ones(8)
        alive.append(weakref.ref(kept))
        try:
            middle()
        except RuntimeError as error:
            return error

    error = outermost()
    before = traceback.format_exception(type(error), error, error.__traceback__)
    memory.drop_frames(error)
    assert [tensor() for tensor in alive] == [None, None]
    assert traceback.format_exception(type(error), error, error.__traceback__) == before


def test_frames_that_still_run_are_left_alone():
    kept = torch.ones(8)
    try:
        raise RuntimeError("step failed")
    except RuntimeError as error:
        memory.drop_frames(error)
    assert kept.sum() == 8


def test_a_generator_that_goes_on_after_its_error_is_left_alone():
    def rows():
        for row in range(4):
            try:
                if row == 1:
                    raise ValueError("bad row")
                yield row
            except ValueError as error:
                yield error

    got = [memory.drop_frames(row) if isinstance(row, Exception) else row for row in rows()]
    assert [row for row in got if not isinstance(row, Exception)] == [0, 2, 3]


def test_a_task_that_goes_on_after_its_error_is_left_alone():
    async def task(errors):
        try:
            raise ValueError("bad row")
        except ValueError as error:
            errors.append(error)
            await asyncio.sleep(0.01)
        return "done"

    async def main():
        errors = []
        waiting = asyncio.ensure_future(task(errors))
        await asyncio.sleep(0)
        memory.drop_frames(errors[0])
        return await asyncio.wait_for(waiting, 5)

    assert asyncio.run(main()) == "done"


def test_an_asynchronous_generator_that_goes_on_after_its_error_is_left_alone():
    async def rows(errors):
        try:
            raise ValueError("bad row")
        except ValueError as error:
            errors.append(error)
        yield 1
        yield 2

    async def main():
        errors, got = [], []
        async for row in rows(errors):
            got.append(row)
            memory.drop_frames(errors[0])
            await asyncio.sleep(0.01)  # now the loop may close generators
        return got

    assert asyncio.run(main()) == [1, 2]


def test_a_generator_that_its_error_has_ended_is_cleared():
    alive = []

    def steps():
        activations = torch.ones(8)
        alive.append(weakref.ref(activations))
        yield 1
        raise RuntimeError("step failed")

    try:
        list(steps())
    except RuntimeError as error:
        kept = memory.drop_frames(error)
    assert str(kept) == "step failed"
    assert alive[0]() is None


def test_a_tensor_that_lacks_an_attribute_can_be_freed():
    tensor = torch.ones(8)
    alive = weakref.ref(tensor)
    try:
        tensor.shap  # noqa: B018
    except AttributeError as error:
        kept = memory.drop_frames(error)
    del tensor
    assert "shap" in str(kept)
    assert kept.obj is None
    assert alive() is None
    wrapper, cause = ValueError(), type("Own", (AttributeError,), {})()
    wrapper.__cause__, cause.obj = cause, torch.ones(8)
    memory.drop_frames(wrapper)
    assert cause.obj is None


@pytest.mark.parametrize("convert", [nn.Module.double, nn.Module.cpu])
def test_gradients_are_converted_with_the_model(device, convert):
    if device == "mps" and convert is nn.Module.double:
        convert = nn.Module.half  # MPS has no float64
    model = nn.Linear(2, 1).to(device)
    for parameter in model.parameters():
        parameter.grad = torch.full_like(parameter, 7.0)
    with pytest.raises(KeyError), memory.scratch_gradients(model):  # noqa: PT012
        convert(model)
        raise KeyError
    for parameter in model.parameters():
        assert parameter.grad.dtype == parameter.dtype
        assert parameter.grad.device == parameter.device
        assert bool((parameter.grad == 7).all())


def test_gradients_stay_the_same_objects_where_the_block_converts_back():
    model = nn.Linear(2, 1)
    model.weight.grad = before = torch.ones(1, 2)
    with memory.scratch_gradients(model):
        model.double().float()
    assert model.weight.grad is before
    assert model.bias.grad is None


@pytest.mark.parametrize("graph", [False, True])
def test_views_get_their_values_back_before_they_are_converted(graph):
    model, bucket = nn.Linear(2, 1, bias=False), torch.full((2, 2), 7.0)
    model.weight.grad = bucket[:1].requires_grad_(graph)
    with memory.scratch_gradients(model):
        bucket.zero_()
        model.double()
    assert model.weight.grad.tolist() == [[7.0, 7.0]]
    assert model.weight.grad.dtype == torch.float64


def test_a_view_that_is_not_contiguous_gets_its_values_back():
    layer = nn.Conv2d(3, 4, 2).to(memory_format=torch.channels_last)
    bucket = torch.arange(48.0)
    layer.weight.grad = before = bucket.view(4, 2, 2, 3).permute(0, 3, 1, 2)
    with memory.scratch_gradients(layer):
        bucket.zero_()
    assert layer.weight.grad is before
    assert torch.equal(bucket, torch.arange(48.0))


def test_a_block_starts_without_gradients_even_if_they_are_views():
    model, bucket = nn.Linear(2, 1, bias=False), torch.full((2, 2), 7.0)
    model.weight.grad = bucket[:1]
    with memory.scratch_gradients(model):
        model(torch.ones(1, 2)).sum().backward()
        assert model.weight.grad.tolist() == [[1.0, 1.0]]


def test_frozen_parameters_get_their_gradients_back():
    model = nn.Linear(2, 1).requires_grad_(False)
    model.weight.grad = before = torch.ones(1, 2)
    with memory.scratch_gradients(model):
        assert model.weight.grad is None
        model.requires_grad_(True)
        model(torch.ones(3, 2)).sum().backward()
        model.requires_grad_(False)
    assert model.weight.grad is before
    assert model.bias.grad is None


@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt])
@given(st.lists(st.booleans(), min_size=2, max_size=2))
def test_scratch_gradients_leaves_every_gradient_as_it_was(device, error, present):
    model = nn.Linear(2, 1).to(device)
    for parameter, wanted in zip(model.parameters(), present):
        parameter.grad = torch.full_like(parameter, 7.0) if wanted else None
    before = [parameter.grad for parameter in model.parameters()]
    versions = [getattr(gradient, "_version", None) for gradient in before]
    with pytest.raises(error), memory.scratch_gradients(model):  # noqa: PT012
        model(torch.ones(3, 2, device=device)).sum().backward()
        assert model.bias.grad == 3
        raise error
    for parameter, gradient in zip(model.parameters(), before):
        assert parameter.grad is gradient
        assert gradient is None or bool((gradient == 7.0).all())
    assert [getattr(gradient, "_version", None) for gradient in before] == versions  # no copy to it


def test_gradients_that_are_views_into_the_buckets_of_ddp_are_untouched(tmp_path):
    from torch import distributed

    # Must not query a GPU of this machine.
    with mock.patch("torch.cuda.is_available", return_value=False):
        meeting = f"file://{tmp_path / 'meeting'}"
        distributed.init_process_group("gloo", init_method=meeting, rank=0, world_size=1)
        try:
            net, x = nn.Linear(2, 1), torch.ones(1, 2)
            model = nn.parallel.DistributedDataParallel(net, gradient_as_bucket_view=True)
            for _ in range(2):
                model.zero_grad()
                model(x).sum().backward()
            gradients = [parameter.grad for parameter in net.parameters()]
            for fails in (False, True):
                with contextlib.suppress(ArithmeticError), memory.scratch_gradients(model):
                    (model(x).sum() * 7).backward()
                    if fails:
                        raise ArithmeticError
                for parameter, gradient in zip(net.parameters(), gradients):
                    assert parameter.grad is gradient
                    assert torch.equal(gradient, torch.ones_like(gradient))
            model(x).sum().backward()
            assert all(torch.equal(g, torch.full_like(g, 2.0)) for g in gradients)
        finally:
            distributed.destroy_process_group()
