# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "The second backward() of an RNN fails because its hidden state keeps the previous batch's graph"
# kind = "error"
# symptom = "Trying to backward through the graph a second time"
# messages = ["Trying to backward through the graph a second time"]
# origin = "usage"
# reports = [
#     "https://github.com/MorvanZhou/PyTorch-Tutorial/issues/57",
#     "https://github.com/sgadgil6/cnslab_fmri/issues/4",
#     "https://github.com/mlech26l/ncps/issues/62",
# ]
# documents = ["https://github.com/Eurus-Holmes/MNMT/issues/7"]
# wrong = '''
# for x, y in loader:
#     output, state = lstm(x, state)
#     loss = criterion(head(output), y)
#     optimizer.zero_grad()
#     loss.backward()
#     optimizer.step()
# '''
# right = '''
# for x, y in loader:
#     output, state = lstm(x, state)
#     loss = criterion(head(output), y)
#     optimizer.zero_grad()
#     loss.backward()
#     optimizer.step()
#     state = tuple(s.detach() for s in state)  # of a GRU: state.detach()
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The first batch trains, but the second backward() reaches the graph of the first batch.

backward() frees the tensors that the forward pass saved (torch/csrc/autograd/engine.cpp), but the
state that is passed in still has the previous batch's history. Call detach() once per batch, after
backward(), to end this history (control). A call between the steps of one sequence, or before a
loss uses the state itself, would silently cut off gradients that the model should learn from. The
state of a GRU or RNN is one tensor, but the state of an LSTM is two tensors. If the last batch has
a different size, the error is "Expected hidden size" ("hidden[0]" for an LSTM), so pass
drop_last=True to the loader. Do not shuffle, because the state passes from each row to the same row
of the next batch.

With retain_graph=True, which the message and some users suggest (Eurus-Holmes/MNMT#7), backward()
goes back through all batches. Either memory runs out (sgadgil6/cnslab_fmri#4) or, once an optimizer
has changed the weights that the earlier graph saved, backward() raises "modified by an inplace
operation" (popular fix, mlech26l/ncps#62). Under autocast, or if the optimizer has fused=True, no
error is raised.
"""

import torch


def start(device):
    lstm, head = torch.nn.LSTM(1, 2).to(device), torch.nn.Linear(2, 1).to(device)
    optimizer = torch.optim.SGD([*lstm.parameters(), *head.parameters()], lr=0.1)
    x = torch.linspace(-1, 1, 12, device=device).reshape(3, 4, 1, 1)
    return lstm, head, optimizer, torch.nn.MSELoss(), list(zip(x, -x))


def reproduce(device, retain_graph=False):
    lstm, head, optimizer, criterion, loader = start(device)
    state = None
    try:
        for x, y in loader:
            output, state = lstm(x, state)
            loss = criterion(head(output), y)
            optimizer.zero_grad()
            loss.backward(retain_graph=retain_graph)
            optimizer.step()
    except RuntimeError as error:
        return str(error)


def control(device):
    lstm, head, optimizer, criterion, loader = start(device)
    state = None
    for x, y in loader:
        output, state = lstm(x, state)
        loss = criterion(head(output), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        state = tuple(s.detach() for s in state)  # of a GRU: state.detach()
    if not all(p.grad.any() for p in lstm.parameters()):
        return "a parameter has no gradient"
    if not state[0].any():
        return "the state was not carried over"


def popular_fix(device):
    return reproduce(device, retain_graph=True)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, popular_fix):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
