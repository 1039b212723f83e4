# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "target = net gives one network two names, so every step also changes the target network"
# kind = "silent"
# symptom = "the target moved with the network"
# origin = "usage"
# reports = [
#     "https://github.com/datawhalechina/easy-rl/issues/140",
#     "https://github.com/andri27-ts/Reinforcement-Learning/issues/14",
# ]
# documents = ["https://github.com/datawhalechina/easy-rl/pull/117"]
# wrong = '''
# target = net
# '''
# right = '''
# import copy
# target = copy.deepcopy(net).requires_grad_(False)
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Both networks always have equal weights, so Q-learning chases its own estimate.

An assignment copies no weights. Moving the module copies none either, because net.to(device)
returns the module itself, so using one model for both networks (datawhalechina/easy-rl#140) has the
same effect. A later target.load_state_dict(net.state_dict()) copies the weights onto themselves,
and a moving average also has no effect. Writing target = net after each update, instead of
load_state_dict(), makes target an alias too (andri27-ts/Reinforcement-Learning#14). The copy keeps
net's mode. deepcopy() can raise an error if net has torch.nn.utils.weight_norm() or
spectral_norm(). If net is wrapped in DistributedDataParallel, copy net.module.
"""

import copy

import torch


def start(device):
    net = torch.nn.Linear(2, 1).to(device)
    return net, torch.optim.SGD(net.parameters(), lr=0.1), torch.ones(1, 2, device=device)


def check(net, target, optimizer, x):
    before = target(x).detach().clone()
    net(x).sum().backward()
    optimizer.step()
    if not target(x).equal(before):
        return "the target moved with the network"
    target.load_state_dict(net.state_dict())
    if not torch.allclose(target(x), before - 0.3):  # 0.1 for each weight and for the bias
        return "the target cannot be updated"


def reproduce(device):
    net, optimizer, x = start(device)
    target = net
    return check(net, target, optimizer, x)


def control(device):
    net, optimizer, x = start(device)
    target = copy.deepcopy(net).requires_grad_(False)
    return check(net, target, optimizer, x)


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
