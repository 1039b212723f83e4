# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A loss that matches no key of the model's output returns a zero that trains nothing, silently"
# kind = "silent"
# symptom = "0 of 2 parameters have a gradient"
# keywords = ["loss stays constant", "loss is always zero", "model does not learn", "training does nothing"]
# origin = "usage"
# reports = ["https://github.com/huggingface/transformers/issues/34191"]
# documents = ["https://pytorch.org/docs/stable/notes/autograd.html"]
# wrong = '''
# TODO
# '''
# fix = "loss.match"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A fallback of torch.tensor(0., requires_grad=True) is a leaf of its own: backward()
succeeds and reaches no parameter.

isfinite(loss) and loss.requires_grad are both true of it, so guards on the loss pass.
Ask for the keys strictly; check the gradients once.
"""

import torch


def train(device, key):
    model = torch.nn.Linear(3, 1).to(device)
    outputs = {
        "predictions": {"horizon_1": model(torch.ones(2, 3, device=device))},
        "features": None,
    }
    found = [
        value for name, value in outputs.get(key, outputs).items() if name.startswith("horizon")
    ]
    loss = (
        torch.stack([value.mean() for value in found]).mean()
        if found
        else torch.tensor(0.0, requires_grad=True)
    )
    assert loss.isfinite()  # the popular guards pass
    assert loss.requires_grad
    loss.backward()
    return [parameter.grad is not None for parameter in model.parameters()]


def reproduce(device):
    reached = train(device, key=None)
    if not all(reached):
        return (
            f"{sum(reached)} of {len(reached)} parameters have a gradient, and nothing was raised"
        )


def control(device):
    reached = train(device, key="predictions")
    if not all(reached):
        return (
            f"{sum(reached)} of {len(reached)} parameters have a gradient, and nothing was raised"
        )


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
