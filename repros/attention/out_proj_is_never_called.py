# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A LoRA adapter in a forward hook on MultiheadAttention.out_proj is not trained"
# kind = "silent"
# symptom = "the adapter of out_proj has no gradient"
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/78109"]
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/nn/modules/activation.py",
#     "https://github.com/helicalAI/helical/pull/405",
# ]
# wrong = '''
# attention.out_proj.register_forward_hook(lambda _, x, y: y + x[0] @ lora.delta.T)
# '''
# right = '''
# from torch.nn.utils.parametrize import register_parametrization
# register_parametrization(attention.out_proj, "weight", lora)  # lora(weight): weight + lora.delta
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Fine-tuning runs, but the output projection's adapter is not trained.

MultiheadAttention reads out_proj.weight and out_proj.bias and never calls out_proj
(torch/nn/modules/activation.py, pytorch#78109), so hooks on out_proj and wrappers of its forward
have no effect (helicalAI/helical#405). If you only want to read the output, register the hook on
the attention module, whose first output is out_proj's output. A parametrization changes the weight
itself. Because it registers the adapter in the model, freeze the model first. Create the adapter in
the model's dtype. The optimizer raises an error if one group contains model.parameters() and
another contains the adapter.

A parametrization renames the weight in the state_dict, and calling torch.save() on the module
itself raises an error. Load the model's checkpoint before you add the parametrization. Merge the
adapter with remove_parametrizations() only after the training (control), because a merged adapter
is no longer trained. Do not merge the adapter in a deep copy of the model, because the original
then loses its weight.
"""

import torch
from torch.nn.utils.parametrize import register_parametrization, remove_parametrizations


class Lora(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.delta = torch.nn.Parameter(torch.zeros(8, 8))

    def forward(self, weight):
        return weight + self.delta


def hook(attention, lora):
    attention.out_proj.register_forward_hook(lambda _, x, y: y + x[0] @ lora.delta.T)


def parametrization(attention, lora):
    register_parametrization(attention.out_proj, "weight", lora)


def train(device, adapt):
    attention, lora = torch.nn.MultiheadAttention(8, 2).to(device), Lora().to(device)
    keys = set(attention.state_dict())
    adapt(attention, lora)
    x = torch.ones(3, 1, 8, device=device)
    attention(x, x, x)[0].sum().backward()
    if lora.delta.grad is None:
        return "the adapter of out_proj has no gradient"
    if not torch.allclose(
        lora.delta.grad, attention.out_proj.parametrizations.weight.original.grad
    ):
        return "the gradient is not that of the weight"
    remove_parametrizations(attention.out_proj, "weight")
    if set(attention.state_dict()) != keys:
        return "the merged model has other keys"


def reproduce(device):
    return train(device, hook)


def control(device):
    return train(device, parametrization)


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
