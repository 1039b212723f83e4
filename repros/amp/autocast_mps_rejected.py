# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "torch.autocast('mps') raises an error on torch before 2.5"
# kind = "error"
# symptom = "must be 'cuda' or 'cpu'|unsupported autocast device_type 'mps'|unsupported scalarType"
# messages = [
#     "User specified autocast device_type must be 'cuda' or 'cpu'",
#     "User specified an unsupported autocast device_type 'mps'",
#     "unsupported scalarType(?! (?:B?Float|Complex|Half|Double|Long|Short|Byte|Char|Bool|U?Int|QU?Int|Bits|Undefined))",
# ]
# origin = "torch"
# reports = [
#     "https://github.com/zai-org/CogVideo/issues/363",
#     "https://github.com/kijai/ComfyUI-LivePortraitKJ/issues/94",
#     "https://github.com/hiyouga/LlamaFactory/issues/2812",
# ]
# documents = ["https://github.com/pytorch/pytorch/pull/99272"]
# fixed_by = "pytorch#99272"
# wrong = '''
# with torch.autocast("mps"):
#     ...
# '''
# fix = "amp.choose_precision"
# use = '''
# from amp import choose_precision
# with choose_precision("mps").autocast():
#     ...
# '''
# affected = { cpu = "<2.5", mps = "<2.5" }
# stand_in = { cpu = "entering the block, which needs no MPS" }
# ///
"""On a Mac, entering the autocast block raises an error, regardless of the code in the block.

torch 2.5 added the device type "mps" to autocast (pytorch#99272). In 2.5 and newer, entering the
block works even on a machine without MPS. The error text depends on the release: "must be 'cuda' or
'cpu'" in 1.13, "unsupported autocast device_type 'mps'" in 2.1, "unsupported scalarType" in 2.4.

Calling choose_precision("mps") selects float32 on every release. Half precision must be requested
explicitly. If the release cannot train in that dtype on a Mac, choose_precision() raises an error
that names the required release. Training in bfloat16 needs 2.6, and training in float16 with a
GradScaler needs 2.8.
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
