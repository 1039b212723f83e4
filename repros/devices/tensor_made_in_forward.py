# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A tensor created in forward() stays on the CPU while the model is on the GPU"
# kind = "error"
# symptom = "(?:Expected all tensors to be on the same device|is not on the expected device)"
# messages = [
#     "Expected all tensors to be on the same device",
#     "is not on the expected device",
#     "Input and hidden tensors are not at the same device",
#     "Input and parameter tensors are not at the same device",
# ]
# elsewhere = [
#     '[Ee]xpected device \w{3,4}.{0,4}? but got device',
#     'All input tensors must be on the same device\. Received',
#     'Expected object of (?:backend|device type) \w{3,4} but got (?:backend|device type)',
#     'Tensor for argument #\d .{0,60}?is on CPU, but expected it to be on GPU',
# ]
# origin = "usage"
# reports = [
#     "https://github.com/Lightning-AI/pytorch-lightning/issues/3738",
#     "https://github.com/benedekrozemberczki/pytorch_geometric_temporal/issues/18",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.zeros.html",
# ]
# wrong = '''
# state = torch.zeros(len(x), 3)
# state = self.cell(x, state)
# '''
# right = '''
# state = self.cell.weight_hh.new_zeros(len(x), 3)
# state = self.cell(x, state)
# '''
# rule = "warning"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# stand_in = { cpu = "the meta device for a GPU: its tensors do not mix with CPU tensors either" }
# ///
"""model.to(device) moves parameters and buffers (torch/nn/modules/module.py). By contrast,
forward() creates a tensor on the default device, the CPU, unless the call names another device
(docs: torch.zeros). Examples are an initial hidden state (Lightning-AI/pytorch-lightning#3738), a
mask and noise.

When called on a parameter, new_zeros(), new_ones() and new_full() use both its device and its
dtype. If you pass only device=x.device instead, a model in bfloat16 fails because of the dtype. A
mask or an index must not use the parameter's dtype, so pass its dtype explicitly, as in
weight.new_ones(size, dtype=torch.bool). MultiheadAttention silently adds a floating-point mask to
the scores (docs: torch.nn.MultiheadAttention). For noise, use torch.randn_like(weight), or
torch.randn(size, device=weight.device, dtype=weight.dtype). The names in the error message are the
operator's argument names, not your variable names.
"""

import torch


class Wrong(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = torch.nn.GRUCell(2, 3)

    def forward(self, x):
        state = torch.zeros(len(x), 3)
        state = self.cell(x, state)
        return state


class Right(Wrong):
    def forward(self, x):
        state = self.cell.weight_hh.new_zeros(len(x), 3)
        state = self.cell(x, state)
        return state


def run(device, model, **options):
    gpu = "meta" if device == "cpu" else device
    try:
        model.to(gpu, **options)(torch.ones(4, 2, device=gpu, **options))
    except RuntimeError as error:
        return str(error)


def reproduce(device):
    return run(device, Wrong())


def control(device):
    return run(device, Right())


def right(device):
    x, model = torch.ones(4, 2, device=device), Right().to(device)
    expected = model.cell(x, torch.zeros(4, 3, device=device))
    if not torch.equal(model(x), expected):
        return f"the states are {model(x)}, they should be {expected}"
    return run(device, model, dtype=torch.bfloat16)


def messages(device):
    gpu = "meta" if device == "cpu" else device
    texts = []
    for layer, arguments in (
        (torch.nn.GRU(2, 3), (torch.ones(1, 4, 2, device=gpu), torch.zeros(1, 4, 3))),
        (torch.nn.GRU(2, 3), (torch.ones(1, 4, 2),)),
        (torch.add, (torch.ones(2, device=gpu), torch.zeros(2))),
        (torch.where, (torch.ones(2, device=gpu) > 0, torch.zeros(2), torch.ones(2, device=gpu))),
        (torch.masked_fill, (torch.ones(2, device=gpu), torch.zeros(2, dtype=torch.bool), 0.0)),
    ):
        try:
            (layer.to(gpu) if isinstance(layer, torch.nn.Module) else layer)(*arguments)
        except RuntimeError as error:
            texts.append(str(error))
    return "\n".join(texts)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, right, messages):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
