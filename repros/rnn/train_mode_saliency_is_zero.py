# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Saliency through a BatchNorm in train mode is zero for every feature"
# kind = "silent"
# symptom = "saliency is .* of its eval value"
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/5878"]
# documents = ["https://pytorch.org/docs/stable/generated/torch.nn.BatchNorm1d.html"]
# wrong = '''
# TODO
# '''
# fix = "rnn.input_gradients"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""In train mode BatchNorm divides by the statistics of the batch, so the sum of its
output does not depend on its input.

What is left is rounding. In eval mode the same sum has an ordinary gradient. A larger
batch does not help.
"""

import torch


def saliency(device, train, rows=16):
    torch.manual_seed(0)
    model = torch.nn.BatchNorm1d(3).to(device).train(train)
    x = torch.randn(rows, 3).to(device).requires_grad_()
    return torch.autograd.grad(model(x).sum(), x)[0].abs().max().item()


def compare(device, train, rows=16):
    ratio = saliency(device, train, rows) / saliency(device, False, rows)
    if ratio < 1e-3:
        return f"saliency is {ratio:.0e} of its eval value"


def reproduce(device):
    return compare(device, train=True)


def control(device):
    return compare(device, train=False)


def popular_fix(device):
    return compare(device, train=True, rows=4096)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, popular_fix):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
