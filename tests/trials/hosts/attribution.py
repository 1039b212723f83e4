"""Cases for captum: attributions to the input of an LSTM."""

from __future__ import annotations

import torch

from reference_fixes import rnn
from tests.trials.hosts.case import Reader, case, eval_gradient, expect, modes, same, sequence

HOST = "captum"


@case(
    HOST,
    "rnn.input_gradients, rnn.differentiable_eval",
    "an LSTM in training mode: `Saliency` in eval mode gives the same numbers",
    alone="computes attributions with dropout on: the numbers differ from call to call",
)
def saliency() -> None:
    from captum.attr import Saliency

    model, x = Reader(), sequence()
    (found,) = rnn.input_gradients(model, x)
    expected = Saliency(Reader().eval()).attribute(x.clone(), abs=False)
    same("input_gradients", found, expected)
    same("torch in eval mode", found, eval_gradient(Reader(), x))
    with rnn.differentiable_eval(model):
        same("differentiable_eval", Saliency(model).attribute(x.clone(), abs=False), expected)
    expect(all(modes(model)), "modes changed")
    first, second = (Saliency(model).attribute(x.clone(), abs=False) for _ in range(2))
    expect(not torch.allclose(first, second), "alone: both calls give the same")


@case(
    HOST,
    "rnn.input_gradients, rnn.differentiable_eval",
    "`IntegratedGradients` is the mean of `input_gradients` along the path, times the input",
    alone="computes attributions with dropout on: their sum differs from the change of the output",
)
def integrated_gradients() -> None:
    from captum.attr import IntegratedGradients

    model, x, steps = Reader(), sequence(), 20
    options = {"n_steps": steps, "method": "riemann_middle"}
    expected = IntegratedGradients(Reader().eval()).attribute(x, **options)
    path = [x * (step + 0.5) / steps for step in range(steps)]
    mean = torch.stack([rnn.input_gradients(model, point)[0] for point in path]).mean(0)
    same("input_gradients", mean * x, expected)
    with rnn.differentiable_eval(model):
        found = IntegratedGradients(model).attribute(x, **options)
        change = (model(x) - model(torch.zeros_like(x))).detach().flatten()
    same("differentiable_eval", found, expected)
    same("sum of the attributions", found.sum((1, 2)), change, tolerance=1e-3)
    alone = IntegratedGradients(model).attribute(x, **options).sum((1, 2))
    expect(not torch.allclose(alone, change, atol=1e-3), "alone: the sum is right")
