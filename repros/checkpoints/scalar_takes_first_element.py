# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "load_state_dict fills a scalar parameter with the first element of a vector"
# kind = "silent"
# symptom = "a vector of 3 elements is loaded into a scalar: 7\\.0"
# origin = "torch"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/165873",
#     "https://discuss.pytorch.org/t/no-error-raised-despite-shape-mismatch-in-load-state-dict/223641/2",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/9781",
#     "https://github.com/pytorch/pytorch/pull/166335",
# ]
# fixed_by = "pytorch#166335"
# wrong = '''
# model.scale = torch.nn.Parameter(torch.tensor(0.0))
# model.load_state_dict({"scale": torch.tensor([7.0, 8.0, 9.0])})
# '''
# fix = "upgrade"
# affected = { cpu = "<2.10", cuda = "<2.10", mps = "<2.10" }
# ///
"""A checkpoint with a different shape loads without the usual error "size mismatch". A scalar
parameter or buffer takes the first element of the checkpoint's vector, even with strict=False or
assign=True.

To support checkpoints of torch 0.3, which had no scalars, load_state_dict() took element 0 of any
vector if the model had a scalar (pytorch#9781). Since the upstream fix, load_state_dict() does this
only for vectors of one element (pytorch#166335).
"""

import torch


def load(device, initial):
    model = torch.nn.Module()
    model.scale = torch.nn.Parameter(torch.tensor(initial, device=device))
    try:
        model.load_state_dict({"scale": torch.tensor([7.0, 8.0, 9.0], device=device)})
    except RuntimeError as error:
        if "size mismatch" not in str(error):
            raise
    else:
        return f"a vector of 3 elements is loaded into a scalar: {model.scale.item()}"


def reproduce(device):
    return load(device, initial=0.0)


def control(device):
    return load(device, initial=[0.0])


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
