# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "If a GAN calls zero_grad() after each step, the generator's loss trains the discriminator"
# kind = "silent"
# symptom = "the discriminator did not follow the gradient of its own loss"
# origin = "usage"
# reports = [
#     "https://github.com/Lightning-AI/pytorch-lightning/issues/591",
#     "https://github.com/Lightning-AI/pytorch-lightning/issues/557",
#     "https://github.com/leffff/FlowModels/issues/3",
# ]
# documents = ["https://github.com/FoundationVision/OmniTokenizer/issues/15"]
# wrong = '''
# d_loss = criterion(discriminator(x), ones) + criterion(discriminator(fake.detach()), zeros)
# d_loss.backward()
# d_optimizer.step()
# d_optimizer.zero_grad()
# g_loss = criterion(discriminator(fake), ones)
# g_loss.backward()
# g_optimizer.step()
# g_optimizer.zero_grad()
# '''
# right = '''
# d_loss = criterion(discriminator(x), ones) + criterion(discriminator(fake.detach()), zeros)
# d_optimizer.zero_grad()
# d_loss.backward()
# d_optimizer.step()
# g_loss = criterion(discriminator(fake), ones)
# g_optimizer.zero_grad()
# g_loss.backward()
# g_optimizer.step()
# '''
# rule = "note"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""From the second batch on, the discriminator also learns to accept fakes as real.

The generator's loss flows through the discriminator, so its backward() leaves gradients in the
discriminator too. Calling g_optimizer.zero_grad() clears only the generator's gradients
(Lightning-AI/pytorch-lightning#591), and the next d_loss.backward() adds to the gradients of the
discriminator. If detach() is missing, and g_loss uses new fakes, the generator gets the gradients
of d_loss in the same way. Call zero_grad() before each backward(), as in the corrected code. This
code does not accumulate gradients over batches. For accumulation, call
discriminator.requires_grad_(False) before g_loss is computed, and requires_grad_(True) after its
backward() (FoundationVision/OmniTokenizer#15).
"""

import torch


def start(device):
    generator, discriminator = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
    for parameter in (*generator.parameters(), *discriminator.parameters()):
        torch.nn.init.constant_(parameter, 0.5)
    models = generator.to(device), discriminator.to(device)
    optimizers = [torch.optim.SGD(model.parameters(), lr=0.1) for model in models]
    x, z = torch.zeros(1, 2, device=device), torch.ones(1, 2, device=device)
    ones, zeros = torch.ones(1, 1, device=device), torch.zeros(1, 1, device=device)
    return *models, *optimizers, x, z, ones, zeros, torch.nn.BCEWithLogitsLoss()


def by_hand(discriminator, x, fake):
    """The weight after a step of SGD along the gradient of the discriminator's loss."""
    d_real, d_fake = (discriminator(each).sigmoid().detach() for each in (x, fake))
    return (discriminator.weight - 0.1 * ((d_real - 1) * x + d_fake * fake)).detach()


def check(discriminator, weight):
    if not torch.allclose(discriminator.weight, weight):
        return "the discriminator did not follow the gradient of its own loss"


def reproduce(device):
    generator, discriminator, g_optimizer, d_optimizer, x, z, ones, zeros, criterion = start(device)
    for _ in range(2):
        fake = generator(z)
        weight = by_hand(discriminator, x, fake)
        d_loss = criterion(discriminator(x), ones) + criterion(discriminator(fake.detach()), zeros)
        d_loss.backward()
        d_optimizer.step()
        d_optimizer.zero_grad()
        g_loss = criterion(discriminator(fake), ones)
        g_loss.backward()
        g_optimizer.step()
        g_optimizer.zero_grad()
    return check(discriminator, weight)


def control(device):
    generator, discriminator, g_optimizer, d_optimizer, x, z, ones, zeros, criterion = start(device)
    for _ in range(2):
        fake = generator(z)
        weight = by_hand(discriminator, x, fake)
        d_loss = criterion(discriminator(x), ones) + criterion(discriminator(fake.detach()), zeros)
        d_optimizer.zero_grad()
        d_loss.backward()
        d_optimizer.step()
        g_loss = criterion(discriminator(fake), ones)
        g_optimizer.zero_grad()
        g_loss.backward()
        g_optimizer.step()
    return check(discriminator, weight)


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
