# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A GAN raises in the second backward() because optimizer.step() changed the weights in between"
# kind = "error"
# symptom = "modified by an inplace operation"
# messages = [
#     "one of the variables needed for gradient computation has been modified by an in-?place operation",
# ]
# keywords = [
#     "GAN modified by an inplace operation",
#     "AsStridedBackward0 is at version 2; expected version 1",
#     "TBackward is at version 2; expected version 1",
#     "discriminator generator backward error",
#     "worked in torch 1.4",
#     "two optimizers inplace error",
#     "GAN training stopped working after upgrading PyTorch",
#     "generator and discriminator updates conflict",
#     "actor critic with two optimizers fails on backward",
#     "two losses and two optimizers fail in one iteration",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/39141",
#     "https://github.com/YannDubs/disentangling-vae/issues/62",
#     "https://github.com/MorvanZhou/PyTorch-Tutorial/issues/89",
#     "https://github.com/tamarott/SinGAN/issues/148",
# ]
# documents = ["https://github.com/MorvanZhou/PyTorch-Tutorial/pull/91"]
# wrong = '''
# d_loss.backward(retain_graph=True)
# optimizer.step()
# g_loss.backward()
# '''
# right = '''
# d_loss.backward(retain_graph=True)
# g_loss.backward()
# optimizer.step()
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The loss of the generator was computed with weights of the discriminator that its optimizer
has changed since.

step() changes parameters in place, and a Linear saved its weight for the backward
(pytorch#39141, YannDubs/disentangling-vae#62). Torch up to 1.4 did not notice changes
made by an optimizer (MorvanZhou/PyTorch-Tutorial#89). Calling both backward() before any
step() helps (control), and so does a new forward after the step (tamarott/SinGAN#148).
inplace=False in the activations (YannDubs/disentangling-vae#62) leaves the error, as
they are not what changed (popular fix).
"""

import torch


def train(device, inplace, step_last=False):
    generator = torch.nn.Linear(2, 2, device=device)
    layers = torch.nn.Linear(2, 2), torch.nn.LeakyReLU(inplace=inplace), torch.nn.Linear(2, 1)
    discriminator = torch.nn.Sequential(*layers).to(device)
    optimizer = torch.optim.SGD(discriminator.parameters(), lr=0.1)
    score = discriminator(generator(torch.ones(1, 2, device=device))).sum()
    d_loss, g_loss = score.square(), (1 - score).square()
    try:
        d_loss.backward(retain_graph=True)
        if step_last:
            g_loss.backward()
            optimizer.step()
        else:
            optimizer.step()
            g_loss.backward()
    except RuntimeError as error:
        return str(error)


def reproduce(device):
    return train(device, inplace=True)


def control(device):
    return train(device, inplace=True, step_last=True)


def popular_fix(device):
    return train(device, inplace=False)


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
