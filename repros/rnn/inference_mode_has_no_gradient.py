# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "enable_grad() inside inference_mode() does not turn gradients on again"
# kind = "error"
# symptom = "element 0 of tensors does not require grad"
# messages = ["element \\d{1,9} of tensors does not require grad and does not have a grad_fn"]
# origin = "design"
# reports = [
#     "https://github.com/Lightning-AI/pytorch-lightning/issues/19910",
#     "https://github.com/Lightning-AI/pytorch-lightning/issues/14497",
# ]
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.autograd.grad_mode.inference_mode.html"]
# wrong = '''
# with torch.inference_mode():
#     x = next(batches)
#     with torch.enable_grad():
#         loss = model(x).sum()
# loss.backward()
# '''
# right = '''
# with torch.no_grad():
#     x = next(batches)
#     with torch.enable_grad():
#         torch.clear_autocast_cache()  # before torch 2.11, autocast keeps casts without a graph
#         loss = model(x).sum()
# loss.backward()
# '''
# fix = "rnn.differentiable_eval"
# use = '''
# from rnn import differentiable_eval
# with torch.inference_mode():
#     x = next(batches)
#     with differentiable_eval(model):
#         loss = model(x.clone()).sum()  # a batch made in this mode cannot be saved for backward
# loss.backward()
# '''
# choice = "Use the lines without the fix if you choose the outer mode; use the fix if a framework chooses it and the model should be in eval mode"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""If an outer inference_mode() is active, as in a test_step of Lightning, a loss that is computed
under enable_grad() has no graph (Lightning-AI/pytorch-lightning#19910).

Within no_grad(), enable_grad() turns gradients on again, but within inference_mode() it does not. A
batch created in inference mode is an inference tensor, which autograd refuses to save, so clone the
batch outside the mode (docs: torch.autograd.grad_mode.inference_mode). If a caller is in
inference_mode(), the corrected code builds no graph either.
"""

import torch


def start(device):
    model = torch.nn.Linear(3, 1, bias=False).to(device)
    return model, (torch.ones(2, 3, device=device) for _ in range(1))


def reproduce(device):
    model, batches = start(device)
    with torch.inference_mode():
        x = next(batches)
        with torch.enable_grad():
            loss = model(x).sum()
    try:
        loss.backward()
    except RuntimeError as error:
        return str(error)


def control(device):
    model, batches = start(device)
    with torch.no_grad():
        x = next(batches)
        with torch.enable_grad():
            torch.clear_autocast_cache()
            loss = model(x).sum()
    loss.backward()
    if model.weight.grad.tolist() != [[2, 2, 2]]:
        return f"the gradient is {model.weight.grad.tolist()}"


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
