# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "model.forward(x) skips every hook of the model"
# kind = "silent"
# symptom = "the hook has not run"
# keywords = [
#     "forward hook is not called",
#     "activations are empty",
#     "register_full_backward_hook does not fire",
#     "model(x) or model.forward(x)",
#     "register_forward_hook does nothing",
#     "feature extraction hook returns nothing",
#     "my hook never prints anything",
#     "feature extraction dictionary stays empty after the forward pass",
#     "Grad-CAM hook gets no activations",
#     "registered hook but nothing is captured",
#     "hooks ignored when calling forward directly",
#     "spectral norm or weight norm not applied",
#     "FLOPs counter or profiler shows zero for my model",
#     "what is the difference between calling model and model.forward",
#     "pruning mask not applied in the forward pass",
#     "forward pre hook is skipped",
#     "intermediate layer outputs list has length zero",
# ]
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
# model.forward(x)
# '''
# right = '''
# model(x)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The output is right, and what the hooks should have done has not happened.

Calling the module runs its hooks around forward(); forward() itself knows nothing of
them (docs: torch.nn.Module.forward, pytorch#117925).
"""

import torch
from torch.nn import Linear


def predict(device, call):
    model, seen = Linear(2, 2).to(device), []
    model.register_forward_hook(lambda module, args, output: seen.append(output))
    x = torch.ones(1, 2, device=device)
    call(model, x)
    if not seen:
        return "the hook has not run"


def reproduce(device):
    return predict(device, lambda model, x: model.forward(x))


def control(device):
    return predict(device, lambda model, x: model(x))


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
