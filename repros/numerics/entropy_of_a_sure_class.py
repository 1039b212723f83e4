# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "An entropy written as p * log(p) is nan if one probability is zero"
# kind = "silent"
# symptom = "entropy nan, gradient nan|entropy 0, gradient nan"
# messages = ["Backward\\w{0,3}.{1,2} returned nan values in its \\d{1,2}\\w\\w output"]
# origin = "usage"
# reports = ["https://github.com/kkirchheim/pytorch-ood/issues/84"]
# documents = [
#     "https://github.com/OpenBMB/ModelCenter/issues/14",
#     "https://github.com/huggingface/trl/issues/7221",
#     "https://github.com/huggingface/trl/pull/7224",
#     "https://docs.pytorch.org/docs/stable/generated/torch.special.xlogy.html",
# ]
# wrong = '''
# p = logits.softmax(-1)
# entropy = -(p * p.log()).sum(-1)
# '''
# right = '''
# logp = logits.log_softmax(-1)
# p = logp.exp()
# entropy = -(p * logp.masked_fill(p == 0, 0)).sum(-1)
# '''
# rule = "warning"
# when = "the logits of one sample differ by more than about 100 (17 in float16)"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""0 * log(0) is 0 * -inf, which is nan (kkirchheim/pytorch-ood#84). If the model becomes certain of
one class, training therefore ends in nan.

The function xlogy() treats 0 * log(0) as 0 and has been proposed as a fix (huggingface/trl#7224).
It fixes the value, but its gradient at 0 is inf, which the softmax turns into nan.

With log_softmax(), the log of each finite logit is finite, unless two logits differ by more than
the largest number of the dtype. With a logit of -inf, which a mask can write, the product would be
0 * -inf there too (huggingface/trl#7221, OpenBMB/ModelCenter#14). The corrected lines therefore
keep a probability of 0 out of the product. (A row that is fully masked stays nan.)

Some probabilities do not come from a softmax, such as a mean over the batch when computing mutual
information. For these, -(p * p.clamp(min=torch.finfo(p.dtype).tiny).log()).sum(-1) has a finite
value and gradient.
"""

import torch


def naive(logits):
    p = logits.softmax(-1)
    entropy = -(p * p.log()).sum(-1)
    return entropy


def from_logs(logits):
    logp = logits.log_softmax(-1)
    p = logp.exp()
    entropy = -(p * logp.masked_fill(p == 0, 0)).sum(-1)
    return entropy


def with_xlogy(logits):
    p = logits.softmax(-1)
    return -torch.xlogy(p, p).sum(-1)


def check(device, entropy_of):
    logits = torch.tensor([0.0, 200.0], device=device, requires_grad=True)
    entropy = entropy_of(logits)
    entropy.backward()
    if entropy.isnan() or logits.grad.isnan().any():
        return f"entropy {abs(entropy.item()):g}, gradient {logits.grad[0].item():g}"
    logits = torch.tensor([[0.0, 1.0986123, float("-inf")]], device=device, requires_grad=True)
    entropy = entropy_of(logits)  # of 1/4, 3/4 and a class that is masked
    entropy.sum().backward()
    slope = 3 / 16 * 1.0986123  # p * q * log(q / p)
    expected = torch.tensor([[slope, -slope, 0.0]], device=device)
    if abs(entropy.item() - 0.5623351) > 1e-5 or not torch.allclose(logits.grad, expected):
        return f"entropy {entropy.item():g}, gradient {logits.grad.tolist()}"


def reproduce(device):
    return check(device, naive)


def control(device):
    return check(device, from_logs)


def messages(device):
    logits = torch.tensor([0.0, 200.0], device=device, requires_grad=True)
    try:
        with torch.autograd.detect_anomaly():
            naive(logits).backward()
    except RuntimeError as error:
        return str(error)


def popular_fix(device):
    return check(device, with_xlogy)


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
