# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A layer that no parameter group lists does not learn"
# kind = "silent"
# symptom = "bias has a gradient and did not move"
# keywords = [
#     "some layers are not trained",
#     "new module is not in the optimizer",
#     "crf or classifier not updated",
#     "parameter groups by name miss some parameters",
#     "one layer keeps its initial weights",
#     "one part of the network never gets updated",
#     "some weights are identical before and after training",
#     "layer-wise learning rates and the head does not train",
#     "parameter groups leave out part of the model",
#     "only backbone is trained, classifier unchanged",
#     "passed only model.encoder.parameters and the rest stays fixed",
#     "new attention module does not learn anything",
#     "gradients exist for the layer, weights stay the same",
#     "bias or norm parameters forgotten in weight decay groups",
#     "learnable temperature or prompt never changes",
#     "two networks, one optimizer, second one does not learn",
#     "custom loss with learnable parameters does not train",
#     "score no better than with random classifier head",
#     "which parameters does my optimizer actually update",
# ]
# origin = "usage"
# reports = ["https://github.com/zjunlp/HVPNeT/issues/5"]
# documents = ["https://docs.pytorch.org/docs/stable/optim.html#per-parameter-options"]
# wrong = '''
# named = dict(model.named_parameters())
# groups = [{"params": [p for name, p in named.items() if "weight" in name]}]
# optimizer = torch.optim.SGD(groups, lr=0.1)
# '''
# right = '''
# groups += [{"params": [p for name, p in named.items() if "weight" not in name]}]
# optimizer = torch.optim.SGD(groups, lr=0.1)
# check_parameters(model, optimizer)  # raises, and names what is in no group
# '''
# fix = "optimizers.check_parameters"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Groups that are put together by name leave out what matches no name, and the optimizer
cannot know: what it is given is all that it trains (torch/optim/optimizer.py).

In zjunlp/HVPNeT#5 a group was made and never appended to the list.
"""

import torch


def train(device, all_of_them):
    model = torch.nn.Linear(2, 1).to(device)
    named = dict(model.named_parameters())
    groups = [{"params": [p for name, p in named.items() if "weight" in name]}]
    if all_of_them:
        groups += [{"params": [p for name, p in named.items() if "weight" not in name]}]
    optimizer = torch.optim.SGD(groups, lr=0.1)
    before = {name: p.detach().clone() for name, p in named.items()}
    model(torch.ones(4, 2, device=device)).sum().backward()
    optimizer.step()
    still = [name for name, p in named.items() if p.grad.any() and p.equal(before[name])]
    if still:
        return f"{', '.join(still)} has a gradient and did not move"


def reproduce(device):
    return train(device, all_of_them=False)


def control(device):
    return train(device, all_of_them=True)


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
