import contextlib
import itertools
import math
import threading
from unittest import mock

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.parametrize import register_parametrization

from reference_fixes import attention

SDPA = getattr(F, "scaled_dot_product_attention", None)
needs_sdpa = pytest.mark.skipif(SDPA is None, reason="new in torch 2.0")
FEATURES, HEADS = 8, 2
OPEN = torch.zeros(2, 3, dtype=torch.bool)


@st.composite
def cases(draw):
    """Draws padding and options for attention_mask()."""
    batch, heads, keys = (draw(st.integers(1, 3)) for _ in range(3))
    causal = draw(st.booleans())
    queries = keys if causal else draw(st.integers(1, 3))
    padding = [[draw(st.booleans()) for _ in range(keys)] for _ in range(batch)]
    shape = draw(
        st.sampled_from(
            [
                None,
                (),
                (queries, keys),
                (heads, 1, keys),
                (batch, 1, queries, 1),
                (batch, heads, queries, keys),
            ]
        )
    )
    bias = None
    if shape is not None:
        numbers = st.sampled_from([-math.inf, -2.0, 0.0, 0.5])
        count = math.prod(shape)
        values = [draw(numbers) for _ in range(count)]
        of_bias = draw(st.sampled_from([torch.float32, torch.float16, torch.bfloat16]))
        bias = torch.tensor(values, dtype=of_bias).reshape(shape)
    dtypes = [torch.float32, torch.float16, torch.bfloat16, torch.float64]
    dtype = draw(st.sampled_from(dtypes))
    options = {"causal": causal, "bias": bias, "dtype": dtype}
    if queries != keys or draw(st.booleans()):
        options["queries"] = queries
    return torch.tensor(padding), heads, queries, options


def scores_to_add(padding, heads, queries, causal, bias):
    """The numbers to add to the scores, computed from the definition in pure Python."""
    batch, keys = padding.shape
    bias = torch.zeros(()) if bias is None else bias
    bias = bias.expand(batch, heads, queries, keys).tolist()
    return [
        [
            [
                [
                    -math.inf if padding[b, k] or (causal and k > q) else bias[b][h][q][k]
                    for k in range(keys)
                ]
                for q in range(queries)
            ]
            for h in range(heads)
        ]
        for b in range(batch)
    ]


def on(device, options):
    bias = options["bias"]
    return {**options, "bias": None if bias is None else bias.to(device)}


# ---- attention_mask ----


@given(cases())
def test_a_mask_holds_padding_causality_and_bias_and_no_empty_row(device, case):
    padding, heads, queries, options = case
    mask, empty = attention.attention_mask(padding.to(device), heads, **on(device, options))
    expected = scores_to_add(padding, heads, queries, options["causal"], options["bias"])
    assert mask.shape == (len(padding), heads, queries, padding.shape[1])
    assert mask.dtype == options["dtype"]
    for b, of_batch in enumerate(expected):
        for q in range(queries):
            assert empty[b, q] == all(
                score == -math.inf for of_head in of_batch for score in of_head[q]
            )
        for h, of_head in enumerate(of_batch):
            for q, row in enumerate(of_head):
                row = [0.0] * len(row) if set(row) == {-math.inf} else row
                assert mask[b, h, q].tolist() == row
    assert empty.dtype == torch.bool
    assert empty.shape == (len(padding), queries)


@needs_sdpa
@given(cases())
def test_scaled_dot_product_attention_sees_what_it_may_and_gradients_are_finite(device, case):
    padding, heads, queries, options = case
    options["dtype"] = torch.float32
    mask, empty = attention.attention_mask(padding.to(device), heads, **on(device, options))
    torch.manual_seed(0)
    shapes = queries, *[padding.shape[1]] * 2
    q, k, v = (
        torch.randn(len(padding), heads, n, 4, device=device, requires_grad=True) for n in shapes
    )
    y = SDPA(q, k, v, attn_mask=mask).masked_fill(empty[:, None, :, None], 0.0)
    added = torch.tensor(
        scores_to_add(padding, heads, queries, options["causal"], options["bias"]), device=device
    )
    weights = (q @ k.transpose(-2, -1) / 2 + added).softmax(-1)
    seen = ~weights.isnan().any(-1, keepdim=True)
    torch.testing.assert_close(y * seen, weights.nan_to_num(0.0) @ v, rtol=1e-4, atol=1e-5)
    y.sum().backward()
    assert all(x.grad.isfinite().all() for x in (q, k, v))


