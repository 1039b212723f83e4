# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "autograd.grad() raises an error because the output does not depend on a parameter"
# kind = "error"
# symptom = "appears to not have been used in the graph"
# messages = [
#     "One of the differentiated Tensors appears to not have been used in the graph",
#     "The differentiated Tensor at index \\d{1,9} appears to not have been used in the graph",
# ]
# elsewhere = [
#     "differentiated (?:Tensors|Variables) (?:appears to not|not to) have been used in the graph",
# ]
# origin = "design"
# reports = ["https://github.com/learnables/learn2learn/issues/363"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.autograd.grad.html",
#     "https://github.com/showlab/BoxDiff/issues/20",
#     "https://github.com/pytorch/pytorch/issues/73697",
# ]
# wrong = '''
# parameters = [p for p in model.parameters() if p.requires_grad]
# gradients = torch.autograd.grad(loss, parameters)
# '''
# right = '''
# parameters = [p for p in model.parameters() if p.requires_grad]
# gradients = torch.autograd.grad(loss, parameters, allow_unused=True)
# gradients = [torch.zeros_like(p) if g is None else g for p, g in zip(parameters, gradients)]
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The inner loop of meta-learning differentiates with respect to every parameter, but one head of
the model does not contribute to the output. In learnables/learn2learn#363, the model trains
normally with backward().

autograd.grad() rejects a tensor that the output does not depend on (docs: torch.autograd.grad),
whereas backward() leaves this tensor's grad at None. With allow_unused=True, which the message
suggests, grad() returns None for this tensor, and the update p - lr * g then fails (popular fix; in
showlab/BoxDiff#20 a different error follows). Replacing None with zeros fixes the error (control).
In releases where torch.autograd.grad() has the argument, materialize_grads=True fixes it too. First
make sure that the parameter is meant to be unused. The same error occurs if an input was sliced or
converted after the forward pass, and zeros would hide that mistake. In that case, differentiate
with respect to the tensor that was passed to the model. Zip the gradients with `parameters`:
neither list includes frozen parameters, which grad() would also reject. For MAML, keep
create_graph=True: without this argument, MAML would silently become a first-order method.
"""

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.pooler = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)

    def forward(self, x):
        return self.body(x)


def as_it_is(model, loss):
    parameters = [p for p in model.parameters() if p.requires_grad]
    gradients = torch.autograd.grad(loss, parameters)
    return gradients


def with_zeros(model, loss):
    parameters = [p for p in model.parameters() if p.requires_grad]
    gradients = torch.autograd.grad(loss, parameters, allow_unused=True)
    gradients = [torch.zeros_like(p) if g is None else g for p, g in zip(parameters, gradients)]
    return gradients


def with_none(model, loss):
    parameters = [p for p in model.parameters() if p.requires_grad]
    gradients = torch.autograd.grad(loss, parameters, allow_unused=True)
    return gradients


def adapt(device, differentiate):
    model = Model().to(device)
    x = torch.ones(1, 2, device=device)
    try:
        gradients = differentiate(model, model(x).sum())
        adapted = [p - 0.1 * g for p, g in zip(model.parameters(), gradients)]
    except (RuntimeError, TypeError) as error:
        return str(error)
    model(x).sum().backward()
    for p, new in zip(model.parameters(), adapted):
        if not torch.equal(new, p if p.grad is None else p - 0.1 * p.grad):
            return "the update is not that of backward()"


def reproduce(device):
    return adapt(device, as_it_is)


def control(device):
    return adapt(device, with_zeros)


def popular_fix(device):
    return adapt(device, with_none)


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
