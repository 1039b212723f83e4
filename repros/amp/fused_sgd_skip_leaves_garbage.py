# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A first step skipped by the GradScaler leaves fused SGD with a momentum that nothing was written to"
# kind = "silent"
# symptom = "weight is nan after one skipped and one clean step"
# origin = "usage"
# documents = ["https://github.com/LibreYOLO/libreyolo/pull/771"]
# wrong = '''
# TODO
# '''
# fix = "amp.train_epoch"
# requires = ">=2.4"
# affected = { cpu = ">=2.4", cuda = ">=2.4" }
# ///
"""torch.optim.sgd._fused_sgd makes the momentum buffers with empty_like() for the first
step. When the scaler found an infinite gradient, the kernel returns before it fills
them, and the second step takes what happened to lie in that memory for momentum. The
first step is the likeliest of all to be skipped: the scale starts at 65536. Here
PyTorch's own switch fills fresh memory with NaN, so that what is read there shows;
without it the weights are garbage only now and then.
"""

import torch


def train(device, fused):
    torch.use_deterministic_algorithms(True)  # also fills memory that is not initialised with NaN
    weight = torch.nn.Parameter(torch.zeros(4, device=device))
    optimizer = torch.optim.SGD([weight], lr=1.0, momentum=0.9, fused=fused)
    scaler = torch.amp.GradScaler(device)
    for factor in (float("inf"), 1.0):
        optimizer.zero_grad()
        scaler.scale((weight * factor).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
    torch.use_deterministic_algorithms(False)
    if weight.isnan().any():
        return "weight is nan after one skipped and one clean step"


def reproduce(device):
    return train(device, fused=True)


def control(device):
    return train(device, fused=False)


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