PATHS = [
    "attention with weights",
    "attention",
    "attention in eval mode",
    "layer",
    "layer on its fast path",
    "encoder",
    "encoder on its fast path",
    "encoder without its fast path",
]


def module_of(path, device, dropout=0.0):
    torch.manual_seed(0)
    if path.startswith("attention"):
        return nn.MultiheadAttention(FEATURES, HEADS, dropout, batch_first=True).to(device)
    module = nn.TransformerEncoderLayer(FEATURES, HEADS, 16, dropout, batch_first=True)
    if path.startswith("encoder"):
        module = nn.TransformerEncoder(module, 2)
    return module.to(device)


def run(path, module, x, mask):
    module.train("eval" not in path and "fast path" not in path)
    if path.startswith("attention"):
        with torch.set_grad_enabled("eval" not in path):
            return module(x, x, x, attn_mask=mask, need_weights=path.endswith("weights"))[0]
    if "without" in path:
        with torch.no_grad(), attention.without_fast_path(module):
            return module(x, mask)
    with torch.set_grad_enabled("fast path" not in path):
        return module(x, mask)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("path", PATHS)
def test_padding_changes_nothing_on_any_path(device, path, causal):
    """Wherever the padding is, each sequence has the same output as alone and without padding."""
    padding = torch.tensor(list(itertools.product([False, True], repeat=4)), device=device)
    module = module_of(path, device)
    x = torch.randn(*padding.shape, FEATURES, device=device)
    mask, empty = attention.attention_mask(padding, HEADS, causal=causal)
    y = run(path, module, x, mask.flatten(0, 1))
    assert y.shape == x.shape
    y = y.masked_fill(empty[..., None], 0.0)
    assert y.isfinite().all()
    for n, tokens in enumerate(~padding):
        count = int(tokens.sum())
        if not count:
            assert not y[n].any()
            continue
        future = torch.ones(count, count, dtype=torch.bool, device=device).triu(1)
        alone = run(path, module, x[n : n + 1, tokens], future if causal else None)
        torch.testing.assert_close(y[n, tokens], alone[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("path", ["attention with weights", "attention", "layer", "encoder"])
def test_a_sequence_without_a_token_leaves_the_gradients_of_the_others_alone(device, path):
    x = torch.linspace(-1, 1, 6 * FEATURES, device=device).reshape(2, 3, FEATURES).sin()
    padding = torch.tensor([[False, False, True], [True, True, True]], device=device)
    gradients = []
    for count in (1, 2):
        module = module_of(path, device)
        mask, empty = attention.attention_mask(padding[:count], HEADS)
        y = run(path, module, x[:count], mask.flatten(0, 1)).masked_fill(empty[..., None], 0.0)
        (y * x[:count].exp()).sum().backward()
        gradients.append([parameter.grad for parameter in module.parameters()])
    for alone, together in zip(*gradients):
        torch.testing.assert_close(together, alone, rtol=1e-3, atol=1e-5)
        assert alone.isfinite().all()


def test_a_float_bias_does_not_let_padding_through_92554(device):
    module = module_of("attention", device)
    padding = torch.tensor([[False, False, True]], device=device)
    bias = torch.zeros(3, 3, device=device)
    mask, _ = attention.attention_mask(padding, HEADS, bias=bias)
    x = torch.linspace(-1, 1, 24, device=device).reshape(1, 3, FEATURES).sin()
    other = x.clone()
    other[:, 2] = x[:, 0]  # only the padded token differs
    one, two = (run("attention", module, tokens, mask.flatten(0, 1)) for tokens in (x, other))
    torch.testing.assert_close(one[:, 0], two[:, 0])


def test_a_learned_bias_gets_finite_gradients_where_it_is_seen(device):
    bias = torch.zeros(HEADS, 2, 2, device=device, requires_grad=True)
    padding = torch.tensor([[False, True], [True, True]], device=device)
    mask, _ = attention.attention_mask(padding, HEADS, bias=bias)
    (mask.exp() * 3).sum().backward()
    assert torch.equal(bias.grad, torch.tensor([[3.0, 0.0]] * 2, device=device).expand(2, 2, 2))


def test_queries_that_are_hidden_from_some_heads_only_are_not_empty():
    bias = torch.tensor([-math.inf, 0.0])[:, None, None].expand(2, 1, 3)
    mask, empty = attention.attention_mask(torch.zeros(1, 3, dtype=torch.bool), 2, bias=bias)
    assert not empty.any()
    assert not mask.any()


@pytest.mark.parametrize("value", [math.inf, math.nan, torch.finfo(torch.float32).min])
def test_no_number_but_minus_infinity_hides_a_key(value):
    bias = torch.full((3, 3), value)
    mask, empty = attention.attention_mask(OPEN, 2, bias=bias)
    assert not empty.any()
    torch.testing.assert_close(mask, bias.expand(2, 2, 3, 3), rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize(("batch", "keys"), [(0, 3), (2, 0)])
def test_a_mask_may_have_no_sequence_or_no_key(batch, keys):
    mask, empty = attention.attention_mask(OPEN[:batch, :keys], HEADS, queries=4)
    assert (mask.shape, empty.shape) == ((batch, HEADS, 4, keys), (batch, 4))
    assert empty.all()


def test_options_of_a_mask_are_given_by_name():
    with pytest.raises(TypeError, match="positional"):
        attention.attention_mask(OPEN, 2, 3)


def test_a_mask_without_bias_is_kept_once_for_all_heads(device):
    padding = torch.zeros(2, 3, dtype=torch.bool, device=device)
    mask, _ = attention.attention_mask(padding, 7)
    assert mask.stride(1) == 0


def test_a_mask_is_where_its_padding_is():
    padding = torch.zeros(2, 3, dtype=torch.bool, device="meta")  # a read would raise
    mask, empty = attention.attention_mask(padding, 2, causal=True)
    assert (mask.device, empty.device) == (padding.device, padding.device)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"padding": OPEN.float()}, TypeError, r"True where .* got torch.float32 \[2, 3\]$"),
        ({"padding": OPEN.byte()}, TypeError, r"got torch.uint8 \[2, 3\]$"),
        ({"padding": OPEN.long()}, TypeError, r"got torch.int64 \[2, 3\]$"),
        ({"padding": [True]}, TypeError, r"padding: expected a bool .*, got list \[True\]$"),
        ({"padding": OPEN[0]}, ValueError, r"^padding: expected .*keys\), got \[3\]$"),
        ({"padding": OPEN[None]}, ValueError, r"^padding: expected .*, got \[1, 2, 3\]$"),
        ({"heads": 0}, ValueError, "^heads=0: expected a positive int$"),
        ({"heads": True}, ValueError, "^heads=True: expected a positive int$"),
        ({"heads": "2"}, ValueError, "^heads='2': expected a positive int$"),
        ({"heads": 2.0}, ValueError, r"^heads=2\.0: expected a positive int$"),
        ({"queries": -1}, ValueError, "^queries=-1: expected a positive int$"),
        ({"queries": 0}, ValueError, "^queries=0: expected a positive int$"),
        (
            {"queries": 4, "causal": True},
            ValueError,
            "^causal=True with 4 queries and 3 keys: expected as many queries as keys$",
        ),
        ({"queries": 2, "causal": True}, ValueError, "^causal=True with 2 queries and 3 keys"),
        (
            {"dtype": torch.bool},
            TypeError,
            "^dtype=torch.bool: expected a floating-point dtype, that of the queries$",
        ),
        ({"causal": 1}, TypeError, "^causal=1: expected a bool$"),
        ({"causal": None}, TypeError, "^causal=None: expected a bool$"),
        (
            {"dtype": torch.complex64},
            TypeError,
            "^dtype=torch.complex64: expected a floating-point",
        ),
        ({"dtype": "float32"}, TypeError, "^dtype='float32': expected a floating-point"),
        (
            {"bias": OPEN[0]},
            TypeError,
            r"^bias: expected a floating-point tensor, got torch.bool \[3\]$",
        ),
        ({"bias": OPEN[0].long()}, TypeError, r"got torch.int64 \[3\]$"),
        ({"bias": OPEN[0].cfloat()}, TypeError, r"got torch.complex64 \[3\]$"),
        ({"bias": 1.0}, TypeError, r"^bias: expected a floating-point tensor, got float 1\.0$"),
        ({"bias": torch.zeros(5, 3, 3)}, RuntimeError, r"5"),
        # A dimension of size 1 in the mask does not grow to the size in the bias.
        ({"padding": OPEN[:1], "bias": torch.zeros(5, 1, 1, 3)}, RuntimeError, r"5"),
        ({"queries": 1, "bias": torch.zeros(5, 3)}, RuntimeError, r"5"),
        ({"padding": OPEN[:, :1], "queries": 3, "bias": torch.zeros(5)}, RuntimeError, r"5"),
    ],
)
def test_what_is_no_mask_is_refused(options, error, message):
    given = {"padding": OPEN, "heads": 2, **options}
    with pytest.raises(error, match=message):
        attention.attention_mask(**given)


