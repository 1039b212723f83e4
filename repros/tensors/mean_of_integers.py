# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "mean() of a comparison or of integers fails, for example in an accuracy"
# kind = "error"
# symptom = "mean\\(\\): could not infer output dtype"
# messages = [
#     "mean\\(\\): could not infer output dtype",
#     "std and var only support floating point and complex dtypes",
# ]
# elsewhere = [
#     "mean\\(\\): input dtype should be either floating point or complex",
#     "Can only calculate the mean of floating types",
# ]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/64897",
#     "https://github.com/pytorch/pytorch/issues/94909",
#     "https://github.com/pytorch/pytorch/issues/120173",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/notes/broadcasting.html",
#     "https://docs.pytorch.org/docs/stable/generated/torch.mean.html",
#     "https://github.com/pyg-team/pytorch_geometric/pull/7735",
#     "https://github.com/microsoft/mup/pull/33",
# ]
# wrong = '''
# accuracy = (outputs.argmax(1) == labels).mean()
# '''
# right = '''
# accuracy = (outputs.argmax(1) == labels).float().mean()
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The accuracy of a batch, or the mean of token ids (microsoft/mup#33) or image bytes, cannot be
computed, although the same line works in NumPy (pytorch#94909).

The result of mean() has the dtype of its input, but an integer or bool cannot be 0.75
(aten/src/ATen/native/ReduceOps.cpp). std() and var() fail in the same way. Call float() before
mean(). For integers above 2**24, use double(), because float32 rounds them.

The end of the message names the dtype. Bool indicates a comparison or a mask. Long, Int and Byte
indicate labels, token ids, counts or images, and often that an earlier float() is missing.

If the labels have the shape [batch, 1], compare with labels.flatten(). Otherwise, each prediction is
compared with every label (docs: notes/broadcasting), and the accuracy is wrong without an error.
"""

import torch


def of_bools(outputs, labels):
    accuracy = (outputs.argmax(1) == labels).mean()
    return accuracy


def of_floats(outputs, labels):
    accuracy = (outputs.argmax(1) == labels).float().mean()
    return accuracy


def evaluate(device, accuracy_of):
    outputs = torch.eye(4, 3, device=device)
    labels = torch.tensor([0, 1, 2, 2], device=device)
    try:
        accuracy = accuracy_of(outputs, labels)
    except RuntimeError as error:
        return str(error)
    if accuracy.item() != 0.75:
        return f"the accuracy is {accuracy.item()}"


def reproduce(device):
    return evaluate(device, of_bools)


def control(device):
    return evaluate(device, of_floats)


def messages(device):
    texts = []
    for function in (torch.mean, torch.std, torch.var):
        try:
            function(torch.arange(3, device=device))
        except RuntimeError as error:
            texts.append(str(error))
    return "\n".join(texts)


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
