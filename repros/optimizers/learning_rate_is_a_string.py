# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A learning rate of 1e-4 in a YAML file is a string that the optimizer cannot compare"
# kind = "error"
# symptom = "'<=' not supported between instances of 'float' and 'str'"
# messages = [
#     ".<=. not supported between instances of .float. and .str.",
#     "torch[/\\\\]optim[/\\\\]\\w{1,20}\\.py.{0,200}?.<. not supported between instances of .str. and .float.",
#     "torch[/\\\\]optim[/\\\\]\\w{1,20}\\.py.{0,200}?.<. not supported between instances of .float. and .str.",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/salesforce/ALBEF/issues/128",
#     "https://github.com/funcwj/deep-clustering/issues/3",
#     "https://github.com/lseventeen/FR-UNet/issues/10",
# ]
# documents = ["https://github.com/hiyouga/LlamaFactory/issues/4014", "https://github.com/huggingface/trl/pull/1450"]
# wrong = '''
# optimizer = torch.optim.Adam(model.parameters(), lr=config["lr"])
# '''
# right = '''
# optimizer = torch.optim.Adam(model.parameters(), lr=float(config["lr"]))
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The file says lr: 1e-4, which looks like a number. In YAML 1.1, a number with an exponent needs a
dot, as in 1.0e-4, so its parsers return 1e-4 as a string (hiyouga/LlamaFactory#4014,
huggingface/trl#1450). The optimizer's range check is the first code to fail
(funcwj/deep-clustering#3). In SGD, its message says that '<' is not supported between 'str' and
'float' (torch/optim/sgd.py). The message of SparseAdam mentions '<' too. On 1.13 and 2.3, LBFGS has
no check and fails in step(). If weight_decay, momentum or eps is a string, the message is the same:
convert every number in the file, not only the rate. A string in a parameter group passes the check,
but then causes a TypeError with a different text in step().
"""

import traceback

import torch

config = {"lr": "1e-4"}  # what a reader of YAML 1.1 returns for "lr: 1e-4"


def start(device):
    model = torch.nn.Linear(1, 1, bias=False, device=device)
    torch.nn.init.zeros_(model.weight)
    return model


def reproduce(device):
    model = start(device)
    try:
        torch.optim.Adam(model.parameters(), lr=config["lr"])
    except TypeError as error:
        return str(error)


def control(device):
    model = start(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=float(config["lr"]))
    model.weight.sum().backward()
    optimizer.step()
    if abs(model.weight.item() + 1e-4) > 1e-6:  # the first step of Adam is lr long
        return f"the step is {model.weight.item():g} long, not -0.0001"


def messages(device):
    texts = []
    for optimizer in (torch.optim.SGD, torch.optim.SparseAdam):
        try:
            optimizer(start(device).parameters(), lr=config["lr"])
        except TypeError:
            texts.append(traceback.format_exc())
    return "\n".join(texts)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, messages):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
