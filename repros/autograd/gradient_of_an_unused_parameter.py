# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "autograd.grad() raises because a parameter took no part in the output"
# kind = "error"
# symptom = "appears to not have been used in the graph"
# messages = [
#     "differentiated (?:Tensor|Variable)s? (?:at index \\d{1,9} )?appears (?:to not|not to) have been used in the graph",
# ]
# keywords = [
#     "One of the differentiated Tensors appears to not have been used in the graph",
#     "Set allow_unused=True if this is the desired behavior",
#     "MAML unused parameter",
#     "torch.autograd.grad returns None",
#     "meta-learning with a pretrained model",
#     "unsupported operand type(s) for *: 'float' and 'NoneType'",
# ]
# origin = "design"
# reports = ["https://github.com/learnables/learn2learn/issues/363"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.autograd.grad.html",
#     "https://github.com/showlab/BoxDiff/issues/20",
#     "https://github.com/pytorch/pytorch/issues/73697",
# ]
# wrong = '''
# parameters = list(model.parameters())
# gradients = torch.autograd.grad(loss, parameters)
# '''
# right = '''
# parameters = list(model.body.parameters())  # what the output depends on
# gradients = torch.autograd.grad(loss, parameters)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The inner loop of meta-learning differentiates by every parameter, and the model has a
head that the output does not go through (learnables/learn2learn#363, where the same
model trains in the usual way).

autograd.grad() refuses a tensor that the output does not depend on (docs:
torch.autograd.grad); backward() just leaves its grad at None. allow_unused=True, which
the message advises, returns None in its place, and the update p - lr * g raises
(popular fix; showlab/BoxDiff#20 meets another error after it).
"""

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.pooler = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)

    def forward(self, x):
        return self.body(x)


def adapt(device, used_only, allow_unused=False):
    model = Model().to(device)
    parameters = list(model.body.parameters() if used_only else model.parameters())
    loss = model(torch.ones(1, 2, device=device)).sum()
    try:
        gradients = torch.autograd.grad(loss, parameters, allow_unused=allow_unused)
        [p - 0.1 * gradient for p, gradient in zip(parameters, gradients)]
    except (RuntimeError, TypeError) as error:
        return str(error)


def reproduce(device):
    return adapt(device, used_only=False)


def control(device):
    return adapt(device, used_only=True)


def popular_fix(device):
    return adapt(device, used_only=False, allow_unused=True)


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
