"""Cases for torch.compile ("eager" and "aot_eager"): the fixes around and inside graphs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from reference_fixes import amp, loss, memory, numerics, rnn
from tests.trials.hosts.case import (
    MAX_NORM,
    SIZE,
    Reader,
    batches,
    case,
    eval_gradient,
    expect,
    mean_loss,
    modes,
    network,
    plain,
    raised,
    same,
    sequence,
    sgd,
    weights,
)

HOST = "torch"
BACKENDS = ("eager", "aot_eager")


def compile(function: Any, backend: str, **options: Any) -> Any:
    torch._dynamo.reset()
    return torch.compile(function, backend=backend, **options)


@case(
    HOST,
    "amp.windows, amp.optimizer_step, numerics.clip_or_skip",
    "compiled model: the weights equal those of a plain loop, even if a batch with inf is skipped",
)
def compiled_steps() -> None:
    for backend in BACKENDS:
        net = network()
        model, optimizer = compile(net, backend), sgd(net)
        for window in amp.windows(batches(), SIZE):
            optimizer.zero_grad()
            for batch, share, _ in window:
                (mean_loss(model, batch) * share).backward()
            amp.optimizer_step(optimizer, max_norm=MAX_NORM)
        same(f"{backend}: weights", weights(net), plain(batches(), SIZE))
        net = network()
        model, optimizer = compile(net, backend), sgd(net)
        for batch in batches(bad=2):
            optimizer.zero_grad()
            mean_loss(model, batch).backward()
            numerics.clip_or_skip(optimizer, MAX_NORM)
        same(f"{backend}: weights", weights(net), plain(batches(bad=2)))


def value_and_gradient(function: Callable[..., Any], x: torch.Tensor) -> Any:
    leaf = x.clone().requires_grad_()
    value = function(leaf)
    return value, *torch.autograd.grad(value.sum(), leaf)


@case(
    HOST,
    "numerics.apply_where",
    "inside a graph (`fullgraph=True`): values and gradients equal those without torch.compile",
    alone="`torch.where` makes the gradients NaN",
)
def compiled_apply_where() -> None:
    x = torch.tensor([0.0, 4.0, -1.0])

    def ours(x: torch.Tensor) -> torch.Tensor:
        return numerics.apply_where(x > 0, torch.sqrt, x)

    def alone(x: torch.Tensor) -> torch.Tensor:
        return torch.where(x > 0, torch.sqrt(x), 0.0)

    for backend in BACKENDS:
        found = value_and_gradient(compile(ours, backend, fullgraph=True), x)
        same(backend, found, value_and_gradient(ours, x))
        expect(found[1].isfinite().all(), f"{backend}: gradients {found[1]}")
        _, gradient = value_and_gradient(compile(alone, backend, fullgraph=True), x)
        expect(gradient.isnan().any(), f"alone, {backend}: gradients {gradient}")


@case(
    HOST,
    "loss.match_by_name, loss.masked_mean, loss.RunningMean",
    "inside a compiled loss: value, gradient and mean equal those without torch.compile",
)
def compiled_loss() -> None:
    mask = torch.tensor([True, False, True])
    mean = loss.RunningMean()

    def matched(x: torch.Tensor) -> torch.Tensor:
        pairs = loss.match_by_name({"price": x * 2, "features": x}, {"price": torch.ones(3)})
        return torch.nn.functional.mse_loss(*pairs["price"])

    def masked(x: torch.Tensor) -> torch.Tensor:
        value = loss.masked_mean(x.square(), mask)
        mean.update(value, weight=mask.sum())
        return value

    x = torch.tensor([1.0, 2.0, 3.0])
    for backend in BACKENDS:
        found = value_and_gradient(compile(matched, backend, fullgraph=True), x)
        same(f"{backend}: match_by_name", found, value_and_gradient(matched, x))
        mean = loss.RunningMean()
        found = value_and_gradient(compile(masked, backend), x)
        same(f"{backend}: RunningMean", mean.compute(), 5.0)
        same(f"{backend}: masked_mean", found, value_and_gradient(masked, x))
        text = raised(partial(compile(matched, backend), x))  # x has no graph
        expect("has no graph" in text, f"{backend}: match_by_name: {text or 'nothing raised'}")


@case(
    HOST,
    "rnn.differentiable_eval, rnn.input_gradients, rnn.no_grad_eval",
    "compiled LSTM that has run in training mode: gradients and output equal those of eval mode",
)
def compiled_lstm() -> None:
    x = sequence()
    right = eval_gradient(Reader(), x)
    for backend in BACKENDS:
        model = compile(Reader(), backend)
        model(x).sum().backward()
        before = [parameter.grad.clone() for parameter in model.parameters()]
        with rnn.differentiable_eval(model):
            _, found = value_and_gradient(model, x)
        same(f"{backend}: differentiable_eval", found, right)
        same(f"{backend}: input_gradients", rnn.input_gradients(model, x), (right,))
        with rnn.no_grad_eval(model):
            same(f"{backend}: no_grad_eval", model(x), Reader().eval()(x).detach())
        expect(all(modes(model)), f"{backend}: modes changed")
        after = [parameter.grad for parameter in model.parameters()]
        same(f"{backend}: gradients of weights", after, before, tolerance=0)
        first, second = model(x), model(x)
        expect(not first.equal(second), f"{backend}: dropout is off after the blocks")


@case(
    HOST,
    "numerics.find_nonfinite, numerics.Snapshot, loss.check_gradients, memory.scratch_gradients",
    "compiled model that has run: a layer whose output overflows is named; everything is restored",
)
def compiled_diagnosis() -> None:
    x = torch.full((1, 4), 1e30)
    for backend in BACKENDS:
        net = network()
        model, optimizer = compile(net, backend), sgd(net)
        with torch.no_grad():
            model(x)  # compiles a graph before any hooks exist
        good, before = numerics.Snapshot(model, optimizer), weights(net)
        with memory.scratch_gradients(model):
            mean_loss(model, batches()[0]).backward()
        expect(all(p.grad is None for p in net.parameters()), f"{backend}: gradients left")
        mean_loss(model, batches()[0]).backward()
        loss.check_gradients(model)
        optimizer.step()
        good.restore()
        expect(weights(net).equal(before), f"{backend}: the weights did not return")
        torch.nn.init.constant_(net[0].weight, 1e30)
        compiled, uncompiled = numerics.find_nonfinite(model, x), numerics.find_nonfinite(net, x)
        wanted = "output of module '0' (Linear): 8 of 8 values are inf"
        expect(uncompiled == wanted, f"{backend}: without torch.compile: {uncompiled}")
        wanted = wanted.replace("'0'", "'_orig_mod.0'")
        expect(compiled == wanted, f"{backend}: find_nonfinite: {compiled}")
