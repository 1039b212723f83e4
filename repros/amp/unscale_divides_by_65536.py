# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Gradients that were never scaled are divided by 65536, and training stands still"
# kind = "silent"
# symptom = "gradient is .* of its true value"
# keywords = ["loss stays constant", "training very slow", "loss hardly decreases", "tiny steps"]
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/109993"]
# documents = ["https://pytorch.org/docs/stable/notes/amp_examples.html"]
# wrong = '''
# TODO
# '''
# fix = "amp.train_epoch"
# requires = ">=2.3"
# affected = { cpu = ">=2.3", cuda = ">=2.3", mps = ">=2.8" }
# ///
"""Once any loss (an auxiliary one, a validation one) has gone through scale(),
unscale_() no longer objects.

It divides whatever it finds by the scale. Adam hides that, because it normalises; SGD
stands still; clipping never triggers.
"""

import torch


def gradient(device, scale_the_loss):
    scaler = torch.amp.GradScaler(device)
    weight = torch.ones(2, device=device, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    scaler.scale(weight.sum())  # some other loss; its gradient is not even taken
    loss = weight.sum()
    (scaler.scale(loss) if scale_the_loss else loss).backward()
    scaler.unscale_(optimizer)
    if weight.grad[0] < 0.01:
        return f"gradient is {weight.grad[0]:.2g} of its true value"


def reproduce(device):
    return gradient(device, scale_the_loss=False)


def control(device):
    return gradient(device, scale_the_loss=True)


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
