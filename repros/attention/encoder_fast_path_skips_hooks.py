# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "In eval mode under no_grad(), forward hooks inside a batch_first TransformerEncoderLayer do not run"
# kind = "silent"
# symptom = "the forward hook ran 0 times"
# origin = "torch"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/128413",
#     "https://github.com/pytorch/pytorch/issues/132700",
#     "https://github.com/pytorch/pytorch/issues/82919",
# ]
# documents = ["https://github.com/pytorch/pytorch/pull/128415"]
# fixed_by = "pytorch#128415"
# wrong = '''
# layer.eval()
# layer.linear1.register_forward_hook(hook)
# with torch.no_grad():
#     y = layer(x)
# '''
# fix = "attention.without_fast_path"
# use = '''
# from attention import without_fast_path
# layer.eval()
# layer.linear1.register_forward_hook(hook)
# with torch.no_grad(), without_fast_path(layer):
#     y = layer(x)
# '''
# affected = { cpu = "<2.5", cuda = "<2.5" }
# ///
"""In eval mode, a hook that records activations runs with gradients enabled, but not under
no_grad().

In eval mode under no_grad(), the layer takes its fast path, a fused operator that is called with
the submodules' weights. The submodules themselves are not called (pytorch#128413). A frozen layer
takes the fast path even with gradients enabled if its input requires no gradient. Setting
batch_first=False or using an odd number of heads prevents the fast path
(torch/nn/modules/transformer.py). Since the upstream fix (pytorch#128415), the layer takes the fast
path only if no submodule has a forward hook. Even in 2.15, the fast path skips the forward() of a
custom submodule that replaces a submodule of torch. In an encoder with padding, a hook receives a
nested tensor, which has no shape.

Even in training, a hook on self_attn gets None for the attention weights, because the layer does
not request them. Inside that hook, module.forward(*args)[1] computes the weights, but without the
masks.
"""

import torch


def count(device, grad):
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).to(device)
    calls = []

    def hook(module, args, output):
        calls.append(module)

    layer.eval().linear1.register_forward_hook(hook)
    with torch.enable_grad() if grad else torch.no_grad():
        layer(torch.ones(1, 3, 8, device=device))
    if len(calls) != 1:
        return f"the forward hook ran {len(calls)} times"


def reproduce(device):
    return count(device, grad=False)


def control(device):
    return count(device, grad=True)


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
