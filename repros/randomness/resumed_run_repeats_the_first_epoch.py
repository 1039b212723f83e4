# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A run that resumes with the same seed repeats the shuffle of its first epoch"
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
# rule = "note"
# affected = { cpu = ">=1.13" }
# ///
"""The weights and the optimizer continue, but the random numbers start again. At every restart, the
seed at the top of the script returns the generator to the start of epoch 0 (karpathy/nanoGPT#467).
The generator's state belongs in the checkpoint. Here the loader has its own generator, and only
this generator is restored (docs: torch.Generator). Dropout draws from the global generator, and so
does the dataset if there are no workers (see checkpoints/resume_repeats_the_shuffle). If
map_location moves the generator's state to a GPU too, set_state() rejects this state, so cpu() is
needed.

With persistent_workers=True, a loader draws once more from its generator when it starts, so a
resumed loader continues with a different order. Pass the generator to RandomSampler(rows,
generator=generator) instead, and pass this sampler to the loader. The workers then get their seed
from the global generator, so restore its state too. Otherwise, their augmentation repeats after
every restart.

Two restarts from the same checkpoint start with the same rows, so save a new checkpoint between the
restarts. With dropout, the weights differ from an uninterrupted run's weights, even with the
corrected code.

The corrected code is for a checkpoint between two epochs. After a checkpoint within an epoch, the
epoch starts again in a new order and repeats rows that were already seen in the old order.
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