def test_torch_reads_bool_masks_both_ways(device):
    """Therefore, only a float mask has the same meaning everywhere."""
    module = module_of("attention", device)
    shown = torch.tensor([[True, False]] * 2, device=device)
    x = torch.ones(1, 2, FEATURES, device=device)
    _, weights = module(x, x, x, attn_mask=shown)
    assert torch.equal(weights[0], torch.tensor([[0.0, 1.0]] * 2, device=device))
    if SDPA is not None:
        values = torch.tensor([[[2.0], [3.0]]], device=device)
        assert SDPA(values, values, values, attn_mask=shown).flatten().tolist() == [2.0, 2.0]


# ---- without_fast_path ----

SWITCH = hasattr(getattr(torch.backends, "mha", None), "set_fastpath_enabled")


@pytest.fixture
def attributes(monkeypatch):
    """Hides torch's switch, as in releases before 2.3."""
    if SWITCH:
        monkeypatch.delattr(torch.backends.mha, "set_fastpath_enabled")


@pytest.fixture(params=["attributes", "switch"])
def either(request):
    """Each implementation that this release supports."""
    if request.param == "attributes":
        request.getfixturevalue("attributes")
    elif not SWITCH:
        pytest.skip("torch's switch is new in 2.3")


either_way = pytest.mark.usefixtures("either")
needs_switch = pytest.mark.skipif(not SWITCH, reason="torch's switch is new in 2.3")


