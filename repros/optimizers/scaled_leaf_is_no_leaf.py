# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "An optimizer rejects a tensor as non-leaf if it was indexed, scaled or moved after requires_grad=True"
# kind = "error"
# symptom = "can't optimize a non-leaf Tensor"
# messages = ["can.t optimize a non-leaf Tensor"]
# elsewhere = ["can.t optimize a non-leaf Variable"]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/140469",
#     "https://github.com/vinsis/ternary-quantization/issues/4",
#     "https://github.com/mazzzystar/randomCNN-voice-transfer/issues/16",
# ]
# wrong = '''
# image = content.requires_grad_()[None].to(device)  # a batch of one
# optimizer = torch.optim.SGD([image], lr=0.1)
# '''
# right = '''
# image = content[None].to(device).detach().clone().requires_grad_()
# optimizer = torch.optim.SGD([image], lr=0.1)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The optimizer rejects the tensor because it is the result of an operation. The leaf, which would
receive the gradient, has no name in the code.

Indexing, taking a view or multiplying by 0.01 (pytorch#140469) makes a tensor a non-leaf, and so
does .cuda() or .to() from the CPU to a device (vinsis/ternary-quantization#4,
mazzzystar/randomCNN-voice-transfer#16). If .to() changes nothing, it returns the leaf. Call
requires_grad_() last. The call to detach() is needed if the tensor comes out of a network. Without
clone(), `image` can share the memory of the original tensor, and the optimizer then writes into the
original.

The weight of a layer with weight_norm(), a parametrization or pruning is also the result of an
operation. For such a weight, the corrected code would train a copy that the layer does not read, so
pass layer.parameters() to the optimizer instead.
"""

import torch


def reproduce(device):
    content = torch.ones(2, device=device)
    try:
        image = content.requires_grad_()[None].to(device)  # a batch of one
        optimizer = torch.optim.SGD([image], lr=0.1)
    except ValueError as error:
        return str(error)
    return f"{optimizer} was built"


def control(device):
    content = torch.ones(2, device=device)
    image = content[None].to(device).detach().clone().requires_grad_()
    optimizer = torch.optim.SGD([image], lr=0.1)
    image.sum().backward()
    optimizer.step()
    if not torch.allclose(image, torch.full_like(image, 0.9)) or content.tolist() != [1, 1]:
        return f"after the step the image is {image.tolist()}, and what it was made from {content}"


def messages(device):
    try:
        torch.optim.SGD([torch.ones(2, device=device, requires_grad=True) * 0.01], lr=0.1)
    except ValueError as error:
        return str(error)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, messages):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
