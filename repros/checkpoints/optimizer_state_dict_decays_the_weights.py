# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "get_optimizer_state_dict() before the first step applies weight decay to the weights"
# kind = "silent"
# symptom = "weight went from 1.00 to 0.95"
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/121186"]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/125708",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/distributed/checkpoint/state_dict.py",
# ]
# fixed_by = "pytorch#125708"
# wrong = '''
# state = get_optimizer_state_dict(model, optimizer)
# '''
# fix = "upgrade"
# requires = ">=2.2"
# affected = { cpu = "<2.4", cuda = "<2.4" }
# ///
"""If the state of AdamW is still empty, and no weight has a gradient, the weights decay by one
step. With gradients, 2.3 raises an error. Adam, NAdam, SGD and RMSprop with weight decay change the
weights too. Adagrad does not, because it creates its state when it is constructed.

If an optimizer has no state, get_optimizer_state_dict() and set_optimizer_state_dict() step it
once, with gradients of zero, to create the state (torch/distributed/checkpoint/state_dict.py).
Weight decay still changes the weights, even weights that were just loaded (pytorch#125708). Since
the upstream fix, the step has a learning rate of zero. Without an upgrade, load the weights after
the optimizer's state.

The step still counts. On 2.3 and 2.15, if an empty state is read, Adam starts at its second step,
and training gives different weights than without the read. On 2.15, ASGD then loses its first step,
and Rprop hardly moves. Read the state after the first step.
"""

import torch


def read(device, weight_decay):
    from torch.distributed.checkpoint.state_dict import get_optimizer_state_dict

    model = torch.nn.Linear(1, 1, bias=False, device=device)
    torch.nn.init.ones_(model.weight)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1, weight_decay=weight_decay)
    get_optimizer_state_dict(model, optimizer)
    if model.weight.item() != 1:
        return f"weight went from 1.00 to {model.weight.item():.2f}"


def reproduce(device):
    return read(device, weight_decay=0.5)


def control(device):
    return read(device, weight_decay=0.0)


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
