# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Writing rows or slices into a layer's weight outside no_grad() raises an error"
# kind = "error"
# symptom = "a view of a leaf Variable that requires grad is being used in an in-place operation"
# messages = ["a view of a leaf Variable that requires grad is being used in an in-place operation"]
# elsewhere = [
#     "a view of a leaf Variable that requires grad has been used in an in-place operation",
# ]
# origin = "design"
# reports = [
#     "https://github.com/Atcold/NYU-DLSP20/issues/765",
#     "https://github.com/Hunter-DDM/knowledge-neurons/issues/14",
#     "https://github.com/PingoLH/FCHarDNet/issues/61",
# ]
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.no_grad.html"]
# wrong = '''
# embedding.weight[0] = vector
# '''
# right = '''
# with torch.no_grad():
#     embedding.weight[0] = vector
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Filling the rows of an embedding raises an error (Atcold/NYU-DLSP20#765), and so does editing
columns of a Linear (Hunter-DDM/knowledge-neurons#14).

A slice is a view of the parameter, and autograd does not record in-place changes to a leaf or to a
view of a leaf (torch/csrc/autograd/VariableTypeUtils.h). Initialization should not be recorded
anyway (control).

If a network computes the row, writing it under no_grad() does not help, because no gradient flows
back to the network. Instead, build a new table with torch.cat() in each forward pass, and look up
the rows with torch.nn.functional.embedding(). If a tensor is created only to be filled, it does not
need requires_grad=True, which would cause this error. The assigned values bring their own graph.
"""

import torch


def start(device):
    return torch.nn.Embedding(3, 2).to(device), torch.tensor([3.0, 4.0], device=device)


def reproduce(device):
    embedding, vector = start(device)
    try:
        embedding.weight[0] = vector
    except RuntimeError as error:
        return str(error)


def control(device):
    embedding, vector = start(device)
    with torch.no_grad():
        embedding.weight[0] = vector
    embedding(torch.tensor([0], device=device)).sum().backward()
    if embedding.weight[0].tolist() != [3, 4] or not embedding.weight.is_leaf:
        return f"the row is {embedding.weight[0].tolist()}"
    if embedding.weight.grad.tolist() != [[1, 1], [0, 0], [0, 0]]:
        return f"the gradient is {embedding.weight.grad.tolist()}"


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
