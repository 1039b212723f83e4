# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "backward() fails for a loss with one element per sample or GPU, and backward(ones_like(loss)) sums the gradients"
# kind = "error"
# symptom = "grad can be implicitly created only for scalar outputs"
# messages = ["grad can be implicitly created only for scalar outputs"]
# origin = "design"
# reports = [
#     "https://github.com/dillondavis/RecurrentAttentionConvolutionalNeuralNetwork/issues/4",
#     "https://github.com/WisconsinAIVision/MaskPoint/issues/7",
#     "https://github.com/eriklindernoren/PyTorch-YOLOv3/issues/331",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.Tensor.backward.html",
#     "https://github.com/mindee/doctr/pull/379",
# ]
# wrong = '''
# loss = torch.nn.functional.cross_entropy(model(x), y, reduction="none")
# loss.backward()
# '''
# right = '''
# loss = torch.nn.functional.cross_entropy(model(x), y, reduction="none")
# loss.mean().backward()  # with ignored labels: (loss.sum() / (y != -100).sum()).backward()
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Calling backward() without an argument requires a loss with one element (docs: Tensor.backward).
A loss without a reduction has one element per sample
(dillondavis/RecurrentAttentionConvolutionalNeuralNetwork#4), and DataParallel returns one element
per GPU (eriklindernoren/PyTorch-YOLOv3#331).

Users tried backward(torch.ones_like(loss)) instead (WisconsinAIVision/MaskPoint#7), which computes
the gradient of the sum. This gradient, and therefore the step of SGD, grows with the batch size or
the number of GPUs.

The built-in mean divides by the number of labels that are not ignored, or, with class weights, by
weight[y].sum(). By contrast, loss.mean() divides by the total number of labels, so its gradient is
smaller with ignored labels and larger with weights above 1. With one loss per GPU, loss.mean()
gives every GPU the same weight, even a GPU that got fewer rows of the batch.
"""

import torch


def train(device, backward):
    model = torch.nn.Linear(2, 3).to(device)
    x, y = torch.ones(4, 2, device=device), torch.zeros(4, dtype=torch.long, device=device)
    try:
        backward(model, x, y)
    except RuntimeError as error:
        return str(error)
    gradient = model.weight.grad.clone()
    model.zero_grad()
    torch.nn.functional.cross_entropy(model(x), y).backward()
    if not torch.allclose(gradient, model.weight.grad):
        return (
            f"the gradient is {gradient[0, 0] / model.weight.grad[0, 0]:.3g} times that of the mean"
        )


def as_it_is(model, x, y):
    loss = torch.nn.functional.cross_entropy(model(x), y, reduction="none")
    loss.backward()


def of_the_mean(model, x, y):
    loss = torch.nn.functional.cross_entropy(model(x), y, reduction="none")
    loss.mean().backward()  # with ignored labels: (loss.sum() / (y != -100).sum()).backward()


def of_ones(model, x, y):
    loss = torch.nn.functional.cross_entropy(model(x), y, reduction="none")
    loss.backward(torch.ones_like(loss))


def reproduce(device):
    return train(device, as_it_is)


def control(device):
    return train(device, of_the_mean)


def popular_fix(device):
    return train(device, of_ones)


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
