# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "backward() fails in the second step because a tensor was computed before the training loop"
# kind = "error"
# symptom = "Trying to backward through the graph a second time"
# messages = ["Trying to backward through the graph a second time"]
# origin = "usage"
# reports = ["https://github.com/lucidrains/denoising-diffusion-pytorch/issues/109"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.Tensor.backward.html",
#     "https://github.com/pyg-team/pytorch-frame/pull/229",
# ]
# wrong = '''
# features = encoder(x)
# for _ in range(epochs):
#     optimizer.zero_grad()
#     criterion(head(features), y).backward()
#     optimizer.step()
# '''
# right = '''
# for _ in range(epochs):
#     optimizer.zero_grad()
#     features = encoder(x)
#     criterion(head(features), y).backward()
#     optimizer.step()
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The first step works, but the second step traverses the features' graph again
(lucidrains/denoising-diffusion-pytorch#109). If the encoder should not be trained, compute the
features without a graph instead (pyg-team/pytorch-frame#229).

backward() frees the tensors that the forward pass saved (torch/csrc/autograd/engine.cpp). A tensor
that depends on parameters has to be recomputed in every step (control), if only because the
parameters have changed. With retain_graph=True, which the message suggests, backward() detects the
changed parameters and raises "modified by an inplace operation" (popular fix). This error is not
raised if the encoder's backward pass needs no weight, as for a single Linear. It is not raised
either if autocast has cast all the encoder's weights, or if the optimizer has fused=True. The head
then continues with the features of the initial weights.
"""

import torch


def train(device, run, **options):
    layers = torch.nn.Linear(2, 2), torch.nn.Tanh(), torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
    model = torch.nn.Sequential(*layers).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = torch.eye(2, device=device), torch.tensor([[1.0], [-1.0]], device=device)
    try:
        run(model[:3], model[3], optimizer, torch.nn.MSELoss(), x, y, 400, **options)
    except RuntimeError as error:
        return str(error)
    if (model(x) - y).abs().max() > 0.1:
        return "400 steps have not trained it"


def before_the_loop(encoder, head, optimizer, criterion, x, y, epochs, **options):
    features = encoder(x)
    for _ in range(epochs):
        optimizer.zero_grad()
        criterion(head(features), y).backward(**options)
        optimizer.step()


def in_the_loop(encoder, head, optimizer, criterion, x, y, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        features = encoder(x)
        criterion(head(features), y).backward()
        optimizer.step()


def reproduce(device):
    return train(device, before_the_loop)


def control(device):
    return train(device, in_the_loop)


def popular_fix(device):
    return train(device, before_the_loop, retain_graph=True)


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
