# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "ctc_loss() of logits can be negative, and its gradient does not match its value"
# kind = "silent"
# symptom = "the loss is -13.5, and a step raises it"
# origin = "usage"
# reports = [
#     "https://github.com/gwx314/STARS/issues/9",
#     "https://github.com/SeanNaren/deepspeech.pytorch/issues/488",
#     "https://github.com/jeremyfix/deeplearning-lectures/issues/22",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/190863",
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.CTCLoss.html",
# ]
# wrong = '''
# loss = ctc_loss(logits, labels, frames, lengths)  # logits: [time, batch, classes]
# '''
# right = '''
# loss = ctc_loss(logits.log_softmax(-1), labels, frames, lengths)
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# ///
"""The loss can be below zero, and a step against its gradient can increase the loss.

ctc_loss() expects log-probabilities (docs: torch.nn.CTCLoss), which it cannot check, and unlike
cross_entropy() it applies no softmax. Only cuDNN applies a softmax, and torch may use cuDNN if the
labels are int32 in one dimension (aten/src/ATen/native/cudnn/LossCTC.cpp). For logits, the forward
pass adds up numbers that are not probabilities, and the gradient is right only if log_softmax()
came before (pytorch/pytorch#190863). For the logits in this reproducer, even a small step increases
the loss. A softmax without the logarithm is wrong too. The CPU rejects bfloat16: outside the
autocast block, call logits.float() first. A log_softmax() of log-probabilities changes nothing, so
the corrected line is safe if the model already ends in log_softmax().
"""

import itertools

import torch
from torch.nn.functional import ctc_loss


def of_logits(logits, labels, frames, lengths):
    loss = ctc_loss(logits, labels, frames, lengths)  # logits: [time, batch, classes]
    return loss


def of_log_probabilities(logits, labels, frames, lengths):
    loss = ctc_loss(logits.log_softmax(-1), labels, frames, lengths)
    return loss


def check(device, loss_of):
    logits = torch.eye(3, device=device)[[1, 2, 0], None] * 9  # three frames, surely "ab"
    rest = torch.tensor([[1, 2]], device=device), torch.tensor([3]), torch.tensor([2])
    logits.requires_grad_()
    loss = loss_of(logits, *rest)
    loss.backward()
    step, loss = logits.grad / logits.grad.norm() / 10, loss.item()
    if loss_of(logits - step, *rest).item() > loss:
        return f"the loss is {loss:.1f}, and a step raises it"
    p = logits[:, 0].softmax(1).tolist()
    likelihood = sum(  # of all paths that read "ab"
        p[0][path[0]] * p[1][path[1]] * p[2][path[2]]
        for path in itertools.product(range(3), repeat=3)
        if [label for label, _ in itertools.groupby(path) if label] == [1, 2]
    )
    expected = -torch.tensor(likelihood).log().item() / 2  # the mean divides by the two labels
    if abs(loss - expected) > 0.001:
        return f"the loss is {loss:.4f} instead of {expected:.4f}"


def reproduce(device):
    return check(device, of_logits)


def control(device):
    return check(device, of_log_probabilities)


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
