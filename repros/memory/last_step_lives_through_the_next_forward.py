# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "The variables of a loop keep the output of a step in memory during the next forward pass"
# kind = "leak"
# symptom = "1 output of an earlier step is alive"
# origin = "design"
# documents = ["https://docs.pytorch.org/docs/stable/notes/faq.html"]
# wrong = '''
# for x, y in loader:
#     output = model(x)
#     loss = criterion(output, y)
#     optimizer.zero_grad()
#     loss.backward()
#     optimizer.step()
# '''
# right = '''
# for x, y in loader:
#     output = model(x)
#     loss = criterion(output, y)
#     optimizer.zero_grad()
#     loss.backward()
#     optimizer.step()
#     del output, loss
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Every forward pass except the first starts with an old output in memory.

A local variable keeps its tensor until it gets another value or the function returns (docs: notes,
FAQ), and `output` gets another value only after the forward pass. The `del` lowers the peak of a
step only if the peak is in the forward pass. With a cross entropy over a vocabulary, the peak is in
backward(), where the old output is already gone. If the second step runs out of memory, see
memory/first_step_makes_the_state. The last output also stays during a validation in the same
function. In a step without backward(), the old variables keep the whole graph in memory. Delete
other tensors of the step too, such as a second loss. Read loss.item() before the `del`, and do not
use `loss` after the loop.
"""

import gc
import weakref

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.outputs, self.alive = torch.nn.Linear(2, 1), [], 0

    def forward(self, x):
        alive = sum(output() is not None for output in self.outputs)
        self.alive = max(self.alive, alive)
        output = self.layer(x)
        self.outputs.append(weakref.ref(output))
        return output


def kept(model, loader, criterion, optimizer):
    for x, y in loader:
        output = model(x)
        loss = criterion(output, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def deleted(model, loader, criterion, optimizer):
    for x, y in loader:
        output = model(x)
        loss = criterion(output, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        del output, loss


def check(device, train):
    gc.collect()
    model, criterion = Net().to(device), torch.nn.MSELoss()
    start = model.layer.weight.detach().clone()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = torch.eye(2, device=device), torch.ones(2, 1, device=device)
    train(model, [(x, y)] * 3, criterion, optimizer)
    if model.alive:
        return f"{model.alive} output of an earlier step is alive in the forward pass"
    if model.layer.weight.equal(start):
        return "the model did not learn"


def reproduce(device):
    return check(device, kept)


def control(device):
    return check(device, deleted)


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
