# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "backward() of a custom Function must return one gradient per argument of forward()"
# kind = "error"
# symptom = "returned an incorrect number of gradients"
# messages = [
#     "returned an incorrect number of gradients \\(expected \\d{1,3}, got \\d{1,3}\\)",
# ]
# origin = "design"
# reports = [
#     "https://github.com/evanmy/sae/issues/5",
#     "https://github.com/1zb/pytorch-image-comp-rnn/issues/4",
# ]
# documents = ["https://docs.pytorch.org/docs/stable/notes/extending.html#how-to-use"]
# wrong = '''
# class Scale(torch.autograd.Function):
#     @staticmethod
#     def forward(ctx, x, factor):
#         ctx.factor = factor
#         return x * factor
#
#     @staticmethod
#     def backward(ctx, grad):
#         return grad * ctx.factor
# '''
# right = '''
# class Scale(torch.autograd.Function):
#     @staticmethod
#     def forward(ctx, x, factor):
#         ctx.factor = factor
#         return x * factor
#
#     @staticmethod
#     def backward(ctx, grad):
#         return grad * ctx.factor, None
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""forward() takes a tensor and a constant, but backward() returns only the gradient of the tensor
(evanmy/sae#5, 1zb/pytorch-image-comp-rnn#4).

backward() must return one value for every argument after ctx: the gradient, or None if the argument
has no gradient (docs: notes/extending). If the second argument is trainable, return its gradient:
None would leave it without one. Returning more tensors than there are arguments raises the same
error ("expected 1, got 2"), so remove the extra tensors.
"""

import torch


def train(device, function):
    x = torch.ones(1, device=device, requires_grad=True)
    try:
        function.apply(x, 2).backward()
    except RuntimeError as error:
        return str(error)
    if x.grad.item() != 2:
        return f"the gradient is {x.grad.item()} instead of 2.0"


def reproduce(device):
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.factor = factor
            return x * factor

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.factor

    return train(device, Scale)


def control(device):
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.factor = factor
            return x * factor

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.factor, None

    return train(device, Scale)


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
