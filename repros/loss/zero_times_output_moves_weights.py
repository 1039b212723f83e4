# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "With AdamW, a loss with a weight of 0 still moves the weights of its branch"
# kind = "silent"
# symptom = "the weights of the branch moved"
# origin = "design"
# reports = ["https://github.com/pytorch/pytorch/issues/38581"]
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html"]
# wrong = '''
# loss = main + weight * aux  # weight is 0
# loss.backward()
# optimizer.step()
# '''
# right = '''
# loss = main + weight * aux if weight else main  # in DDP: find_unused_parameters=True
# loss.backward()
# optimizer.step()  # skips what zero_grad() has set to None, as it does by default since 2.0
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""An optimizer skips a parameter whose gradient is None, but takes a step if the gradient is zero
(docs: torch.optim.Optimizer.zero_grad). With a gradient of zero, weight decay still shrinks the
weights (pytorch#38581), so changed weights do not show that a model learns.

AdamW multiplies the weights by (1 - lr * weight_decay) (torch/optim/adam.py), and its weight_decay
defaults to 0.01 (torch/optim/adamw.py). SGD, Adam and RMSprop have no weight decay by default, and
do not change a branch that was off from the start. If the branch was trained before, the momentum
of Adam and AdamW still moves it, and so does the momentum of SGD if you set it. The same happens if
zero_grad() leaves zeros, as it does before torch 2.0 or with set_to_none=False.

Without the product, the branch has no gradient. Unless it is constructed with
find_unused_parameters=True, DistributedDataParallel then raises an error in the second step
("Expected to have finished reduction in the prior iteration").
"""

import torch


def always(main, weight, aux, optimizer):
    loss = main + weight * aux  # weight is 0
    loss.backward()
    optimizer.step()


def where_it_counts(main, weight, aux, optimizer):
    loss = main + weight * aux if weight else main
    loss.backward()
    optimizer.step()


def check(device, step, kind):
    body, branch = (torch.ones(3, device=device, requires_grad=True) for _ in range(2))
    step(body.square().sum(), 0.0, branch.sum(), kind([body, branch], lr=0.1))
    if torch.equal(body, torch.ones_like(body)):
        return "the main loss has moved nothing"
    if not torch.equal(branch, torch.ones_like(branch)):
        return f"the weights of the branch moved, to {branch[0].item():.4f}"


def reproduce(device):
    return check(device, always, torch.optim.AdamW)


def control(device):
    for kind in (torch.optim.SGD, torch.optim.Adam, torch.optim.RMSprop):
        if moved := check(device, always, kind):
            return f"{kind.__name__}: {moved}"
    return check(device, where_it_counts, torch.optim.AdamW)


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
