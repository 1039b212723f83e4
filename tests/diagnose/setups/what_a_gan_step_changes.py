import torch

from tests.diagnose.trainers import trainer

loss_fn = torch.nn.functional.binary_cross_entropy_with_logits


def _gan(clear_first=True, detach_both=False, shared=False):
    torch.manual_seed(0)
    generator, discriminator = torch.nn.Linear(4, 8), torch.nn.Linear(8, 1)
    real, noise = torch.randn(16, 8), torch.randn(16, 4)
    ones, zeros = torch.ones(16, 1), torch.zeros(16, 1)
    of_g = torch.optim.Adam(generator.parameters())
    of_d = torch.optim.Adam(discriminator.parameters())
    if shared:
        of_g = torch.optim.Adam([*generator.parameters(), *discriminator.parameters()])

    def step(optimizer, loss):
        if clear_first:
            optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if not clear_first:
            optimizer.zero_grad()

    def d_step():
        fake = generator(noise).detach()
        loss = loss_fn(discriminator(real), ones) + loss_fn(discriminator(fake), zeros)
        step(of_d, loss)

    def g_step():
        fake = generator(noise)
        step(of_g, loss_fn(discriminator(fake.detach() if detach_both else fake), ones))

    steps = {"d_step": d_step, "g_step": g_step}
    return trainer() | {"generator": generator, "discriminator": discriminator} | steps


def separate_steps():
    return _gan()


def one_optimizer_for_both():
    return _gan(shared=True)


def detached_for_both():
    return _gan(detach_both=True)


def cleared_after_the_step():
    return _gan(clear_first=False)


OUTCOMES = [
    [separate_steps],
    [one_optimizer_for_both, detached_for_both],
    [cleared_after_the_step],
]
