# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "The second backward() of a GAN fails because optimizer.step() has changed the weights"
# kind = "error"
# symptom = "modified by an inplace operation"
# messages = [
#     "one of the variables needed for gradient computation has been modified by an inplace operation",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/39141",
#     "https://github.com/YannDubs/disentangling-vae/issues/62",
#     "https://github.com/MorvanZhou/PyTorch-Tutorial/issues/89",
#     "https://github.com/tamarott/SinGAN/issues/148",
# ]
# documents = [
#     "https://github.com/MorvanZhou/PyTorch-Tutorial/pull/91",
#     "https://github.com/leftthomas/SRGAN/issues/89",
# ]
# wrong = '''
# fake = generator(z)
# d_loss = criterion(discriminator(x), ones) + criterion(discriminator(fake), zeros)
# g_loss = criterion(discriminator(fake), ones)
# d_optimizer.zero_grad()
# d_loss.backward(retain_graph=True)
# d_optimizer.step()
# g_optimizer.zero_grad()
# g_loss.backward()
# g_optimizer.step()
# '''
# right = '''
# fake = generator(z)
# d_loss = criterion(discriminator(x), ones) + criterion(discriminator(fake.detach()), zeros)
# d_optimizer.zero_grad()
# d_loss.backward()
# d_optimizer.step()
# g_loss = criterion(discriminator(fake), ones)
# g_optimizer.zero_grad()
# g_loss.backward()
# g_optimizer.step()
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The generator's loss was computed with weights of the discriminator that an optimizer has since
changed.

The call to step() changes parameters in place, but a Linear has saved its weight for the backward
pass (pytorch#39141, YannDubs/disentangling-vae#62). Torch up to 1.4 did not detect changes made by
an optimizer (MorvanZhou/PyTorch-Tutorial#89). Newer releases still miss changes that are made by an
optimizer with fused=True (see optimizers/fused_step_escapes_the_version_check). They also miss
changes of a weight that autocast has cast, such as a Linear's weight. The wrong code then silently
trains with the old weights. The generator's loss needs its own forward pass after the step
(tamarott/SinGAN#148, control). This forward pass also needs its own autocast block, because a block
reuses the weights that it has cast. If you accumulate gradients, pass
inputs=list(generator.parameters()) to the second backward(), which otherwise adds to the
discriminator's gradients.

If both step() calls follow both backward() calls (leftthomas/SRGAN#89), no error is raised.
However, the generator's loss then also trains the discriminator to accept fakes as real (popular
fix).

Before torch 2.12, a discriminator with BatchNorm under DistributedDataParallel raises the same
error in any order, because two forward passes precede one backward pass (see
distributed/batch_norm_is_called_twice).
"""

import torch


def start(device):
    generator, discriminator = torch.nn.Linear(2, 2).to(device), torch.nn.Linear(2, 1).to(device)
    optimizers = [torch.optim.SGD(m.parameters(), lr=0.1) for m in (generator, discriminator)]
    z, x = torch.ones(1, 2, device=device), torch.zeros(1, 2, device=device)
    return generator, discriminator, *optimizers, z, x


def check(step, device):
    generator, discriminator, g_optimizer, d_optimizer, z, x = start(device)
    criterion = torch.nn.BCEWithLogitsLoss()
    ones, zeros = torch.ones(1, 1, device=device), torch.zeros(1, 1, device=device)
    fake = generator(z)
    d_loss = criterion(discriminator(x), ones) + criterion(discriminator(fake), zeros)
    d_weight = discriminator.weight - 0.1 * torch.autograd.grad(d_loss, discriminator.weight)[0]
    try:
        step(generator, discriminator, g_optimizer, d_optimizer, z, x, criterion, ones, zeros)
    except RuntimeError as error:
        return str(error)
    if not torch.allclose(discriminator.weight, d_weight):
        return "the discriminator has not moved along the gradient of its own loss"


def two_backwards(generator, discriminator, g_optimizer, d_optimizer, z, x, criterion, ones, zeros):
    fake = generator(z)
    d_loss = criterion(discriminator(x), ones) + criterion(discriminator(fake), zeros)
    g_loss = criterion(discriminator(fake), ones)
    d_optimizer.zero_grad()
    d_loss.backward(retain_graph=True)
    d_optimizer.step()
    g_optimizer.zero_grad()
    g_loss.backward()
    g_optimizer.step()


def two_forwards(generator, discriminator, g_optimizer, d_optimizer, z, x, criterion, ones, zeros):
    fake = generator(z)
    d_loss = criterion(discriminator(x), ones) + criterion(discriminator(fake.detach()), zeros)
    d_optimizer.zero_grad()
    d_loss.backward()
    d_optimizer.step()
    g_loss = criterion(discriminator(fake), ones)
    g_optimizer.zero_grad()
    g_loss.backward()
    g_optimizer.step()


def both_steps_last(
    generator, discriminator, g_optimizer, d_optimizer, z, x, criterion, ones, zeros
):
    fake = generator(z)
    d_loss = criterion(discriminator(x), ones) + criterion(discriminator(fake), zeros)
    g_loss = criterion(discriminator(fake), ones)
    d_optimizer.zero_grad()
    g_optimizer.zero_grad()
    d_loss.backward(retain_graph=True)
    g_loss.backward()
    d_optimizer.step()
    g_optimizer.step()


def reproduce(device):
    return check(two_backwards, device)


def control(device):
    return check(two_forwards, device)


def popular_fix(device):
    return check(both_steps_last, device)


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
