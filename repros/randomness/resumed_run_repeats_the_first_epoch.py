# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A run that resumes with the same seed shuffles as in its first epoch again"
# kind = "silent"
# symptom = "the resumed run repeats the order of epoch 0"
# origin = "usage"
# reports = [
#     "https://github.com/karpathy/nanoGPT/issues/467",
#     "https://github.com/huggingface/diffusers/issues/175",
# ]
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.Generator.html"]
# wrong = '''
# model.load_state_dict(checkpoint["model"])
# generator.manual_seed(0)  # at the top of the script, on every start
# '''
# right = '''
# model.load_state_dict(checkpoint["model"])
# generator.set_state(checkpoint["generator"].cpu())  # generator.get_state(), when it was saved
# '''
# affected = { cpu = ">=1.13" }
# ///
"""Weights and optimizer go on and the random numbers begin again: the seed at the top of the
script puts the generator where epoch 0 began, at every restart (karpathy/nanoGPT#467). The state
of the generator belongs in the checkpoint. Here the loader has its own, and it alone is restored
(docs: torch.Generator); for the global one, from which dropout draws, and the dataset if there are
no workers, see checkpoints/resume_repeats_the_shuffle. A map_location moves the state to a GPU
too, where set_state() refuses it: hence cpu().

With persistent_workers=True a loader draws once more from its generator when it starts, so that a
resumed one goes on with another order: give the generator to RandomSampler(rows,
generator=generator) instead, and that as sampler.

Two restarts from one checkpoint begin with the same rows: save another one between them. With
dropout the weights differ from those of an uninterrupted run, with the lines too.

This is for a checkpoint between two epochs. After one in the middle, an epoch begins with a new
order, and rows that were seen in the old one come again.
"""

import torch
from torch.utils.data import DataLoader


def train(generator):
    return [int(row) for row in DataLoader(range(100), shuffle=True, generator=generator)]


def seeded(model, generator, checkpoint):
    model.load_state_dict(checkpoint["model"])
    generator.manual_seed(0)  # at the top of the script, on every start


def restored(model, generator, checkpoint):
    model.load_state_dict(checkpoint["model"])
    generator.set_state(checkpoint["generator"].cpu())  # generator.get_state(), when it was saved


def resume(restore):
    model = torch.nn.Linear(1, 1)
    generator = torch.Generator().manual_seed(0)
    first = train(generator)
    checkpoint = {"model": model.state_dict(), "generator": generator.get_state()}
    second = train(generator)  # of the uninterrupted run
    generator = torch.Generator()
    restore(model, generator, checkpoint)
    resumed = train(generator)
    if resumed == first:
        return "the resumed run repeats the order of epoch 0"
    if resumed != second:
        return "the resumed run goes on with another order than the uninterrupted one"


def reproduce(device):
    return resume(seeded)


def control(device):
    return resume(restored)


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
