# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A model built under inference_mode cannot be trained"
# kind = "error"
# symptom = "Inplace update to inference tensor outside InferenceMode"
# messages = ["Inplace update to inference tensor outside InferenceMode is not allowed"]
# origin = "design"
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.autograd.grad_mode.inference_mode.html",
#     "https://github.com/unslothai/unsloth-zoo/pull/137",
# ]
# wrong = '''
# with torch.inference_mode():
#     model = torch.nn.Linear(2, 1)
# '''
# right = '''
# with torch.no_grad():
#     model = torch.nn.Linear(2, 1)
# '''
# fix = "rnn.no_grad_eval"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The first step of the optimizer raises: tensors made in inference_mode(), parameters too,
cannot be changed in place outside of it.

Other models fail before that, with "Inference tensors cannot be saved for backward"
(unslothai/unsloth-zoo#137).
"""

import torch


def first_step(device, mode):
    with mode():
        model = torch.nn.Linear(2, 1).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(torch.ones(3, 2, device=device)).sum().backward()
    try:
        optimizer.step()
    except RuntimeError as error:
        return str(error)


def reproduce(device):
    return first_step(device, torch.inference_mode)


def control(device):
    return first_step(device, torch.no_grad)


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
