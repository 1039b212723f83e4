# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A loop over range(batch_size) runs past the end of the last batch if this batch is smaller"
# kind = "error"
# symptom = "index 1 is out of bounds for dimension 0 with size 1"
# messages = ["index -?\\d{1,20} is out of bounds for dimension \\d{1,2} with size \\d{1,12}"]
# elsewhere = [
#     "select\\(\\): index -?\\d{1,20} out of range for tensor of size \\[",
#     "index -?\\d{1,20} is out of range for dimension \\d{1,2} \\(of size",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/udacity/deep-learning-v2-pytorch/issues/111",
#     "https://github.com/xmindflow/deformableLKA/issues/20",
#     "https://github.com/Yao-DD/S3N/issues/7",
# ]
# documents = ["https://docs.pytorch.org/docs/stable/data.html"]
# wrong = '''
# for i in range(batch_size):
#     class_correct[labels[i]] += correct[i].item()
# '''
# right = '''
# for i in range(len(labels)):
#     class_correct[labels[i]] += correct[i].item()
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Computing the accuracy per class, or logging some images, fails in the last batch of the epoch
(udacity/deep-learning-v2-pytorch#111). The size in the message is that batch's size.

A DataLoader returns the remaining samples as a smaller batch (docs: torch.utils.data), so the
number of samples is len(labels), not batch_size. An image at a fixed position, such as images[1],
fails if the last batch has one image (xmindflow/deformableLKA#20): use images[0]. If squeeze() is
called on `correct`, a batch of one sample loses its only dimension: use flatten() instead.

With drop_last=True, the error disappears. In a test loader, however, the result then does not
include the remaining samples.
"""

import torch
from torch.utils.data import DataLoader, TensorDataset

LABELS = torch.tensor([0, 1, 2, 0, 2])


def over_the_batch_size(class_correct, correct, labels, batch_size):
    for i in range(batch_size):
        class_correct[labels[i]] += correct[i].item()


def over_the_labels(class_correct, correct, labels, batch_size):
    for i in range(len(labels)):
        class_correct[labels[i]] += correct[i].item()


def evaluate(device, count, **options):
    dataset = TensorDataset(torch.eye(3)[[0, 1, 1, 0, 2]], LABELS)
    class_correct = [0, 0, 0]
    try:
        for outputs, labels in DataLoader(dataset, 2, **options):
            outputs, labels = outputs.to(device), labels.to(device)
            count(class_correct, outputs.argmax(1) == labels, labels, 2)
    except IndexError as error:
        return str(error)
    if class_correct != [2, 1, 1]:
        return f"the correct predictions per class are {class_correct} instead of [2, 1, 1]"


def reproduce(device):
    return evaluate(device, over_the_batch_size)


def control(device):
    return evaluate(device, over_the_labels)


def messages(device):
    texts = []
    for index in (3, -9):
        try:
            torch.ones(2, 3, device=device)[:, index]
        except IndexError as error:
            texts.append(str(error))
    return "\n".join(texts)


def popular_fix(device):
    return evaluate(device, over_the_batch_size, drop_last=True)


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
