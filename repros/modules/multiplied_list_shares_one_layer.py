# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "ModuleList([layer] * n) holds one layer n times, so the weights are tied"
# kind = "silent"
# symptom = "3 layers share 1 weight"
# origin = "usage"
# reports = [
#     "https://github.com/zalandoresearch/pytorch-vq-vae/issues/2",
#     "https://github.com/yaoppeng/U-Net_v2/issues/10",
#     "https://github.com/acids-ircam/ddsp_pytorch/issues/37",
# ]
# documents = ["https://github.com/linkedin/Liger-Kernel/pull/269"]
# wrong = '''
# layers = ModuleList([Linear(2, 2)] * 3)
# '''
# right = '''
# layers = ModuleList([Linear(2, 2) for _ in range(3)])
# '''
# rule = "error"
# when = "the list is multiplied by a number above 1"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The output of print(model) shows all the layers, or their number in newer releases. The
state_dict has an entry for each layer too. However, there is only one weight.

A list times n holds the same object n times (acids-ircam/ddsp_pytorch#37), and parameters() yields
a shared parameter once. A layer is also shared in Sequential(*[layer] * n), extend(),
ModuleDict(dict.fromkeys(names, layer)) and [layer for _ in range(n)], all of which create no new
layer. Copies that are made with copy.deepcopy(), as in torch.nn.TransformerEncoder, start with
equal weights but are not tied. Weights that were saved from tied layers load into the new layers.
The state of the old optimizer does not, because it is for fewer parameters.
"""

from torch.nn import Linear, ModuleList


def count(device, layers):
    weights = [p for p in layers.to(device).parameters() if p.dim() == 2]
    if [key for key in layers.state_dict() if "weight" in key] != [f"{n}.weight" for n in range(3)]:
        return "the keys are not those of three layers"
    if len(weights) != 3:
        return f"3 layers share {len(weights)} weight"


def reproduce(device):
    layers = ModuleList([Linear(2, 2)] * 3)
    return count(device, layers)


def control(device):
    layers = ModuleList([Linear(2, 2) for _ in range(3)])
    return count(device, layers)


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
