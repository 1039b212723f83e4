# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "zero_grad() inside the accumulation loop keeps only the gradient of the last micro-batch"
# kind = "silent"
# symptom = "1 of 4 micro-batches reached the weight"
# origin = "usage"
# reports = ["https://github.com/bytetriper/RAE/issues/67"]
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html"]
# wrong = '''
# for x, y in micro_batches:
#     optimizer.zero_grad()
#     (loss_fn(model(x), y) / len(micro_batches)).backward()
# optimizer.step()
# '''
# right = '''
# optimizer.zero_grad()
# for x, y in micro_batches:
#     (loss_fn(model(x), y) / len(micro_batches)).backward()
# optimizer.step()
# '''
# rule = "error"
# when = "the accumulation window contains more than one micro-batch"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Each step learns from its last micro-batch, and the work on the other micro-batches is lost.

Accumulation only adds up gradients in .grad; zero_grad() before every backward() drops the
gradients of the earlier micro-batches (bytetriper/RAE#67).

The corrected lines assume that the micro-batches have the same size, that the rows do not depend on
each other, and that the loss is the plain mean over the rows. They then give the gradient of the
large batch. With sizes of 4, 4 and 2, the result was off by 0.3 of the gradient. For ignore_index
or class weights, see loss/accumulation_averages_unequal_means. BatchNorm, and a loss that compares
rows, such as a contrastive loss, see fewer rows at once.
"""

import torch


def start(device):
    model = torch.nn.Linear(4, 1, bias=False, device=device)
    torch.nn.init.zeros_(model.weight)
    target = torch.ones(1, 1, device=device)
    rows = torch.eye(4, device=device)  # one element of the weight each
    micro_batches = [(row[None], target) for row in rows]
    return model, micro_batches, torch.nn.L1Loss(), torch.optim.SGD(model.parameters(), lr=1.0)


def check(model):
    reached = int((model.weight != 0).sum())
    if reached < 4:
        return f"{reached} of 4 micro-batches reached the weight"
    if not torch.allclose(model.weight, torch.full_like(model.weight, 0.25)):
        return f"the weight ended at {model.weight.tolist()}, not at 0.25 four times"


def reproduce(device):
    model, micro_batches, loss_fn, optimizer = start(device)
    for x, y in micro_batches:
        optimizer.zero_grad()
        (loss_fn(model(x), y) / len(micro_batches)).backward()
    optimizer.step()
    return check(model)


def control(device):
    model, micro_batches, loss_fn, optimizer = start(device)
    optimizer.zero_grad()
    for x, y in micro_batches:
        (loss_fn(model(x), y) / len(micro_batches)).backward()
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
