# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "The saliency of an LSTM with dropout differs at every call in train mode"
# kind = "silent"
# symptom = "two saliencies of one input differ"
# origin = "usage"
# reports = ["https://github.com/meta-pytorch/captum/issues/1159"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.LSTM.html",
#     "https://github.com/meta-pytorch/captum/issues/564",
#     "https://github.com/pytorch/pytorch/pull/185351",
# ]
# wrong = '''
# model.train()  # since cuDNN raises in eval mode
# gradient, = torch.autograd.grad(model(x).sum(), x)
# '''
# right = '''
# modes = [(module, module.training) for module in model.modules()]
# before = torch.backends.cudnn.enabled
# try:
#     model.eval()
#     torch.backends.cudnn.enabled = False
#     gradient, = torch.autograd.grad(model(x).sum(), x)
# finally:
#     torch.backends.cudnn.enabled = before
#     for module, training in modes:
#         module.train(training)
# '''
# fix = "rnn.input_gradients"
# use = '''
# from rnn import input_gradients
# gradient, = input_gradients(model, x)
# '''
# choice = "Use the lines without the fix if you compute saliencies only now and then; use the fix to keep cuDNN on"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=2.13" }
# ///
"""Two saliencies of the same input differ, because in train mode, dropout leaves a different random
part of the network active each time.

The thread captum#564 recommends train mode to avoid the error "cudnn RNN backward can only be
called in training mode". In the thread captum#1159, users doubt this advice, and finally switch
cuDNN off. Without cuDNN, an RNN's backward pass does not need train mode. The two calls differ
because of the RNN's dropout (control). An RNN with one layer has no dropout (docs: torch.nn.LSTM).
Calls of torch.nn.functional.dropout() without training=self.training make the results differ in
eval mode too. On MPS, an LSTM used the same mask in every forward pass until pytorch#185351 (not
measured).
"""

import torch


class Net(torch.nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.embed = torch.nn.Linear(3, 3)
        self.lstm = torch.nn.LSTM(3, 8, num_layers=2, dropout=dropout)

    def forward(self, x):
        return self.lstm(self.embed(x))[0]


def start(device, dropout=0.5):
    return Net(dropout).to(device), torch.ones(5, 2, 3, device=device, requires_grad=True)


def in_train_mode(model, x):
    model.train()  # since cuDNN raises in eval mode
    (gradient,) = torch.autograd.grad(model(x).sum(), x)
    return gradient


def in_eval_mode(model, x):
    modes = [(module, module.training) for module in model.modules()]
    before = torch.backends.cudnn.enabled
    try:
        model.eval()
        torch.backends.cudnn.enabled = False
        (gradient,) = torch.autograd.grad(model(x).sum(), x)
    finally:
        torch.backends.cudnn.enabled = before
        for module, training in modes:
            module.train(training)
    return gradient


def compare(one, two):
    difference = (one - two).norm() / one.norm()
    if difference > 0.001:
        return f"two saliencies of one input differ by {difference:.0%}"


def reproduce(device):
    model, x = start(device)
    return compare(in_train_mode(model, x), in_train_mode(model, x))


def control(device):
    model, x = start(device, dropout=0.0)
    return compare(in_train_mode(model, x), in_train_mode(model, x))


def right(device):
    model, x = start(device)
    model.embed.eval()  # frozen
    gradient = in_eval_mode(model, x)
    if [module.training for module in (model, model.embed, model.lstm)] != [True, False, True]:
        return "the modes changed"
    without_dropout, _ = start(device, dropout=0.0)
    without_dropout.load_state_dict(model.state_dict())
    return compare(gradient, in_train_mode(without_dropout, x))


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, right):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
