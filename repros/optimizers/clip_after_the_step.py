# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "clip_grad_norm_() after optimizer.step() clips nothing"
# kind = "silent"
# symptom = "the step was 10 long, not 0.1"
# origin = "usage"
# reports = [
#     "https://github.com/VGraphRNN/VGRNN/issues/4",
#     "https://github.com/jongwook/onsets-and-frames/issues/24",
#     "https://github.com/awslabs/graphstorm/issues/1366",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_norm_.html",
# ]
# wrong = '''
# loss.backward()
# optimizer.step()
# torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
# '''
# right = '''
# loss.backward()
# torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
# optimizer.step()
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Training diverges as it did without clipping, and no value of max_norm changes that.

clip_grad_norm_() changes the gradients (docs: torch.nn.utils.clip_grad_norm_). The step has already
used them, and zero_grad() clears them before the next step. The same applies to clip_grad_value_().
With a GradScaler, call scaler.unscale_(optimizer) first (see amp/clip_before_unscale). With
gradient accumulation, clip once per step, not after each backward(). A large norm in the log is not
a sign of this failure: the function returns the norm before clipping.
"""

import torch


def start(device):
    model = torch.nn.Linear(1, 1, bias=False).to(device)
    torch.nn.init.zeros_(model.weight)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return model, optimizer, model(torch.full((1, 1), 100.0, device=device)).sum()


def check(model):
    length = model.weight.abs().item()
    if abs(length - 0.1) > 1e-5:
        return f"the step was {length:.0f} long, not 0.1"


def reproduce(device):
    model, optimizer, loss = start(device)
    loss.backward()
    optimizer.step()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    return check(model)


def control(device):
    model, optimizer, loss = start(device)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return check(model)


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
