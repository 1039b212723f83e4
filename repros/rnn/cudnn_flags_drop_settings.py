# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "cudnn.flags(enabled=False) silently drops deterministic and allow_tf32"
# kind = "silent"
# symptom = "inside the block"
# origin = "usage"
# reports = ["https://github.com/meta-pytorch/captum/issues/564", "https://github.com/meta-pytorch/captum/issues/1159"]
# wrong = '''
# TODO
# '''
# fix = "rnn.without_cudnn"
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# ///
"""flags() applies all of its arguments, so those that were not given are set to their
defaults inside the block.

deterministic=True becomes False and allow_tf32=False becomes True
(torch/backends/cudnn/__init__.py). The settings outside come back afterwards, so
nothing shows.
"""

from torch.backends import cudnn


def lost(**given):
    with cudnn.flags(
        enabled=True, benchmark=False, deterministic=True, allow_tf32=False
    ):  # what the user had set
        with cudnn.flags(enabled=False, **given):
            if not cudnn.deterministic or cudnn.allow_tf32:
                return f"inside the block deterministic={cudnn.deterministic}, allow_tf32={cudnn.allow_tf32}"


def reproduce(device):
    return lost()


def control(device):
    return lost(deterministic=True, allow_tf32=False)


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
