import math
from unittest import mock

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from reference_fixes import randomness

LOW = [torch.float16, torch.bfloat16]
DTYPES = [*LOW, torch.float32, torch.float64]
FILLS = ["exponential_", "normal_", "trunc_normal_"]
# the smallest numbers: in float16, subnormal numbers count
LEAST = {dtype: torch.finfo(dtype).tiny for dtype in DTYPES} | {torch.float16: 2.0**-24}
COUNT = 100_000
VERSION = tuple(int(part) for part in torch.__version__.split(".")[:2])


@pytest.fixture
def dtypes(device):
    """The dtypes that the device supports."""
    return [dtype for dtype in DTYPES if device != "mps" or dtype != torch.float64]


def seeded(name, device, seed=0):
    """A generator for the function. For MPS, trunc_normal_ draws on the CPU."""
    home = "cpu" if (name, device) == ("trunc_normal_", "mps") else device
    return torch.Generator(home).manual_seed(seed)


def fill(name, tensor, *options, seed=0):
    generator = seeded(name, tensor.device.type, seed)
    return getattr(randomness, name)(tensor, *options, generator=generator)


def numbers(name, device, *options, dtype=torch.float32, count=COUNT, seed=0):
    """Draws numbers, and returns them as float64 on the CPU."""
    return (
        fill(name, torch.empty(count, dtype=dtype, device=device), *options, seed=seed)
        .cpu()
        .double()
    )


def normal_cdf(z):
    # Far out in the tail, torch.special.ndtr() returns 0.
    return torch.erfc(torch.as_tensor(z, dtype=torch.float64) / -math.sqrt(2)) / 2


def distance(x, cdf):
    """Kolmogorov's distance. For 100,000 numbers, 1 in 200 million distances reaches 0.01."""
    x, count = x.sort().values, len(x)
    steps = torch.arange(count, dtype=torch.float64) / count
    return max((cdf(x) - steps).abs().max(), (cdf(x) - steps - 1 / count).abs().max()).item()


# ---- all functions ----


@pytest.mark.parametrize("name", FILLS)
@given(
    shape=st.lists(st.integers(0, 4), max_size=3).map(tuple),
    dtype=st.sampled_from(DTYPES),
    seed=st.integers(0, 2**32 - 1),
)
def test_a_tensor_is_filled_in_place_and_returned(device, name, shape, dtype, seed):
    if device == "mps" and dtype == torch.float64:
        return
    tensor = torch.full(shape, math.nan, dtype=dtype, device=device)
    view = tensor.view(-1)
    assert fill(name, tensor, seed=seed) is tensor
    assert (tensor.shape, tensor.dtype) == (shape, dtype)
    assert view.isfinite().all()


@pytest.mark.parametrize("name", FILLS)
def test_autograd_notices_that_a_tensor_is_filled(device, name):
    x = torch.ones(2, device=device, requires_grad=True)
    square = x * x
    fill(name, x)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        square.sum().backward()


@pytest.mark.parametrize("name", FILLS)
def test_gradients_stay_disabled_where_they_are(device, name):
    with torch.no_grad():
        fill(name, torch.empty(2, device=device))
        assert not torch.is_grad_enabled()


@pytest.mark.parametrize("name", FILLS)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_generator_gives_the_same_numbers_again_and_then_others(device, name, seed):
    before = torch.random.get_rng_state()
    first, second = (numbers(name, device, count=20, seed=seed) for _ in range(2))
    assert torch.equal(first, second)
    generator = seeded(name, device, seed)
    draw = getattr(randomness, name)
    one = draw(torch.empty(20, device=device), generator=generator)
    two = draw(torch.empty(20, device=device), generator=generator)
    assert not torch.equal(one, two)
    assert torch.equal(before, torch.random.get_rng_state())


@pytest.mark.parametrize("name", FILLS)
def test_without_a_generator_it_is_torchs_own(device, name):
    draw = getattr(randomness, name)
    with torch.random.fork_rng():
        torch.manual_seed(3)
        one = draw(torch.empty(20, device=device))
        torch.manual_seed(3)
        two = draw(torch.empty(20, device=device))
    assert torch.equal(one, two)
    assert not torch.equal(one.cpu(), fill(name, torch.empty(20, device=device), seed=4).cpu())


