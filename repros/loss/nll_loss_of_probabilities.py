# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "nll_loss() of probabilities is negative, and hardly corrects a confident mistake"
# kind = "silent"
# symptom = "the loss is -0.5, not 0.69"
# origin = "usage"
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.NLLLoss.html",
# ]
# wrong = '''
# loss = torch.nn.functional.nll_loss(logits.softmax(1), labels)
# '''
# right = '''
# loss = torch.nn.functional.cross_entropy(logits, labels)
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The loss lies between -1 and 0, and a confident mistake has almost no gradient.

nll_loss() picks the entry of each label and returns its negative. It expects log-probabilities
(docs: torch.nn.NLLLoss), but cannot check this. The negative probability is also smallest for a
perfect model, so training seems to work, but it learns slowly. cross_entropy() takes the logits and
computes the logarithm itself. If the model ends in log_softmax(), nll_loss() is right as it is; if
it ends in softmax(), remove the softmax.
"""

import torch


def check(loss_of, device):
    logits = torch.tensor([[0.0, 0.0], [9.0, -9.0]], device=device, requires_grad=True)
    labels = torch.tensor([0, 1], device=device)  # the second is a confident mistake
    loss = loss_of(logits[:1], labels[:1])
    if abs(loss.item() - 0.693) > 0.001:
        return f"the loss is {loss.item()}, not 0.69"
    loss_of(logits, labels).backward()
    if logits.grad[1].norm() < 0.1:
        return "a confident mistake has no gradient"


def of_probabilities(logits, labels):
    loss = torch.nn.functional.nll_loss(logits.softmax(1), labels)
    return loss


def of_logits(logits, labels):
    loss = torch.nn.functional.cross_entropy(logits, labels)
    return loss


def reproduce(device):
    return check(of_probabilities, device)


def control(device):
    return check(of_logits, device)


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