def alibi(device):
    position = torch.arange(3.0, device=device)
    return -(position[:, None] - position).abs()


MODELS = ["layer", "encoder", "attention in eval mode"]


@either_way
@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("kind", MODELS)
def test_a_bias_is_a_bias_in_evaluation_118628(device, kind, frozen):
    model = module_of(kind, device).requires_grad_(not frozen)
    x = torch.linspace(-1, 1, 24, device=device).reshape(1, 3, FEATURES).sin()
    trained = run(kind.partition(" ")[0], model, x, alibi(device))  # dropout is 0
    model.eval()
    given = (x,) if kind in ("layer", "encoder") else (x, x, x)
    with torch.set_grad_enabled(frozen), attention.without_fast_path(model):
        evaluated = (
            model(x, alibi(device))
            if len(given) == 1
            else model(*given, attn_mask=alibi(device), need_weights=False)[0]
        )
    torch.testing.assert_close(evaluated, trained, rtol=1e-4, atol=1e-5)
    assert evaluated.requires_grad is False


@either_way
@pytest.mark.parametrize("kind", ["layer", "encoder"])
def test_hooks_of_every_module_run_in_evaluation_128413(device, kind):
    model = module_of(kind, device, dropout=0.5).eval()
    called = []
    for name, module in model.named_modules():
        module.register_forward_hook(lambda *_, name=name: called.append(name))
    with torch.no_grad(), attention.without_fast_path(model):
        model(torch.ones(1, 3, FEATURES, device=device))
    # MultiheadAttention reads the weights of its output projection without calling it.
    there = {name for name, _ in model.named_modules() if "out_proj" not in name}
    assert set(called) >= there - {"layers"}


