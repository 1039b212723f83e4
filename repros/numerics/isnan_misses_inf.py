# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "An isnan() check on the loss lets an infinite loss corrupt the weights"
# kind = "silent"
# symptom = "the loss was inf, the weight is -inf"
# origin = "usage"
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.isfinite.html",
#     "https://github.com/inferno-pytorch/inferno/pull/119",
# ]
# wrong = '''
# loss.backward()
# if not loss.isnan():
#     optimizer.step()
# model.zero_grad()
# '''
# right = '''
# loss.backward()
# if all(p.grad.isfinite().all() for p in model.parameters() if p.grad is not None):
#     optimizer.step()
# model.zero_grad()
# '''
# fix = "numerics.clip_or_skip"
# use = '''
# from numerics import clip_or_skip
# loss.backward()
# clip_or_skip(optimizer, max_norm=float("inf"))
# model.zero_grad()
# '''
# choice = "Normally, use the lines without the fix; use the fix for sparse gradients or on a GPU, where the fix reads from the device once, but the lines read once for each parameter"
# rule = "note"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The loss is inf, and because isnan(inf) is False, the check passes, the step runs and the weight
becomes -inf.

For both inf and NaN, isfinite() is False (docs: torch.isfinite). For that reason, a NaN detector
was changed to isfinite() (inferno-pytorch/inferno#119). However, the step uses the gradients, not
the loss. Checking only the loss, even with isfinite(), misses an inf from an earlier accumulated
batch or from another rank. It also misses a finite loss whose gradient is not finite, as for a
square root at 0.

The corrected code protects only the weights. A BatchNorm adds an infinite input to its running
statistics before the check, and skipping the step does not undo this. A finite gradient whose
square overflows, such as 1e22, also passes the check. From then on, the second moment of Adam,
RMSprop or Adagrad is inf, and the weight stops changing. Calling clip_grad_value_() between the
check and the step prevents this. Before the check, the call would turn an inf into a finite
gradient and hide it.
"""

import torch


def start(device):
    model = torch.nn.Linear(1, 1, bias=False).to(device)
    torch.nn.init.ones_(model.weight)
    return model, torch.optim.SGD(model.parameters(), lr=0.1)


def losses(model):
    yield (model.weight * 100).exp().sum()  # overflows in float32
    yield 1 + (model.weight * 0).sqrt().sum()  # finite, and its gradient is not
    yield model.weight.sum()


def check(model, loss):
    if not model.weight.isfinite().all():
        return f"the loss was {loss.item()}, the weight is {model.weight.item()}"


def reproduce(device):
    model, optimizer = start(device)
    for loss in losses(model):
        loss.backward()
        if not loss.isnan():
            optimizer.step()
        model.zero_grad()
        if problem := check(model, loss):
            return problem


def control(device):
    model, optimizer = start(device)
    for loss in losses(model):
        loss.backward()
        if all(p.grad.isfinite().all() for p in model.parameters() if p.grad is not None):
            optimizer.step()
        model.zero_grad()
    if not abs(model.weight.item() - 0.9) < 1e-6:
        return f"the weight is {model.weight.item()} after one good step instead of 0.9"


def popular_fix(device):
    model, optimizer = start(device)
    for loss in losses(model):
        loss.backward()
        if loss.isfinite():
            optimizer.step()
        model.zero_grad()
        if problem := check(model, loss):
            return problem


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, popular_fix):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
