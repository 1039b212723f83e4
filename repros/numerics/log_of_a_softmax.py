# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A cross entropy written as -log(softmax) is inf for a confident mistake, and its gradient is nan"
# kind = "silent"
# symptom = "loss inf, gradient nan|loss 18\\.\\d, gradient 0 "
# messages = ["Backward\\w{0,3}.{1,2} returned nan values in its \\d{1,2}\\w\\w output"]
# origin = "usage"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/1620",
#     "https://github.com/skorch-dev/skorch/issues/481",
#     "https://github.com/summerlvsong/Aggregation-Cross-Entropy/issues/2",
# ]
# documents = [
#     "https://github.com/NVIDIA/apex/issues/358",
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.log_softmax.html",
# ]
# wrong = '''
# loss = -logits.softmax(-1).log().gather(-1, y.unsqueeze(-1)).mean()
# '''
# right = '''
# loss = -logits.log_softmax(-1).gather(-1, y.unsqueeze(-1)).mean()
# '''
# rule = "warning"
# when = "the logits of one sample differ by more than about 88 (11 in float16)"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""If the logits of one sample are far apart, the softmax rounds the label's probability to 0. The
log is then -inf, and the gradient is inf * 0 = nan (pytorch#1620). The gradient is already nan if
the logits differ by 89, or by 12 in float16, although the loss is still finite.

The function log_softmax() never computes the probability (docs: torch.nn.functional.log_softmax).
The usual advice is to add 1e-8 inside the log (NVIDIA/apex#358). In float32, this makes the loss
finite, but the gradient is 0 for exactly the samples that should have the largest gradient. In
float16, 1e-8 is 0, and the loss stays inf.

If the label's own logit is -inf, for example because of a mask, the loss is still inf. In a focal
loss, compute logp with log_softmax() and p = logp.exp(). If gamma is below 1, the gradient of (1 -
p) ** gamma is nan where p is 1.
"""

import torch


def naive(logits, y):
    loss = -logits.softmax(-1).log().gather(-1, y.unsqueeze(-1)).mean()
    return loss


def from_logs(logits, y):
    loss = -logits.log_softmax(-1).gather(-1, y.unsqueeze(-1)).mean()
    return loss


def with_epsilon(logits, y):
    return -(logits.softmax(-1) + 1e-8).log().gather(-1, y.unsqueeze(-1)).mean()


def train(device, loss_of):
    logits = torch.tensor([[0.0, 200.0]], device=device, requires_grad=True)
    loss = loss_of(logits, torch.tensor([0], device=device))
    loss.backward()
    slope = logits.grad[0, 0].item()
    if not abs(slope + 1) < 1e-5 or abs(loss.item() - 200) > 1e-3:
        return f"loss {loss.item():.4g}, gradient {slope:g} instead of -1"


def reproduce(device):
    return train(device, naive)


def control(device):
    return train(device, from_logs)


def messages(device):
    logits = torch.tensor([[0.0, 200.0]], device=device, requires_grad=True)
    try:
        with torch.autograd.detect_anomaly():
            naive(logits, torch.tensor([0], device=device)).backward()
    except RuntimeError as error:
        return str(error)


def popular_fix(device):
    return train(device, with_epsilon)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, messages, popular_fix):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