@pytest.mark.parametrize("name", FILLS)
@given(shape=st.lists(st.integers(1, 5), min_size=1, max_size=3), dtype=st.sampled_from(LOW))
def test_dtype_strides_and_requires_grad_do_not_change_what_is_drawn(device, name, shape, dtype):
    plain = fill(name, torch.empty(shape, device=device))
    reverse = [*range(len(shape))][::-1]
    strided = torch.empty(shape[::-1], device=device, dtype=dtype).permute(reverse)
    parameter = torch.nn.Parameter(strided)
    fill(name, parameter)
    if name == "exponential_":
        plain = plain.clamp(min=LEAST[dtype])
    assert torch.equal(parameter.detach(), plain.to(dtype))
    assert parameter.requires_grad
    assert parameter.grad_fn is None


@pytest.mark.parametrize("name", FILLS)
@pytest.mark.parametrize(
    ("tensor", "message"),
    [
        ([1.0], r"^expected a tensor to fill, got list \[1\.0\]$"),
        (
            torch.zeros(2).long(),
            "^expected a dense tensor of float16, bfloat16, float32 or float64, got torch.int64 in",
        ),
        (torch.zeros(2, dtype=torch.cfloat), "^expected a dense .*, got torch.complex64 in "),
        (torch.zeros(2).to_sparse(), "got torch.float32 in torch.sparse_coo$"),
        (torch.eye(2).to_sparse_csr(), "got torch.float32 in torch.sparse_csr$"),
        (torch.zeros(2).numpy(), "^expected a tensor to fill, got ndarray "),
    ],
)
def test_what_cannot_be_filled_is_refused(name, tensor, message):
    with pytest.raises(TypeError, match=message):
        getattr(randomness, name)(tensor)


FLOAT8 = [
    getattr(torch, name)
    for name in ("float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "float4_e2m1fn_x2")
    if hasattr(torch, name)
]


@pytest.mark.parametrize("name", FILLS)
@pytest.mark.parametrize("dtype", FLOAT8)
def test_a_dtype_that_nothing_is_drawn_for_is_refused_by_its_name(name, dtype):
    tensor = torch.zeros(2, dtype=torch.uint8).view(dtype)
    with pytest.raises(TypeError, match=f"float32 or float64, got {dtype} in torch.strided$"):
        getattr(randomness, name)(tensor)
    assert not tensor.view(torch.uint8).any()


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("normal_", {"mean": math.nan}, "^mean=nan: expected a finite number$"),
        ("normal_", {"mean": math.inf}, "^mean=inf: expected a finite number$"),
        ("normal_", {"std": 0.0}, r"^std=0\.0: expected a positive number$"),
        ("normal_", {"std": math.inf}, "^std=inf: expected a positive number$"),
        ("trunc_normal_", {"mean": -math.inf}, "^mean=-inf: expected a finite number$"),
        ("trunc_normal_", {"std": -1.0}, r"^std=-1\.0: expected a positive number$"),
        ("exponential_", {"rate": 0}, "^rate=0: expected a positive number$"),
        ("exponential_", {"rate": math.nan}, "^rate=nan: expected a positive number$"),
        ("exponential_", {"rate": math.inf}, "^rate=inf: expected a positive number$"),
        (
            "trunc_normal_",
            {"a": 2.0, "b": -2.0, "mean": 1.0, "std": 3.0},
            r"^a=2\.0, b=-2\.0: no number .* probability, with mean=1\.0 and std=3\.0$",
        ),
        ("trunc_normal_", {"a": 1.0, "b": 1.0}, r"^a=1\.0, b=1\.0: no number between them"),
        ("trunc_normal_", {"a": 40.0, "b": 41.0}, r"^a=40\.0, b=41\.0: no number between them"),
        ("trunc_normal_", {"b": math.nan}, r"^a=-2\.0, b=nan: no number between them"),
    ],
)
def test_numbers_that_make_no_distribution_are_refused(name, options, message):
    tensor, generator = torch.zeros(2), torch.Generator().manual_seed(0)
    before = generator.get_state()
    with pytest.raises(ValueError, match=message):
        getattr(randomness, name)(tensor, **options, generator=generator)
    assert not tensor.any()
    assert torch.equal(generator.get_state(), before)


