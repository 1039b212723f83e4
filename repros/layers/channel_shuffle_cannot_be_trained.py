# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "nn.ChannelShuffle raises an error on the CPU for an input that requires a gradient"
# kind = "error"
# symptom = "derivative for channel_shuffle is not implemented"
# messages = ["derivative for channel_shuffle is not implemented"]
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/67240"]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/118775",
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.ChannelShuffle.html",
# ]
# fixed_by = "pytorch#118775"
# wrong = '''
# y = torch.nn.ChannelShuffle(2)(x)
# '''
# right = '''
# y = x.unflatten(1, (2, -1)).transpose(1, 2).flatten(1, 2)
# '''
# affected = { cpu = "<2.5" }
# ///
"""If the input requires a gradient, as it does after a trained layer, the forward pass raises an
error. As the first layer of a model, or under no_grad(), the layer works.

The operator channel_shuffle was registered for the CPU without a derivative, although it consists
of differentiable operators (pytorch#67240). The corrected line returns a contiguous tensor,
regardless of the memory format of x.
"""

import torch


def check(x, y):
    y[:, 1].sum().backward()
    expected = torch.zeros_like(x)
    expected[:, 2] = 1  # of channels 0 1 2 3, in two groups, become 0 2 1 3
    if y[0, :, 0, 0].tolist() != [0, 2, 1, 3] or not x.grad.equal(expected):
        return f"channels {y[0, :, 0, 0].tolist()}, gradient {x.grad[0, :, 0, 0].tolist()}"


def start(device):
    x = torch.arange(4.0, device=device).view(1, 4, 1, 1)
    return x.requires_grad_()


def reproduce(device):
    x = start(device)
    try:
        y = torch.nn.ChannelShuffle(2)(x)
        return check(x, y)
    except RuntimeError as error:
        if "derivative" not in str(error):
            raise
        return str(error)


def control(device):
    x = start(device)
    y = x.unflatten(1, (2, -1)).transpose(1, 2).flatten(1, 2)
    return check(x, y)


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
