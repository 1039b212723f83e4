# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A penalty on the weights from state_dict() or .data increases the loss but changes no gradient"
# kind = "silent"
# symptom = "the penalty is 6, and its gradient is zero"
# origin = "usage"
# reports = ["https://github.com/bioFAM/scDORI/issues/19"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html",
#     "https://github.com/tdrussell/qlora-pipe/pull/29",
#     "https://stackoverflow.com/questions/63047762",
# ]
# wrong = '''
# penalty = sum(p.data.abs().sum() for p in model.parameters())
# loss = loss + strength * penalty
# '''
# right = '''
# penalty = sum(p.abs().sum() for p in model.parameters())
# loss = loss + strength * penalty
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""However strong the penalty is, SGD and Adam end at the same weights as without it.

The values of .data and of state_dict() are detached from the graph (docs:
torch.nn.Module.state_dict), so for autograd the penalty is a constant. A forward() that computes
with detached values does not train the corresponding parameters either. state_dict() also contains
buffers such as running means, and parameters() does not. The penalty covers biases and norms too:
leave them out if they should not shrink. If the loss is divided for gradient accumulation, add the
penalty before the division.
"""

import torch


def of_data(model, loss, strength):
    penalty = sum(p.data.abs().sum() for p in model.parameters())
    loss = loss + strength * penalty
    return loss


def of_state(model, loss, strength):
    return loss + strength * sum(value.abs().sum() for value in model.state_dict().values())


def of_parameters(model, loss, strength):
    penalty = sum(p.abs().sum() for p in model.parameters())
    loss = loss + strength * penalty
    return loss


def check(device, penalized):
    model = torch.nn.Linear(2, 1).to(device)
    with torch.no_grad():
        model.weight.copy_(torch.tensor([[1.0, -2.0]]))
        model.bias.fill_(3)
    loss = model(torch.ones(1, 2, device=device)).sum()  # 2
    plain = torch.autograd.grad(loss, list(model.parameters()), retain_graph=True)
    total = penalized(model, loss, 10.0)
    total.backward()
    if total.item() != 62:
        return f"the loss is {total.item()}"
    if all(p.grad.equal(gradient) for p, gradient in zip(model.parameters(), plain)):
        return "the penalty is 6, and its gradient is zero"
    if model.weight.grad.tolist() != [[11.0, -9.0]] or model.bias.grad.tolist() != [11.0]:
        return "the gradient is not that of the penalty"


def reproduce(device):
    seen = {check(device, penalized) for penalized in (of_data, of_state)}
    return seen.pop() if len(seen) == 1 else f"the two ways differ: {seen}"


def control(device):
    return check(device, of_parameters)


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
