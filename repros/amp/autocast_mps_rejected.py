# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "torch.autocast('mps') raises on torch before 2.5"
# kind = "error"
# symptom = "must be 'cuda' or 'cpu'|unsupported autocast device_type 'mps'|unsupported scalarType"
# messages = [
#     "User specified autocast device_type must be 'cuda' or 'cpu'",
#     "User specified an unsupported autocast device_type 'mps'",
#     "unsupported scalarType",
# ]
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/99272", "https://github.com/pytorch/pytorch/issues/142397"]
# wrong = '''
# TODO
# '''
# fix = "amp.choose_precision"
# affected = { cpu = "<2.5", mps = "<2.5" }
# stand_in = { cpu = "entering the block, which needs no MPS" }
# ///
"""autocast learned the device type "mps" in torch 2.5. From then on it is accepted even
where there is no MPS at all.

The text differs: "User specified autocast device_type must be 'cuda' or 'cpu'" up to
2.0, "unsupported autocast device_type 'mps'" up to 2.3, "unsupported scalarType" in
2.4.
"""

import torch


def enter(device_type):
    try:
        with torch.autocast(device_type):
            pass
    except RuntimeError as error:
        return str(error)


def reproduce(device):
    return enter("mps")


def control(device):
    return enter("cpu")


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
