# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A float32 layer outside of autocast raises for what a layer inside of it returned"
# kind = "error"
# symptom = "same dtype"
# keywords = [
#     "training works, evaluation outside autocast raises a dtype error",
#     "head after the autocast block",
#     "autocast output is float16",
#     "mixed precision error only in validation",
#     "loss or layer outside of autocast",
#     "mixed precision output fails in a layer outside autocast",
#     "loss or head outside of the autocast block fails",
#     "part of the model in amp, part not",
#     "features from autocast do not fit the next layer",
# ]
# origin = "usage"
# documents = [
#     "https://docs.pytorch.org/docs/stable/amp.html#torch.autocast",
#     "https://github.com/ucla-mobility/V2V4Real/pull/30",
# ]
# wrong = '''
# with torch.autocast(device, dtype=torch.bfloat16):
#     features = backbone(batch)
# head(features)
# '''
# right = '''
# with torch.autocast(device, dtype=torch.bfloat16):
#     features = backbone(batch)
# head(features.float())
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# ///
"""What autocast computes in 16 bits stays so when the block ends, and nothing converts it for
the next layer (docs: torch.autocast, ucla-mobility/V2V4Real#30).
"""

import torch


def predict(device, convert):
    backbone, head = torch.nn.Linear(3, 3).to(device), torch.nn.Linear(3, 2).to(device)
    batch = torch.ones(2, 3, device=device)
    with torch.autocast(device, dtype=torch.bfloat16):
        features = backbone(batch)
    try:
        head(convert(features))
    except RuntimeError as error:
        return str(error)


def reproduce(device):
    return predict(device, lambda features: features)


def control(device):
    return predict(device, lambda features: features.float())


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
