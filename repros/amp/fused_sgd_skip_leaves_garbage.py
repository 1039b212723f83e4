# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Fused SGD uses uninitialized memory as momentum after a skipped first step"
# kind = "silent"
# symptom = "weight is nan after one skipped and one clean step"
# origin = "torch"
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/optim/sgd.py",
#     "https://docs.pytorch.org/docs/stable/deterministic.html",
#     "https://github.com/LibreYOLO/libreyolo/pull/771",
# ]
# upstream = "unreported"
# wrong = '''
# optimizer = torch.optim.SGD(model.parameters(), lr=1.0, momentum=0.9, fused=True)
# '''
# right = '''
# optimizer = torch.optim.SGD(model.parameters(), lr=1.0, momentum=0.9)
# '''
# requires = ">=2.4"
# affected = { cpu = ">=2.4", cuda = ">=2.4" }
# ///
"""The weights can be garbage after the second step if a GradScaler skipped the first step. The
failure stays hidden if the new memory happens to be zero.

In the first step, _fused_sgd allocates the momentum buffers with empty_like() (torch/optim/sgd.py).
The kernel should fill these buffers. However, it returns immediately if the scaler found an
infinity (aten/src/ATen/native/FusedSGD.cpp). The CUDA kernel does the same
(aten/src/ATen/native/cuda/FusedSgdKernel.cu; not measured). The second step finds the existing
buffers and uses their contents as momentum.

LibreYOLO/libreyolo#771 reports the failure on CUDA, during the overflows that are routine in the
first float16 steps. According to the report, the kernel advances the momentum. In this reproducer,
however, the buffer keeps the contents that empty_like() gave it. In deterministic mode,
empty_like() fills the buffer with NaN (docs: torch.utils.deterministic.fill_uninitialized_memory),
so the failure appears every time. SGD with Nesterov momentum also fails, but SGD without momentum,
Adam, AdamW and Adagrad do not.

Omit fused instead of setting it to False, because fused=False also disables the foreach loop, which
torch otherwise chooses for parameters on CUDA (torch/optim/sgd.py).
"""

import torch


def start(device):
    model = torch.nn.Linear(4, 1, bias=False).to(device)
    torch.nn.init.zeros_(model.weight)
    return model, torch.amp.GradScaler(device)


def train(model, optimizer, scaler):
    mode = torch.get_deterministic_debug_mode()
    torch.set_deterministic_debug_mode("error")  # empty_like() is filled with NaN
    try:
        for factor in (float("inf"), 1.0):
            optimizer.zero_grad()
            scaler.scale(model.weight.sum() * factor).backward()
            scaler.step(optimizer)
            scaler.update()
    finally:
        torch.set_deterministic_debug_mode(mode)
    if model.weight.isnan().any():
        return "weight is nan after one skipped and one clean step"
    if model.weight.tolist() != [[-1.0] * 4]:
        return f"weight is {model.weight.tolist()} instead of -1"


def reproduce(device):
    model, scaler = start(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0, momentum=0.9, fused=True)
    return train(model, optimizer, scaler)


def control(device):
    model, scaler = start(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0, momentum=0.9)
    return train(model, optimizer, scaler)


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
