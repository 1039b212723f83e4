# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A Sequential accepts one input, so a second input, such as a mask, raises TypeError"
# kind = "error"
# symptom = 'forward\(\) takes 2 positional arguments but 3 were given'
# messages = ['forward\(\) takes \d{1,2} positional arguments? but \d{1,3} were given']
# elsewhere = [
#     'forward\(\) takes exactly \d{1,2} arguments? \(\d{1,3} given\)',
#     "Sequential\\.forward\\(\\) got an unexpected keyword argument",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/65676",
#     "https://github.com/pytorch/pytorch/issues/897",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.Sequential.html",
#     "https://github.com/pytorch/pytorch/pull/22012",
# ]
# wrong = '''
# layers = torch.nn.Sequential(Attention(), Attention())
# x = layers(x, mask)
# '''
# right = '''
# layers = torch.nn.ModuleList([Attention(), Attention()])
# for layer in layers:
#     x = layer(x, mask)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The message counts self, so "takes 2" means one input. Sequential raises the error even if every
layer in it accepts two inputs (pytorch#65676).

Sequential.forward() has one parameter, and passes each layer's output to the next layer
(torch/nn/modules/container.py). If the second input is passed by name, the message says "unexpected
keyword argument". A proposal to accept several inputs was closed (pytorch#22012). A ModuleList
numbers its layers like a Sequential, so a checkpoint's keys do not change. If the layers have
names, from an OrderedDict or add_module(), use a ModuleDict instead, and loop over its values().

If another class is named in front of forward(), look at its signature: the caller passes more than
the class accepts. In the corrected loop, call layers that do not need the mask as layer(x). Pass a
padding mask to a TransformerEncoderLayer as src_key_padding_mask=mask. The layer's second input is
src_mask, and a padding mask in its place raises no error if the batch size equals the length. A
tuple (x, mask) as the only input works if every layer, even an activation, accepts and returns a
pair.
"""

import torch


class Attention(torch.nn.Module):
    def forward(self, x, mask):
        return x.masked_fill(mask, 0) + 1


def reproduce(device):
    x, mask = torch.ones(3, device=device), torch.tensor([False, True, False], device=device)
    layers = torch.nn.Sequential(Attention(), Attention())
    try:
        x = layers(x, mask)
    except TypeError as error:
        return str(error)


def control(device):
    x, mask = torch.ones(3, device=device), torch.tensor([False, True, False], device=device)
    layers = torch.nn.ModuleList([Attention(), Attention()])
    for layer in layers:
        x = layer(x, mask)
    if x.tolist() != [3, 1, 3]:
        return f"the layers return {x.tolist()}"


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
