# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A loss term whose weight has another name is dropped, and its head never trains"
# kind = "silent"
# symptom = "3 of 4 heads have no gradient"
# keywords = [
#     "only one output learns",
#     "other heads do not learn",
#     "loss weight has no effect",
#     "only the first head of my multi-task model improves",
#     "one of the losses never goes down",
#     "auxiliary head stays random after training",
#     "changing the weight of one loss makes no difference",
#     "box loss falls, point loss stays flat",
#     "forecast good for one horizon, bad for the others",
#     "some heads have grad None after backward",
#     "multi-output regression learns only a single target",
#     "weights of a head same as at initialisation",
#     "typo in config and a loss term is silently ignored",
#     "DDP complains about unused parameters of some heads",
#     "localization part of the detector does not train",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/TencentYoutuResearch/CrowdCounting-P2PNet/issues/48",
#     "https://github.com/TencentYoutuResearch/CrowdCounting-P2PNet/issues/32",
# ]
# wrong = '''
# loss = sum(losses[name] * weights[name] for name in losses if name in weights)
# '''
# right = '''
# loss = sum(losses[name] * weight for name, weight in weights.items())
# '''
# fix = "loss.match_by_name"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""One head has a gradient, the others have none, and nothing is raised. `if name in
weights` drops a term whose name is misspelt: "loss_point" had no part in the loss, for
its weight was that of "loss_points" (TencentYoutuResearch/CrowdCounting-P2PNet#48).
"""

import torch


def train(device, weights):
    x = torch.ones(2, 3, device=device)
    heads = {n: torch.nn.Linear(3, 1).to(device) for n in (1, 5, 10, 20)}
    losses = {f"loss_{n}": head(x).mean() for n, head in heads.items()}
    sum(losses[name] * weights[name] for name in losses if name in weights).backward()
    lost = sum(head.weight.grad is None for head in heads.values())
    if lost:
        return f"{lost} of 4 heads have no gradient, and nothing was raised"


def reproduce(device):
    return train(device, {"loss_1": 1.0, "losses_5": 1.0, "losses_10": 1.0, "losses_20": 1.0})


def control(device):
    return train(device, {"loss_1": 1.0, "loss_5": 1.0, "loss_10": 1.0, "loss_20": 1.0})


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
