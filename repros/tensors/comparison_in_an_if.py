# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "`if predicted == labels` fails for a batch, because the comparison has one value per sample"
# kind = "error"
# symptom = "Boolean value of Tensor with more than one value is ambiguous"
# messages = ["Boolean value of Tensor with more than one value is ambiguous"]
# elsewhere = [
#     "bool value of Tensor with more than one value is ambiguous",
#     "bool value of Variable objects containing non-empty .{1,40}? is ambiguous",
# ]
# origin = "design"
# reports = [
#     "https://github.com/kingsman142/captcha-solver/issues/2",
#     "https://github.com/ZhengPeng7/GLCNet/issues/5",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.eq.html",
#     "https://docs.pytorch.org/docs/stable/notes/broadcasting.html",
# ]
# wrong = '''
# if outputs.argmax(1) == labels:
#     correct += 1
# '''
# right = '''
# correct += (outputs.argmax(1) == labels).sum().item()
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Code that counts correct predictions fails as soon as a batch has several samples, or a sample
has several labels (kingsman142/captcha-solver#2).

The operator == compares element by element (docs: torch.eq), but an if statement needs a single
truth value (aten/src/ATen/native/TensorCompare.cpp). The sum of the comparison is the number of
correct predictions. The keywords `while`, `assert`, `and`, `or` and `not`, and a chain such as 0 <
x < 1, need a truth value too. For a mask, write & and | with parentheses, as in (0 < x) & (x < 1)
(ZhengPeng7/GLCNet#5).

For the same mistake, NumPy's message suggests all(), which removes the error. However, a batch then
counts only if every prediction is right, so the accuracy is too low. If all labels of a sample must
be right, as in a captcha, use (predicted == labels).all(1).sum().item().

If the labels have the shape [batch, 1], compare with labels.flatten(). Otherwise, each prediction is
compared with every label (docs: notes/broadcasting), and the count is wrong without an error.
"""

import torch


def by_if(correct, outputs, labels):
    if outputs.argmax(1) == labels:
        correct += 1
    return correct


def by_sum(correct, outputs, labels):
    correct += (outputs.argmax(1) == labels).sum().item()
    return correct


def by_all(correct, outputs, labels):
    if (outputs.argmax(1) == labels).all():
        correct += 1
    return correct


def evaluate(device, count):
    outputs, correct = torch.eye(5, 3, device=device), 0
    labels = torch.tensor([0, 1, 2, 1, 0], device=device)
    try:
        for start in range(0, 5, 2):
            rows = slice(start, start + 2)
            correct = count(correct, outputs[rows], labels[rows])
    except RuntimeError as error:
        return str(error)
    if correct != 4:
        return f"{correct} predictions are counted instead of 4"


def reproduce(device):
    return evaluate(device, by_if)


def control(device):
    return evaluate(device, by_sum)


def popular_fix(device):
    return evaluate(device, by_all)


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
