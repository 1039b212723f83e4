# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A loss that skips missing targets trains one head of four and reports that head's loss as the mean"
# kind = "silent"
# symptom = "3 of 4 heads have no gradient"
# keywords = ["only one output learns", "other heads do not learn"]
# origin = "usage"
# reports = ["https://github.com/huggingface/transformers/issues/34191"]
# wrong = '''
# TODO
# '''
# fix = "loss.match"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Terms that are skipped when a key is missing change the meaning of the mean, with no
exception.

The guard "some parameter has a gradient" passes, because one head does have one.
"""

import torch


def train(device, names):
    heads = torch.nn.ModuleDict({f"horizon_{n}": torch.nn.Linear(3, 1) for n in (1, 5, 10, 20)}).to(
        device
    )
    x = torch.ones(2, 3, device=device)
    predictions = {name: heads[head](x) for name, head in names.items()}
    terms = [
        predictions[name].square().mean() for name in heads if name in predictions
    ]  # missing ones are skipped
    (sum(terms) / len(terms)).backward()
    return [head.weight.grad is None for head in heads.values()]


SAME = {f"horizon_{n}": f"horizon_{n}" for n in (1, 5, 10, 20)}
RENAMED = {"horizon_1": "horizon_1", **{f"h{n}": f"horizon_{n}" for n in (5, 10, 20)}}


def reproduce(device):
    lost = train(device, RENAMED)
    if any(lost):
        return f"{sum(lost)} of {len(lost)} heads have no gradient, and nothing was raised"


def control(device):
    lost = train(device, SAME)
    if any(lost):
        return f"{sum(lost)} of {len(lost)} heads have no gradient, and nothing was raised"


def popular_fix(device):
    lost = train(device, RENAMED)
    if not all(lost):  # "at least one gradient arrived": the guard is content
        return f"the guard passes with {sum(lost)} heads untrained"


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
