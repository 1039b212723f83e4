# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "The saliency of the summed output of a BatchNorm is zero in train mode"
# kind = "silent"
# symptom = "saliency is .* of its eval value"
# origin = "usage"
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.nn.BatchNorm1d.html"]
# wrong = '''
# model.train()
# gradient, = torch.autograd.grad(model(x).sum(), x)
# '''
# right = '''
# model.eval()
# gradient, = torch.autograd.grad(model(x).sum(), x)
# '''
# fix = "rnn.input_gradients"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# retired = "the failure is arithmetic, and nobody is known to have had it; rnn/train_mode_saliency_is_random shows the effect of train mode on saliency"
# ///
"""The gradient of the summed output with respect to the input is zero, up to rounding.

In train mode, BatchNorm subtracts the mean of the batch (docs: torch.nn.BatchNorm1d), so the sum of
its output over the batch is constant. In eval mode, the same sum has a normal gradient.
"""

import torch


def saliency(device, mode):
    model = torch.nn.BatchNorm1d(1).to(device)
    mode(model)
    x = torch.arange(16.0, device=device).reshape(16, 1).requires_grad_()
    (gradient,) = torch.autograd.grad(model(x).sum(), x)
    return gradient.abs().max().item()


def compare(device, mode):
    ratio = saliency(device, mode) / saliency(device, torch.nn.Module.eval)
    if ratio < 1e-3:
        return f"saliency is {ratio:.0e} of its eval value"


def reproduce(device):
    return compare(device, torch.nn.Module.train)


def control(device):
    return compare(device, torch.nn.Module.eval)


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
