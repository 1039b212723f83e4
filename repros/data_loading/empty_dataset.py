# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Shuffling a dataset that found no files fails with num_samples=0"
# kind = "error"
# symptom = "num_samples=0|the epoch has 0 batches"
# messages = ["num_samples should be a positive integer value, but got num_samples=0"]
# elsewhere = ["num_samples should be a positive inte?ge?ral value, but got num_samples ?= ?0", "must be strictly positive at .{1,150}?THTensor"]
# origin = "usage"
# reports = [
#     "https://github.com/pprp/captcha_identify.pytorch/issues/1",
#     "https://github.com/pprp/captcha_identify.pytorch/issues/14",
# ]
# documents = ["https://github.com/pytorch/pytorch/blob/v2.13.0/torch/utils/data/sampler.py"]
# wrong = '''
# files = glob.glob("imgs/*.png")  # the folder is images/
# loader = DataLoader(files, shuffle=True)
# '''
# right = '''
# import os
# files = sorted(glob.glob("images/*.png"))
# if not files:
#     raise FileNotFoundError(f"no images/*.png in {os.getcwd()}")
# loader = DataLoader(files, shuffle=True)
# '''
# affected = { cpu = ">=1.13" }
# ///
"""The dataset has length 0 because nothing matched its path, extension or filter. With shuffle=True
the loader creates a RandomSampler, which rejects an empty dataset (torch/utils/data/sampler.py).
The message blames num_samples, although the user never passed this argument. If num_samples=0 is
passed to RandomSampler or WeightedRandomSampler, the same error is raised.

With shuffle=False the error disappears, but there is still no data: every epoch has 0 batches, and
computing the mean over the batches fails (pprp/captcha_identify.pytorch#14: division by zero). A
DistributedSampler has the same effect. With drop_last=True, too few files for one batch have this
effect too.
"""

import glob
import os
import tempfile

from torch.utils.data import DataLoader


def beside_one_image(load):
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as root:
        os.mkdir(f"{root}/images")
        open(f"{root}/images/1.png", "w").close()
        os.chdir(root)
        try:
            batches = list(load())
        except ValueError as error:
            return str(error)
        finally:
            os.chdir(here)
    if batches != [["images/1.png"]]:
        return f"the epoch has {len(batches)} batches"


def wrong_folder(shuffle=True):
    files = glob.glob("imgs/*.png")
    loader = DataLoader(files, shuffle=shuffle)
    return loader


def right_folder():
    files = sorted(glob.glob("images/*.png"))
    if not files:
        raise FileNotFoundError(f"no images/*.png in {os.getcwd()}")
    loader = DataLoader(files, shuffle=True)
    return loader


def reproduce(device):
    return beside_one_image(wrong_folder)


def control(device):
    return beside_one_image(right_folder)


def popular_fix(device):
    return beside_one_image(lambda: wrong_folder(shuffle=False))


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
