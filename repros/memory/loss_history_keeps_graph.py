# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Summing losses for the log keeps the graph of every step alive"
# kind = "leak"
# symptom = "5 of 5 graphs are alive"
# origin = "usage"
# reports = [
#     "https://github.com/BatsResearch/labelmodels/issues/4",
#     "https://github.com/pai4451/ML2021/issues/2",
#     "https://github.com/jostmey/NakedAttention/issues/1",
# ]
# documents = ["https://docs.pytorch.org/docs/stable/notes/faq.html"]
# wrong = '''
# total += loss
# '''
# right = '''
# total = total + loss.detach().float()
# '''
# rule = "warning"
# when = "the loop takes many steps"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Memory grows by one graph per step, because the sum refers to every loss, and each loss refers to
the tensors that its forward pass saved. A list of losses keeps these tensors too, so append
loss.detach().clone() to the list. Without clone(), a later `loss /= 4` changes the entry.

Calling backward() frees the saved tensors but keeps the nodes of the graph, which use host memory.
Per training step, this is 10 to 20 KB for ten layers, and over 1 MB for 200 steps of a GRUCell.
Without a call to backward(), as in validation or for a loss that is only logged, the whole graph
stays. Deleting the loss with `del loss` does not free the graph.

Unlike item(), detach() does not wait for the device. The call to float() is for losses in bfloat16,
whose sum stops growing early because 256 + 1 is 256. Omit the call for losses in float64. With
`+=`, a single tensor would be updated in place, so a list of the totals so far would hold the last
total many times.
"""

import weakref

import torch


def losses(device, saved):
    weight = torch.ones(3, device=device, requires_grad=True)
    for _ in range(5):
        hidden = weight * 2
        saved.append(weakref.ref(hidden))  # square() saves it for the backward
        loss = hidden.square().sum()
        del hidden
        yield loss
        del loss


def check(total, saved):
    if alive := sum(hidden() is not None for hidden in saved):
        return f"{alive} of 5 graphs are alive"
    if total.item() != 60:
        return f"the sum is {total.item()} instead of 60"


def reproduce(device):
    total, saved = 0.0, []
    for loss in losses(device, saved):
        total += loss
        del loss
    return check(total, saved)


def control(device):
    total, saved = 0.0, []
    for loss in losses(device, saved):
        total = total + loss.detach().float()
        del loss
    return check(total, saved)


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