# ---- normal_ ----


@pytest.mark.parametrize("dtype", DTYPES)
def test_normal_numbers_have_tails_in_every_dtype_166853(device, dtypes, dtype):
    if dtype not in dtypes:
        pytest.skip("MPS has no float64")
    x = (numbers("normal_", device, 3.0, 0.5, dtype=dtype) - 3.0) / 0.5
    # 47 numbers are expected beyond 3.5, with a standard deviation of 7.
    assert 10 < (x.abs() > 3.5).sum() < 100
    assert (x > 3.5).any()
    assert (x < -3.5).any()
    assert abs(x.mean()) < 0.03
    assert abs(x.std() - 1) < 0.03
    if dtype not in LOW:
        assert distance(x, normal_cdf) < 0.01


@pytest.mark.parametrize("name", FILLS)
def test_float64_gets_numbers_that_float32_has_not(device, name):
    if device == "mps":
        pytest.skip("MPS has no float64")
    x = numbers(name, device, dtype=torch.float64, count=100)
    assert (x != x.float()).any()


def test_normal_numbers_are_rounded_once_from_float32(device):
    expected = torch.empty(50, device=device).normal_(1.0, 2.0, generator=seeded("", device))
    found = fill("normal_", torch.empty(50, device=device, dtype=torch.bfloat16), 1.0, 2.0)
    assert torch.equal(found, expected.to(torch.bfloat16))


@pytest.mark.skipif(VERSION < (2, 12), reason="torch's own has no tails in bfloat16")
@pytest.mark.parametrize("dtype", LOW)
def test_since_2_12_torchs_own_normal_numbers_have_tails(device, dtype):
    x = torch.empty(COUNT, dtype=dtype, device=device).normal_(generator=seeded("", device))
    assert 10 < (x.abs() > 3.5).sum() < 100


# ---- exponential_ ----


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rate", [0.5, 4, 1e5])  # with 1e5, most float16 numbers are subnormal
def test_exponential_numbers_have_their_distribution_and_are_never_zero(
    device, dtypes, dtype, rate
):
    if dtype not in dtypes:
        pytest.skip("MPS has no float64")
    x = numbers("exponential_", device, rate, dtype=dtype) * rate
    assert x.min() > 0
    assert x.max() > 8  # 34 numbers are expected above 8
    assert abs(x.mean() - 1) < 0.03
    if dtype not in LOW:
        assert distance(x, lambda x: -torch.expm1(-x)) < 0.01


def exponential_from(uniform, dtype, rate=1.0):
    """The result of exponential_() if uniform_() returns this number."""
    with mock.patch.object(torch.Tensor, "uniform_", lambda x, generator: x.fill_(uniform)):
        return randomness.exponential_(torch.empty(1, dtype=dtype), rate).item()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rate", [1.0, 4.0])
def test_a_uniform_number_of_zero_gives_half_of_the_smallest_other_number(dtype, rate):
    step = 2.0**-53 if dtype == torch.float64 else 2.0**-24  # the resolution of uniform_()
    found, smallest = (exponential_from(uniform, dtype, rate) for uniform in (0.0, step))
    least = LEAST[dtype]  # the step is larger, except in float16
    assert smallest == pytest.approx(max(least, step / rate), rel=1e-2)
    assert found == pytest.approx(max(least, step / rate / 2), rel=1e-2)


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_exponential_number_that_the_dtype_has_not_is_its_smallest(dtype):
    assert exponential_from(0.0, dtype, 3e38) == LEAST[dtype] or dtype == torch.float64
    assert exponential_from(0.0, dtype, 3e38) > 0


def test_no_item_of_no_weight_wins_a_draw_whatever_uniform_gives():
    """The example in the docstring, with uniform_() returning 0 for all other items."""
    weights = torch.tensor([1.0] + [1e-15] * 9)

    def uniform_(x, generator):
        return x.zero_().index_fill_(0, torch.tensor([0]), 1 - 2.0**-24)

    with mock.patch.object(torch.Tensor, "uniform_", uniform_):
        drawn = randomness.exponential_(torch.empty(10))
    assert (weights / drawn).argmax() == 0


