# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "model.forward(x) skips the hooks of the model itself, but not its layers' hooks"
# kind = "silent"
# symptom = "the hook has not run"
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/117925",
#     "https://github.com/dotnet/TorchSharp/issues/1203",
#     "https://github.com/DLR-RM/stable-baselines3/issues/752",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.forward",
#     "https://github.com/MPoL-dev/MPoL/issues/151",
# ]
# wrong = '''
# output = model.forward(x)
# '''
# right = '''
# output = model(x)
# '''
# rule = "note"
# when = "the model has hooks, such as those of weight_norm()"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The output is right, but the model's hooks have not run.

Calling the module runs its hooks around forward(), but forward() itself runs no hooks (docs:
torch.nn.Module.forward, pytorch#117925). The layers that forward() calls run their hooks either
way. In torch.nn.utils, weight_norm(), spectral_norm() and prune use hooks that run before
forward(). If you call such a layer's forward() by name, the layer uses the weight from its last
call. Before the first call, spectral_norm() has not normalized the weight. The parametrizations in
torch.nn.utils do not depend on the call (torch/nn/utils/parametrize.py).
"""

import torch


def start(device):
    model, seen = torch.nn.Sequential(torch.nn.Linear(2, 2)).to(device), []
    model.register_forward_hook(lambda module, args, output: seen.append("model"))
    model[0].register_forward_hook(lambda module, args, output: seen.append("layer"))
    return model, torch.ones(1, 2, device=device), seen


def check(model, x, output, seen):
    if not torch.allclose(output, x @ model[0].weight.T + model[0].bias):
        return "the output is wrong"
    if seen != ["layer", "model"]:
        return f"the hook has not run, only {seen}"


def reproduce(device):
    model, x, seen = start(device)
    output = model.forward(x)
    return check(model, x, output, seen)


def control(device):
    model, x, seen = start(device)
    output = model(x)
    return check(model, x, output, seen)


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