LAYERS, ATTENTIONS = "_transformer_encoder_layer_fwd", "_native_multi_head_attention"


@pytest.fixture
def fused_device(device):
    """A device on which torch calls the fused operators, which MPS does not have."""
    return "cpu" if device == "mps" else device


@either_way
@pytest.mark.parametrize("kind", MODELS)
def test_the_fused_operators_are_not_called(fused_device, kind):
    model = module_of(kind, fused_device).eval()
    x = torch.ones(1, 3, FEATURES, device=fused_device)
    given = [x] * 3 if kind.startswith("attention") else [x]
    with mock.patch.multiple(torch, **dict.fromkeys((LAYERS, ATTENTIONS), mock.DEFAULT)) as fused:
        one = fused[ATTENTIONS if kind.startswith("attention") else LAYERS]
        one.return_value = x if one is fused[LAYERS] else (x, x)
        for block, calls in [
            (contextlib.nullcontext(), True),
            (attention.without_fast_path(model), False),
            (contextlib.nullcontext(), True),
        ]:
            with torch.no_grad(), block:
                model(*given)
            assert one.called == calls
            for operator in fused.values():
                assert operator is one or not operator.called
                operator.reset_mock()


def test_the_fused_operator_is_called_for_frozen_models_with_gradients_too(fused_device):
    """enable_grad(), the usual advice, does not change this."""
    model = module_of("layer", fused_device).eval().requires_grad_(False)
    operator = mock.Mock(side_effect=torch._transformer_encoder_layer_fwd)
    with mock.patch.object(torch, "_transformer_encoder_layer_fwd", operator):
        model(torch.ones(1, 3, FEATURES, device=fused_device))
    assert operator.called


@either_way
@pytest.mark.skipif(SDPA is None, reason="is_causal is new in torch 2.0")
@pytest.mark.parametrize("kind", ["layer", "encoder"])
def test_is_causal_without_a_mask_is_refused_as_in_training_96941(device, kind):
    model = module_of(kind, device).eval()
    x = torch.ones(1, 3, FEATURES, device=device)
    refused = pytest.raises(RuntimeError, match="is_causal")
    with torch.no_grad(), attention.without_fast_path(model), refused:
        model(x, is_causal=True)


@either_way
def test_no_position_is_dropped_97111(device):
    model = module_of("encoder", device).eval()
    padding = torch.tensor([[False, False, True, True]], device=device)
    x = torch.ones(1, 4, FEATURES, device=device)
    with torch.no_grad(), attention.without_fast_path(model):
        y = model(x, src_key_padding_mask=padding)
    trained = model.train()(x, src_key_padding_mask=padding)
    torch.testing.assert_close(y, trained, rtol=1e-4, atol=1e-5)


def state(model):
    names = "training", "dropout", "activation_relu_or_gelu", "use_nested_tensor"
    return [
        [type(module), *(vars(module).get(name) for name in names)] for module in model.modules()
    ]


@pytest.mark.usefixtures("attributes")
@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt])
def test_everything_is_restored_after_an_exception(device, error):
    model = module_of("encoder", device, dropout=0.5).eval()
    model.layers[0].self_attn.train()
    model.use_nested_tensor = False
    before = state(model)
    with contextlib.suppress(error), attention.without_fast_path(model):
        assert state(model) != before
        raise error
    assert state(model) == before


@pytest.mark.usefixtures("attributes")
def test_nothing_is_changed_where_a_class_cannot_be(device):
    class Sealed(nn.MultiheadAttention):
        def __setattr__(self, name, value):
            if name == "__class__":
                raise AttributeError("sealed")
            super().__setattr__(name, value)

    model = module_of("encoder", device)
    model.layers[1].self_attn = Sealed(FEATURES, HEADS, batch_first=True)
    before = state(model)
    with pytest.raises(AttributeError, match="sealed"), attention.without_fast_path(model):
        pass
    assert state(model) == before


class OwnLayer(nn.TransformerEncoderLayer):
    pass


class OwnEncoder(nn.TransformerEncoder):
    pass