@pytest.mark.skipif(VERSION < (2, 7), reason="torch's own repeats itself in 2.0 to 2.6")
def test_since_2_7_torchs_own_exponential_does_the_same(device):
    one, two = (
        torch.empty(1000, device=device).exponential_(generator=seeded("", device, seed))
        for seed in SEEDS
    )
    assert not torch.equal(one, two)
    for dtype in LOW:
        x = torch.empty(COUNT, dtype=dtype, device=device)
        x.exponential_(generator=seeded("", device))
        assert x.min() > 0
        assert x.max() > 8


# Both seeds start with the same number and continue with different numbers.
SEEDS = 27024, 51983


def test_generators_in_different_states_give_different_numbers_132395(device):
    one, two = (numbers("exponential_", device, count=1000, seed=seed) for seed in SEEDS)
    assert not torch.equal(one, two)


# ---- trunc_normal_ ----

INTERVALS = [
    (0.0, 0.02, -2.0, 2.0),  # usual for initial weights, with practically no bounds
    (0.0, 1.0, -2.0, 2.0),
    (0.0, 1.0, -math.inf, math.inf),
    (1.0, 2.0, 2.0, math.inf),
    (1.0, 2.0, -math.inf, 0.0),
    (1.0, 0.02, 1.1, 1.2),  # 5 to 10 standard deviations
    (1.0, 0.02, 0.8, 0.9),
    (-3.0, 1.0, 27.0, 28.0),  # 30 standard deviations
    (3.0, 1.0, -28.0, -27.0),
    (0.0, 1.0, -0.5, 2.5),
]


@pytest.mark.parametrize("interval", INTERVALS)
def test_truncated_numbers_have_their_distribution(device, interval):
    mean, std, a, b = interval
    x = numbers("trunc_normal_", device, *interval)
    if device != "mps":
        x = numbers("trunc_normal_", device, *interval, dtype=torch.float64)
        assert a < x.min()
        assert x.max() < b
    low, high = ((bound - mean) / std for bound in (a, b))
    z = (x - mean) / std
    if low + high > 0:  # numbers are more accurate in the lower tail
        low, high, z = -high, -low, -z
    start, end = normal_cdf(low), normal_cdf(high)
    assert distance(z, lambda z: (normal_cdf(z) - start) / (end - start)) < 0.01


@pytest.mark.parametrize("dtype", DTYPES)
def test_no_weight_is_at_the_bound_145498(device, dtypes, dtype):
    if dtype not in dtypes:
        pytest.skip("MPS has no float64")
    x = numbers("trunc_normal_", device, 0.0, 0.02, dtype=dtype) / 0.02
    assert x.abs().max() < 10
    assert 10 < (x.abs() > 3.5).sum() < 100


@given(
    a=st.floats(-6, 5.5),
    width=st.floats(0.01, 10),
    std=st.floats(0.01, 100),
    dtype=st.sampled_from(DTYPES),
)
def test_every_number_lies_between_the_bounds_as_the_dtype_has_them(device, a, width, std, dtype):
    if device == "mps" and dtype == torch.float64:
        return
    a, b = a * std, (a + width) * std
    tensor = torch.empty(200, dtype=dtype, device=device)
    randomness.trunc_normal_(tensor, 0.0, std, a, b)
    bounds = torch.tensor([a, b], dtype=torch.float64).to(dtype).to(device)
    assert (tensor >= bounds[0]).all()
    assert (tensor <= bounds[1]).all()


@pytest.mark.skipif(VERSION < (2, 12), reason="torch's own puts outliers on the bounds")
@pytest.mark.parametrize("interval", INTERVALS[:1] + INTERVALS[5:9])
def test_since_2_12_torchs_own_truncated_numbers_have_their_distribution(device, interval):
    mean, std, a, b = interval
    x = torch.empty(COUNT, device=device)
    torch.nn.init.trunc_normal_(x, *interval, generator=seeded("", device))
    z, (low, high) = (x.cpu().double() - mean) / std, ((bound - mean) / std for bound in (a, b))
    if low + high > 0:
        low, high, z = -high, -low, -z
    start, end = normal_cdf(low), normal_cdf(high)
    assert distance(z, lambda z: (normal_cdf(z) - start) / (end - start)) < 0.01


