# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A model built under inference_mode cannot be trained"
# kind = "error"
# symptom = "Inference tensors cannot be saved for backward.* and (?:Inplace update to inference tensor|Inference tensors cannot)"
# messages = [
#     "Inplace update to inference tensor outside InferenceMode is not allowed",
#     "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed",
# ]
# origin = "design"
# reports = [
#     "https://github.com/unslothai/unsloth/issues/608",
#     "https://github.com/unslothai/unsloth/issues/1223",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.autograd.grad_mode.inference_mode.html",
#     "https://docs.pytorch.org/cppdocs/notes/inference_mode.html",
#     "https://github.com/unslothai/unsloth-zoo/pull/137",
# ]
# wrong = '''
# with torch.inference_mode():
#     model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Linear(8, 4))
# '''
# right = '''
# with torch.no_grad():
#     model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Linear(8, 4))
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Tensors created in inference_mode(), including parameters, cannot be used in operations that
autograd records (docs: torch.autograd.grad_mode.inference_mode) or changed outside the mode (docs:
c10::InferenceMode). Two nn.Linear layers fail in the forward pass, which saves a weight for the
backward pass. A single nn.Linear saves no weight, so the optimizer fails instead. On MPS nn.Linear
always saves its weight (torch's derivatives.yaml), so the forward pass should fail there too (not
measured). A fused optimizer on the CPU does not fail on 2.13 and 2.15: it trains the bias and
leaves the weight unchanged. Without a bias, the loss of an nn.Linear has no graph. An nn.Conv1d
fails in the forward pass with or without a bias.

Training fails even if only part of the model is built in this mode. For example, Unsloth's
add_new_tokens(), which creates new weights, ran under inference_mode, so training failed afterwards
(unslothai/unsloth-zoo#137). If a library builds the model in this mode, call copy.deepcopy(model)
outside the mode, and train the copy.
"""

import torch


def in_inference_mode():
    with torch.inference_mode():
        model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Linear(8, 4))
    return model


def without_gradients():
    with torch.no_grad():
        model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Linear(8, 4))
    return model


def first_step(device, model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    before = [p.clone() for p in model.parameters()]
    try:
        model(torch.ones(3, 6, device=device)).sum().backward()
        optimizer.step()
    except RuntimeError as error:
        return str(error)
    if any(torch.equal(p, was) for p, was in zip(model.parameters(), before)):
        return "a parameter has not moved"


def train(device, build):
    errors = [first_step(device, model.to(device)) for model in (build(), build()[:1])]
    if any(errors):
        return " and ".join(map(str, errors))


def reproduce(device):
    return train(device, in_inference_mode)


def control(device):
    return train(device, without_gradients)


def messages(device):
    try:
        in_inference_mode().requires_grad_(False).requires_grad_()
    except RuntimeError as error:
        return str(error)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, messages):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