def encoder(device, of=nn.TransformerEncoder, layer=nn.TransformerEncoderLayer, dropout=0.0):
    torch.manual_seed(0)
    return of(layer(FEATURES, HEADS, 16, dropout, batch_first=True), 2).to(device)


@contextlib.contextmanager
def evaluating(model):
    """Evaluates as people do. On exit, every module returns to its previous mode."""
    modes = [(module, module.training) for module in model.modules()]
    with torch.no_grad():
        model.eval()
        try:
            yield
        finally:
            for module, mode in modes:
                module.train(mode)


@either_way
@pytest.mark.parametrize("outer", ["without_fast_path", "evaluating"])
@pytest.mark.parametrize("of", [nn.TransformerEncoder, OwnEncoder])
@pytest.mark.parametrize("layer", [nn.TransformerEncoderLayer, OwnLayer])
def test_the_order_of_the_blocks_does_not_matter(fused_device, of, layer, outer):
    model = encoder(fused_device, of, layer, dropout=0.5).train()
    model.layers[1].eval()
    before = state(model)
    x = torch.ones(2, 4, FEATURES, device=fused_device)
    padding = torch.tensor([[False] * 4, [False, False, True, True]], device=fused_device)
    blocks = [evaluating(model), attention.without_fast_path(model)]
    originals = {name: getattr(torch, name) for name in (LAYERS, ATTENTIONS)}
    with contextlib.ExitStack() as stack:
        fused = [
            stack.enter_context(mock.patch.object(torch, name, side_effect=original))
            for name, original in originals.items()
        ]
        for block in blocks if outer == "evaluating" else blocks[::-1]:
            stack.enter_context(block)
        found = [model(x, src_key_padding_mask=mask) for mask in (padding, None) for _ in "12"]
        assert [operator.call_count for operator in fused] == [0, 0]
    assert state(model) == before
    assert {one.shape for one in found} == {x.shape}  # no positions are dropped
    assert torch.equal(found[0], found[1])  # no dropout


@either_way
@pytest.mark.parametrize("mode", [True, False])
def test_the_mode_that_is_asked_for_in_the_block_is_that_of_every_module_after_it(device, mode):
    model = module_of("encoder", device).train(not mode)
    with attention.without_fast_path(model):
        model.train(mode)
    assert {module.training for module in model.modules()} == {mode}


@either_way
def test_a_block_in_a_block_changes_nothing(fused_device):
    model = module_of("encoder", fused_device, dropout=0.5).eval()
    before, x = state(model), torch.ones(1, 3, FEATURES, device=fused_device)
    operator = mock.Mock(return_value=x)
    with mock.patch.object(torch, LAYERS, operator), torch.no_grad():
        with attention.without_fast_path(model):
            with contextlib.suppress(KeyError), attention.without_fast_path(model):
                raise KeyError
            model(x)
            assert not operator.called
        assert state(model) == before
        model(x)
        assert operator.called


@needs_switch
@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt])
@pytest.mark.parametrize("value", [True, False])
def test_torchs_switch_is_off_in_the_block_and_as_it_was_after_an_exception(device, value, error):
    model = module_of("encoder", device, dropout=0.5).eval()
    model.layers[0].train()
    before, mha = state(model), torch.backends.mha
    mha.set_fastpath_enabled(value)
    try:
        with contextlib.suppress(error), attention.without_fast_path(model):
            assert mha.get_fastpath_enabled() is False
            assert state(model) == before
            raise error
        assert mha.get_fastpath_enabled() is value
        assert state(model) == before
    finally:
        mha.set_fastpath_enabled(True)


def twin_of(original, twins={}):  # noqa: B006  # one twin per class
    """A subclass with other behavior, as freeze() of modules.py makes it."""
    if original not in twins:
        twins[original] = type("Twin", (original,), {"_twin_of": staticmethod(twin_of)})
    return twins[original]


def test_a_twin_that_another_fix_makes_in_the_block_is_one_of_the_own_class_after_it(
    device, attributes
):
    model = module_of("encoder", device)
    first, second = (layer.self_attn for layer in model.layers)
    with attention.without_fast_path(model):
        first.__class__ = twin_of(type(first))
    assert type(first) is twin_of(nn.MultiheadAttention)
    assert type(second) is nn.MultiheadAttention