def drawn_from(uniform, *interval, dtype=torch.float64):
    with mock.patch.object(torch.Tensor, "uniform_", lambda x, generator: x.fill_(uniform)):
        return randomness.trunc_normal_(torch.empty(1, dtype=dtype), *interval).item()


ENDS = [0.0, 1 - 2**-53]  # the extremes of uniform_()


@pytest.mark.parametrize("uniform", ENDS)
@pytest.mark.parametrize("bounds", [(-math.inf, math.inf), (-2.0, 2.0), (-2.0, 2.01), (-2.0, 3.0)])
def test_the_ends_of_the_uniform_numbers_are_finite(uniform, bounds):
    expected = torch.special.ndtri(torch.tensor(uniform or 2**-54, dtype=torch.float64)).item()
    mirrored = sum(bounds) > 0  # in this case, the upper tail is mirrored
    found = drawn_from(uniform, 0.0, 0.02, *bounds)
    assert found == pytest.approx((-expected if mirrored else expected) * 0.02, rel=1e-3)


@pytest.mark.parametrize("uniform", ENDS)
def test_no_bound_is_passed_by_rounding_in_float64(uniform):
    for n in range(1, 200):
        a, b = n / 37 - 3, n / 29
        assert a <= drawn_from(uniform, 0.1, 1.7, a, b) <= b


@pytest.mark.parametrize(
    ("name", "options"),
    [("normal_", (0.0, 1.0)), ("exponential_", (1.0,)), ("trunc_normal_", (0.0, 1.0, -2.0, 2.0))],
)
def test_defaults_are_those_of_torchs_own(device, name, options):
    assert torch.equal(numbers(name, device, count=9), numbers(name, device, *options, count=9))


def test_arguments_are_those_of_torchs_own(device):
    x, y = (torch.empty(100, device=device) for _ in range(2))
    randomness.trunc_normal_(x, 1.0, 2.0, 0.5, 1.5, seeded("trunc_normal_", device))
    randomness.trunc_normal_(
        y, mean=1.0, std=2.0, a=0.5, b=1.5, generator=seeded("trunc_normal_", device)
    )
    assert torch.equal(x, y)
    torch.nn.init.trunc_normal_(x.cpu(), 1.0, 2.0, 0.5, 1.5)  # MPS lacks erfinv before torch 2.1


def test_trunc_normal_draws_in_float64_once(device):
    """A copy would take twice as many bytes."""
    if device == "mps":
        pytest.skip("there it is drawn on the CPU")
    tensor = torch.empty(1000, dtype=torch.bfloat16, device=device)
    made = []
    original = torch.Tensor.uniform_

    def uniform_(x, generator):
        made.append(x)
        return original(x, generator=generator)

    with mock.patch.object(torch.Tensor, "uniform_", uniform_):
        randomness.trunc_normal_(tensor)
    (drawn,) = made
    assert drawn.dtype == torch.float64
    assert torch.equal(drawn.to(torch.bfloat16), tensor)  # `drawn` changed in place


class OnMPS(torch.Tensor):
    """A CPU tensor that claims to be on MPS."""

    device = torch.device("mps")


def test_trunc_normal_draws_for_mps_on_the_cpu_and_for_others_where_they_are(device):
    tensor = torch.empty(20).as_subclass(OnMPS)
    generator = torch.Generator().manual_seed(0)
    with mock.patch.object(torch, "empty_like", wraps=torch.empty_like) as empty_like:
        randomness.trunc_normal_(tensor, generator=generator)
        assert empty_like.call_args.kwargs["device"] == "cpu"
        other = torch.empty(20, device=device)
        randomness.trunc_normal_(other)
        if device != "mps":
            assert empty_like.call_args.kwargs["device"] == other.device
    expected = fill("trunc_normal_", torch.empty(20))
    assert torch.equal(tensor.as_subclass(torch.Tensor), expected)
