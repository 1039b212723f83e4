# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Labels that are made once for a fixed batch size do not fit a smaller batch"
# kind = "error"
# symptom = "The size of tensor a \\(3\\) must match the size of tensor b \\(4\\) at non-singleton dimension 0"
# messages = [
#     "The size of tensor a \\(\\d{1,9}\\) must match the size of tensor b \\(\\d{1,9}\\) at non-singleton dimension \\d",
# ]
# elsewhere = ["invalid argument \\d: sizes do not match at .{1,150}?[/\\\\]THC?"]
# origin = "usage"
# reports = [
#     "https://github.com/DEVILENMO/Unsupervised-Defect-Detection-Project-Based-on-VAE-GAN-Architecture/issues/3",
# ]
# documents = [
#     "https://github.com/rythei/DARLA-PyTorch/issues/1",
#     "https://github.com/lyeoni/pytorch-mnist-GAN/issues/3",
#     "https://docs.pytorch.org/docs/stable/generated/torch.ones_like.html",
# ]
# wrong = '''
# real = torch.ones(batch_size, 1)  # once, before the loop
# loss = torch.nn.functional.mse_loss(critic(images), real)
# '''
# right = '''
# scores = critic(images)
# loss = torch.nn.functional.mse_loss(scores, torch.ones_like(scores))
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Training stops at the last batch of the epoch. One number in the message is the batch size, and
the other is the number of samples left for the last batch.

The DataLoader returns the remaining samples as a smaller batch (docs: torch.utils.data.DataLoader),
and the loss cannot broadcast the labels of a full batch to it (aten/src/ATen/ExpandUtils.cpp).
Noise that is made for a fixed batch size has the same effect (rythei/DARLA-PyTorch#1). If a single
sample is left, neither the labels nor the noise causes an error, because broadcasting succeeds.
BCELoss and BCEWithLogitsLoss compare the sizes first, so they raise an error with a different
message.

With drop_last=True, as suggested in lyeoni/pytorch-mnist-GAN#3, a dataset smaller than the batch
size yields no batch at all. Make the labels and the noise from the batch: ones_like() and
zeros_like() take its shape, device and dtype, and torch.randn(len(images), 100,
device=images.device) makes noise.
"""

import warnings

import torch
from torch.utils.data import DataLoader


def of_a_full_batch(critic, images, batch_size):
    real = torch.ones(batch_size, 1, device=images.device)
    loss = torch.nn.functional.mse_loss(critic(images), real)
    return loss


def of_this_batch(critic, images, batch_size):
    scores = critic(images)
    loss = torch.nn.functional.mse_loss(scores, torch.ones_like(scores))
    return loss


def train(device, loss_of, samples=7, **options):
    critic, losses = torch.nn.Linear(2, 1).to(device), []
    dataset = torch.arange(2.0 * samples).view(samples, 2)
    for images in DataLoader(dataset, batch_size=4, **options):
        images = images.to(device)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of torch, about the two sizes
            try:
                losses.append(loss_of(critic, images, 4))
            except RuntimeError as error:
                return str(error)
        by_hand = sum((critic(image) - 1).square() for image in images) / len(images)
        if not torch.allclose(losses[-1], by_hand, rtol=1e-4):
            return f"the loss is {losses[-1]:.2f}"
    if not losses:
        return "no batch"


def reproduce(device):
    return train(device, of_a_full_batch)


def control(device):
    return train(device, of_this_batch)


def popular_fix(device):
    return train(device, of_a_full_batch, samples=3, drop_last=True)


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