class SelfAttention(nn.MultiheadAttention):
    def forward(self, query, key=None, value=None, **options):
        key, value = (query if x is None else x for x in (key, value))
        return super().forward(query, key, value, **options)


@either_way
def test_an_attention_whose_key_may_be_left_out_still_gets_none(device):
    x, module = torch.randn(2, 3, FEATURES, device=device), SelfAttention(FEATURES, 2).to(device)
    with attention.without_fast_path(module):
        for shown in (module(x, None), module(x, key=None)):
            torch.testing.assert_close(shown, module(x))


class InABlock(threading.Thread):
    """A thread that stays in a block until it is allowed to leave."""

    def __init__(self, model):
        super().__init__(daemon=True)
        self.model, self.entered, self.leave = model, threading.Event(), threading.Event()

    def run(self):
        with attention.without_fast_path(self.model):
            self.entered.set()
            self.leave.wait(60)


@needs_switch
def test_the_last_thread_out_of_a_block_restores_torchs_switch(device):
    model, mha = module_of("layer", device), torch.backends.mha
    other = InABlock(model)
    with attention.without_fast_path(model):
        other.start()
        assert other.entered.wait(60)
    assert not mha.get_fastpath_enabled()
    other.leave.set()
    other.join()
    assert mha.get_fastpath_enabled()


@needs_switch
def test_no_thread_enters_a_block_while_another_does(device):
    model, mha = module_of("layer", device), torch.backends.mha
    other, read = InABlock(model), mha.get_fastpath_enabled

    def read_slowly():
        value = read()
        if other.ident is None:
            other.start()
            other.entered.wait(0.1)
        return value

    with mock.patch.object(mha, "get_fastpath_enabled", read_slowly):  # noqa: SIM117
        with attention.without_fast_path(model):
            assert other.entered.wait(60)
    assert not read()
    other.leave.set()
    other.join()
    assert read()


@needs_switch
def test_no_thread_leaves_a_block_while_another_does(device):
    model, mha = module_of("layer", device), torch.backends.mha
    other, write = InABlock(model), mha.set_fastpath_enabled

    def write_late(value):
        if threading.current_thread() is not other and other.entered.is_set():
            other.leave.set()
            other.join(0.1)
        write(value)

    with mock.patch.object(mha, "set_fastpath_enabled", write_late):
        with attention.without_fast_path(model):
            other.start()
            assert other.entered.wait(60)
        other.join()
    try:
        assert mha.get_fastpath_enabled()
    finally:
        write(True)


@needs_switch
@pytest.mark.parametrize("kind", MODELS)
def test_torchs_own_switch_does_the_same(fused_device, kind):
    model = module_of(kind, fused_device).eval()
    x = torch.ones(1, 3, FEATURES, device=fused_device)
    called = []
    for module in model.modules():
        module.register_forward_hook(lambda *_: called.append(1))
    try:
        torch.backends.mha.set_fastpath_enabled(False)
        with mock.patch.multiple(torch, **dict.fromkeys((LAYERS, ATTENTIONS))), torch.no_grad():
            model(*[x] * (3 if kind.startswith("attention") else 1))
    finally:
        torch.backends.mha.set_fastpath_enabled(True)
    assert called


@pytest.mark.usefixtures("attributes")
def test_an_encoder_of_another_release_gets_no_new_attribute(device):
    model = module_of("encoder", device)
    vars(model).pop("use_nested_tensor", None)
    with attention.without_fast_path(model):
        assert not hasattr(model, "use_nested_tensor")
    assert not hasattr(model, "use_nested_tensor")


class OwnForward(nn.MultiheadAttention):
    def forward(self, *args, **kwargs):
        output, weights = super().forward(*args, **kwargs)
        return 2 * output, weights


@either_way
def test_no_mode_and_no_dropout_is_changed_in_the_block(device):
    model = module_of("encoder", device, dropout=0.5).eval()
    model.layers[0].self_attn.train()
    before = [(module.training, vars(module).get("dropout")) for module in model.modules()]
    with attention.without_fast_path(model):
        now = [(module.training, vars(module).get("dropout")) for module in model.modules()]
        assert now == before


