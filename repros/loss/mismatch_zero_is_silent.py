# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A loss that matches no name in the model's output is a zero that trains nothing, silently"
# kind = "silent"
# symptom = "0 of 2 parameters have a gradient"
# keywords = [
#     "loss stays constant",
#     "loss is always zero",
#     "model does not learn",
#     "training does nothing",
#     "loss is 0.0 from the first iteration and nothing learns",
#     "training log shows loss: 0.0000 each epoch",
#     "detector finds nothing after training, loss was zero",
#     "weights identical before and after training, no error",
#     "fine-tuning multi-task model, loss stuck at zero",
#     "train loss zero but predictions are random",
#     "my loss prints zero for all batches",
#     "label key in my dataset differs from the config",
#     "energy and force training reports zero loss",
#     "metric does not improve and loss is a constant zero",
#     "forces or charges loss is zero all the time",
#     "the optimizer runs but no weight changes",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/ACEsuit/mace/issues/314",
#     "https://github.com/open-mmlab/mmpretrain/issues/1688",
# ]
# documents = [
#     "https://github.com/RangiLyu/nanodet/issues/7",
#     "https://github.com/RangiLyu/nanodet/blob/be9b4a9001d7f9b6fc89c2df31ae8d428e35b4f0/nanodet/model/head/gfl_head.py#L265",
# ]
# wrong = '''
# terms = [outputs[name].mean() for name in targets if name in outputs]
# loss = sum(terms) if terms else torch.tensor(0.0, requires_grad=True)
# '''
# right = '''
# pairs = match_by_name(outputs, targets)  # raises, and names what is missing
# '''
# fix = "loss.match_by_name"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""With wrong names (ACEsuit/mace#314), or with samples that name no task
(open-mmlab/mmpretrain#1688), the loss reads 0.0 in every epoch and nothing is raised.
Here the fallback is a leaf of its own: backward() succeeds and reaches no parameter.

requires_grad=True on the zero is what people add to get past "does not require grad"
(RangiLyu/nanodet#7); the detector of that thread still ships it
(nanodet/model/head/gfl_head.py).
"""

import torch


def train(device, targets):
    model = torch.nn.Linear(3, 1).to(device)
    outputs = {"price": model(torch.ones(2, 3, device=device))}
    terms = [outputs[name].mean() for name in targets if name in outputs]
    loss = sum(terms) if terms else torch.tensor(0.0, requires_grad=True)
    loss.backward()
    reached = [parameter.grad is not None for parameter in model.parameters()]
    if not all(reached):
        return f"{sum(reached)} of {len(reached)} parameters have a gradient; nothing was raised"


def reproduce(device):
    return train(device, targets=["prices"])


def control(device):
    return train(device, targets=["price"])


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
