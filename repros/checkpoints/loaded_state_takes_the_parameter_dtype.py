# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "The float32 state of an optimizer becomes bfloat16 when it is loaded for bfloat16 weights"
# kind = "silent"
# symptom = "the sum stays at 1.0 after a resume"
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/43706",
#     "https://github.com/facebookresearch/fairscale/issues/50",
# ]
# documents = ["https://github.com/pytorch/pytorch/blob/v2.13.0/torch/optim/optimizer.py"]
# wrong = '''
# optimizer.load_state_dict(state)
# '''
# right = '''
# optimizer.load_state_dict(state)
# ids = [i for group in state["param_groups"] for i in group["params"]]
# parameters = [p for group in optimizer.param_groups for p in group["params"]]
# for i, p in zip(ids, parameters):
#     for key, value in state["state"].get(i, {}).items():
#         if torch.is_tensor(value) and value.dtype != optimizer.state[p][key].dtype:
#             optimizer.state[p][key] = value.to(p.device, copy=True)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# ///
"""A resumed run trains less well than an uninterrupted one, although the checkpoint is complete.

load_state_dict() assumes that the state of each floating-point parameter has the parameter's dtype,
and casts every tensor except "step" (torch/optim/optimizer.py). If the weights are float16 or
bfloat16, an optimizer that kept averages, sums or master weights in float32 continues in low
precision. In this precision, small updates are rounded away. Casting back to float32 does not
restore the lost digits (facebookresearch/fairscale#50).

The corrected lines are for an optimizer that creates its state in float32 itself. The optimizers of
torch create their state in the dtype of the weights, except mu_product in NAdam, and eta and mu in
ASGD. Adam raises an error if the dtypes of its averages and its weights differ. This happens, for
example, after these lines have loaded a bfloat16 checkpoint for float32 weights. State in nested
dictionaries needs the same treatment.
"""

import torch


class Summing(torch.optim.Optimizer):
    """Keeps the sum of the gradients in float32."""

    def __init__(self, params):
        super().__init__(params, {})

    @torch.no_grad()
    def step(self):
        for p in (p for group in self.param_groups for p in group["params"]):
            if "sum" not in self.state[p]:
                self.state[p]["sum"] = torch.zeros_like(p, dtype=torch.float32)
            self.state[p]["sum"] += p.grad


def cast(optimizer, state):
    optimizer.load_state_dict(state)


def kept(optimizer, state):
    optimizer.load_state_dict(state)
    ids = [i for group in state["param_groups"] for i in group["params"]]
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    for i, p in zip(ids, parameters):
        for key, value in state["state"].get(i, {}).items():
            if torch.is_tensor(value) and value.dtype != optimizer.state[p][key].dtype:
                optimizer.state[p][key] = value.to(p.device, copy=True)


def check(device, load):
    weight = torch.nn.Parameter(torch.zeros(1, device=device, dtype=torch.bfloat16))
    optimizer, resumed = Summing([weight]), Summing([weight])
    weight.grad = torch.ones_like(weight)
    optimizer.step()
    load(resumed, optimizer.state_dict())
    weight.grad = torch.full_like(weight, 2**-9)
    for _ in range(64):
        resumed.step()
    total = resumed.state[weight]["sum"].item()
    if total == 1:
        return "the sum stays at 1.0 after a resume"
    if total != 1.125 or optimizer.state[weight]["sum"].item() != 1:
        return f"the sum is {total} instead of 1.125, or both optimizers share it"


def reproduce(device):
    return check(device, cast)


def control(device):
    return check(device, kept)


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