@either_way
def test_a_model_is_printed_as_before_in_the_block(device):
    model = module_of("encoder", device)
    before = str(model)
    with attention.without_fast_path(model):
        assert str(model) == before


def with_parametrization(*args, **kwargs):
    model = nn.MultiheadAttention(*args, **kwargs)
    register_parametrization(model, "in_proj_bias", nn.Identity())
    return model


def with_names(model, x):
    return model(query=x, key=x, value=x)


@either_way
@pytest.mark.parametrize("call", [lambda model, x: model(x, x, x), with_names])
@pytest.mark.parametrize("make", [nn.MultiheadAttention, OwnForward, with_parametrization])
def test_an_attention_of_any_kind_is_not_fused(fused_device, make, call):
    model = make(FEATURES, HEADS, batch_first=True).to(fused_device).eval()
    x = torch.ones(1, 3, FEATURES, device=fused_device)
    expected = call(model, x)
    operator = mock.Mock(side_effect=torch._native_multi_head_attention)
    with mock.patch.object(torch, ATTENTIONS, operator), torch.no_grad():
        with attention.without_fast_path(model):
            torch.testing.assert_close(call(model, x), expected)
        assert not operator.called
        call(model, x)
        assert operator.called or make is with_parametrization


@pytest.mark.usefixtures("attributes")
def test_a_copy_that_data_parallel_makes_in_the_block_is_called_itself(device):
    """DataParallel copies everything in vars() of a module."""
    model = module_of("attention", device).eval()
    x = torch.ones(1, 3, FEATURES, device=device)
    with attention.without_fast_path(model), torch.no_grad():
        replica = model._replicate_for_data_parallel()
        replica.in_proj_weight, replica.in_proj_bias = model.in_proj_weight, model.in_proj_bias
        replica.out_proj = nn.Linear(FEATURES, FEATURES).to(device)
        replica.out_proj.requires_grad_(False).weight.zero_()
        replica.out_proj.bias.fill_(7.0)
        assert (replica(x, x, x)[0] == 7.0).all()


@pytest.mark.usefixtures("attributes")
def test_other_models_and_threads_keep_their_fast_path(fused_device):
    model, other = (module_of("layer", fused_device).eval() for _ in range(2))
    before = state(other)
    x = torch.ones(1, 3, FEATURES, device=fused_device)

    def run_other():
        with torch.no_grad():  # no_grad() applies per thread
            other(x)

    operator = mock.Mock(return_value=x)
    with mock.patch.object(torch, LAYERS, operator), attention.without_fast_path(model):
        thread = threading.Thread(target=run_other)
        thread.start()
        thread.join()
        assert state(other) == before
    assert operator.called


@either_way
def test_without_fast_path_answers_as_the_model_does(device):
    model = module_of("encoder", device, dropout=0.5).eval()
    x = torch.randn(2, 3, FEATURES, device=device)
    with torch.no_grad():
        expected = model(x)
        with attention.without_fast_path(model):
            torch.testing.assert_close(model(x), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (nn.Linear(1, 1), ValueError, "^no torch.nn.MultiheadAttention in this Linear$"),
        (len, TypeError, "^expected a torch.nn.Module, got builtin_function_or_method <built-in"),
        (mock.Mock(), TypeError, "^expected a torch.nn.Module, got Mock <Mock"),
        (torch.ones(2), TypeError, r"^expected a torch.nn.Module, got torch.float32 \[2\]$"),
    ],
)
def test_what_has_no_fast_path_is_refused(model, error, message):
    with pytest.raises(error, match=message), attention.without_fast_path(model):
        pass


def test_a_scripted_model_is_refused():
    example = torch.ones(1, 3, FEATURES)
    scripted = torch.jit.trace(module_of("layer", "cpu").eval(), example, check_trace=False)
    expected = pytest.raises(ValueError, match="Attention in this TopLevelTracedModule$")
    with expected, attention.without_fast_path(scripted):
        pass


def test_torchs_own_switch_is_there_since_2_3():
    release = tuple(int(part) for part in torch.__version__.split(".")[:2])
    assert hasattr(getattr(torch.backends, "mha", None), "set_fastpath_enabled") == (
        release >= (2, 3)
    )
