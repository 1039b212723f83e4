# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Fused SGD on the CPU leaves most of a bfloat16 or float16 parameter unchanged"
# kind = "silent"
# symptom = "64 weights of 65 did not move"
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/191763"]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/192545",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/aten/src/ATen/native/cpu/FusedSGDKernel.cpp",
# ]
# fixed_by = "pytorch#192545"
# wrong = '''
# optimizer = torch.optim.SGD(model.parameters(), lr=1.0, fused=True)
# loss.backward()
# optimizer.step()
# '''
# right = '''
# optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
# loss.backward()
# optimizer.step()
# '''
# fix = "upgrade"
# requires = ">=2.4"
# affected = { cpu = "<2.14", cuda = "never" }
# ///
"""After step() with fused=True, only the last of 65 weights has changed; without fused (control),
all weights have changed.

The vectorized part of the kernel never writes the parameter, so only the remainder that does not
fill a vector is updated (aten/src/ATen/native/cpu/FusedSGDKernel.cpp). A parameter shorter than a
vector, such as a bias of 5, is therefore updated correctly. Without fused, weights in bfloat16 may
also stay unchanged if a step is too small for the 8 bits of bfloat16, but that is a different
failure. Parameters in float16 are skipped as well, with or without momentum. Parameters in float32
and float64 are updated correctly (pytorch#191763), and fused Adam, AdamW and Adagrad do not have
this bug.

Leave fused out instead of passing False, because fused=False also turns off the foreach loop that
torch chooses for parameters on CUDA (torch/optim/sgd.py). When you resume, load_state_dict()
restores fused=True from an old checkpoint. After that, set group["fused"] = None in every group of
optimizer.param_groups.
"""

import torch


def start(device):
    model = torch.nn.Linear(65, 1, bias=False).to(device, torch.bfloat16)
    torch.nn.init.zeros_(model.weight)
    return model, model(torch.ones(1, 65, device=device, dtype=torch.bfloat16)).sum()


def check(model):
    stayed = int((model.weight == 0).sum())
    if stayed:
        return f"{stayed} weights of 65 did not move"
    if not (model.weight == -1).all():
        return f"the weights are {model.weight.tolist()}, not -1"


def reproduce(device):
    model, loss = start(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0, fused=True)
    loss.backward()
    optimizer.step()
    return check(model)


def control(device):
    model, loss = start(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    loss.backward()
    optimizer.step()
    return check(model)


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
