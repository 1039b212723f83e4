# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Averaging only the parameters gives a model with stale BatchNorm statistics"
# kind = "silent"
# symptom = "eval output of the average is off"
# origin = "usage"
# reports = [
#     "https://github.com/CuriousAI/mean-teacher/issues/9",
#     "https://github.com/LeeDoYup/FixMatch-pytorch/issues/10",
#     "https://github.com/facebookresearch/moco/issues/70",
#     "https://github.com/saltoricristiano/cosmix-uda/issues/21",
# ]
# documents = ["https://github.com/YU1ut/MixMatch-pytorch/issues/16"]
# wrong = '''
# for mean, new in zip(ema.parameters(), model.parameters()):
#     mean.mul_(0.9).add_(new.detach(), alpha=0.1)
# '''
# right = '''
# for mean, new in zip(ema.parameters(), model.parameters()):
#     mean.mul_(0.9).add_(new.detach(), alpha=0.1)
# for mean, new in zip(ema.buffers(), model.buffers()):
#     mean.copy_(new)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""In eval mode, the averaged model is much worse than the trained model
(LeeDoYup/FixMatch-pytorch#10).

The running_mean and running_var are buffers, which parameters() does not yield
(YU1ut/MixMatch-pytorch#16). Moreover, the averaged model never runs a forward pass in train mode.
GroupNorm and LayerNorm have no buffers. The copied statistics belong to the current weights, so a
long average, for example with 0.999, can still be worse than the trained model. Before an
evaluation, torch.optim.swa_utils.update_bn(loader, ema) computes the statistics for the averaged
weights.
"""

import copy

import torch


def parameters_alone(ema, model):
    for mean, new in zip(ema.parameters(), model.parameters()):
        mean.mul_(0.9).add_(new.detach(), alpha=0.1)


def with_buffers(ema, model):
    for mean, new in zip(ema.parameters(), model.parameters()):
        mean.mul_(0.9).add_(new.detach(), alpha=0.1)
    for mean, new in zip(ema.buffers(), model.buffers()):
        mean.copy_(new)


def train_and_predict(device, update):
    model = torch.nn.BatchNorm1d(1).to(device)
    ema = copy.deepcopy(model).requires_grad_(False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    x = torch.tensor([[9.0], [11.0]], device=device)
    for _ in range(100):
        model(x).square().sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        update(ema, model)
    if not torch.allclose(ema.eval()(x), model.eval()(x), atol=0.1):
        return "eval output of the average is off"


def reproduce(device):
    return train_and_predict(device, parameters_alone)


def control(device):
    return train_and_predict(device, with_buffers)


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
