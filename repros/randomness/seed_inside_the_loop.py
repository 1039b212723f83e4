# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Setting the seed inside the training loop gives the same noise in every step"
# kind = "silent"
# symptom = "1 of 5 steps drew noise of its own"
# origin = "usage"
# reports = [
#     "https://github.com/yuvraj108c/ComfyUI-FLOAT/issues/21",
#     "https://github.com/huggingface/diffusers/issues/7991",
#     "https://github.com/huggingface/diffusers/issues/175",
# ]
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.Generator.html"]
# wrong = '''
# for step in range(5):
#     generator = torch.Generator(x.device).manual_seed(0)
#     noise = torch.randn(x.shape, generator=generator, device=x.device)
#     train(x + noise)
# '''
# right = '''
# generator = torch.Generator(x.device).manual_seed(0)
# for step in range(5):
#     noise = torch.randn(x.shape, generator=generator, device=x.device)
#     train(x + noise)
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=2.0" }
# ///
"""Seeding resets the generator to its start (docs: torch.Generator), so each step sees the first
step's noise. Seed once, before the outermost loop. If a function is called for each epoch, even the
corrected code in it draws the same noise in each epoch. Calling torch.manual_seed() in the loop has
the same effect on the global generator, and thus on dropout and shuffling. Evaluation code that
sets a seed and is called from the loop has this effect too (huggingface/diffusers#7991). Give that
code its own generator, or run it within torch.random.fork_rng(), which restores torch's generators
but not the generators of random and NumPy.
"""

import torch


def seeded_in_the_loop(x, train):
    for step in range(5):
        generator = torch.Generator(x.device).manual_seed(0)
        noise = torch.randn(x.shape, generator=generator, device=x.device)
        train(x + noise)


def seeded_once(x, train):
    generator = torch.Generator(x.device).manual_seed(0)
    for step in range(5):
        noise = torch.randn(x.shape, generator=generator, device=x.device)
        train(x + noise)


def check(device, loop):
    runs = []
    for _ in range(2):
        runs.append([])
        loop(torch.zeros(1, device=device), lambda noisy: runs[-1].append(noisy.item()))
    if runs[0] != runs[1]:
        return "two runs with one seed differ"
    if len(set(runs[0])) < 5:
        return f"{len(set(runs[0]))} of 5 steps drew noise of its own"


def reproduce(device):
    return check(device, seeded_in_the_loop)


def control(device):
    return check(device, seeded_once)


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
