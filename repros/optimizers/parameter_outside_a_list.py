# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "An optimizer raises TypeError for a single parameter that is not in a list"
# kind = "error"
# symptom = "should be an iterable of Tensors or dicts, but got torch"
# messages = [
#     'params argument given to the optimizer should be an iterable of Tensors or dicts, but got torch\.FloatTensor',
# ]
# elsewhere = [
#     'params argument given to the optimizer should be an iterable of (?:Tensors|Variables) or dicts, but got torch\.(?:cuda\.|mps\.)?\w{4,12}Tensor',
# ]
# origin = "design"
# reports = ["https://github.com/KaiyangZhou/Dassl.pytorch/issues/67"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/optim.html",
#     "https://github.com/pytorch/pytorch/issues/4957",
# ]
# wrong = '''
# optimizer = torch.optim.SGD(prompt, lr=0.1)  # an nn.Parameter
# '''
# right = '''
# optimizer = torch.optim.SGD([prompt], lr=0.1)
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The code trains a prompt, an image, a latent vector or a temperature, but no model.

An optimizer expects an iterable of parameters (docs: torch.optim). A tensor is iterable too, but
its elements are new tensors, not parameters, so the optimizer rejects it
(torch/optim/optimizer.py).

With list(prompt) or an asterisk, the optimizer gets the elements, which pass this check. Because
they are results of an operation, the next error is "can't optimize a non-leaf Tensor"
(pytorch#4957). For a single number, it is "iteration over a 0-d tensor". A plain tensor in the list
needs requires_grad=True: without it, the optimizer accepts the tensor but never changes it. In a
list of parameter groups, {"params": prompt} without an inner list is accepted.
"""

import torch


def reproduce(device):
    prompt = torch.nn.Parameter(torch.ones(2, device=device))
    try:
        torch.optim.SGD(prompt, lr=0.1)
    except TypeError as error:
        return str(error)


def control(device):
    prompt = torch.nn.Parameter(torch.ones(2, device=device))
    optimizer = torch.optim.SGD([prompt], lr=0.1)
    (prompt**2).sum().backward()
    for each in (optimizer, torch.optim.SGD([{"params": prompt}], lr=0.1)):
        each.step()
    if any(abs(value - 0.6) > 1e-4 for value in prompt.tolist()):
        return f"two steps from 1 against a gradient of 2 end at {prompt.tolist()}"


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
