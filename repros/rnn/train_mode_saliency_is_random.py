# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Saliency computed in train mode differs at every call"
# kind = "silent"
# symptom = "two saliencies of one input differ"
# keywords = [
#     "attributions are not repeatable",
#     "different feature importance at every run",
#     "saliency map looks different each time I compute it",
#     "feature attributions change between runs for one sample",
#     "integrated gradients give different results for the same input",
#     "explanations of my LSTM are not stable",
#     "heatmap noisy and not reproducible",
#     "important words differ each time I run the explanation",
#     "captum results vary from call to call",
#     "input gradients are random for a fixed model",
#     "top features change whenever I re-run the explainer",
#     "SHAP or gradient values inconsistent for the same sample",
#     "interpretability scores do not repeat although weights are fixed",
# ]
# origin = "usage"
# reports = ["https://github.com/meta-pytorch/captum/issues/1159"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.LSTM.html",
#     "https://github.com/meta-pytorch/captum/issues/564",
#     "https://github.com/pytorch/pytorch/pull/185351",
# ]
# wrong = '''
# lstm.train()  # because cuDNN raises in eval mode
# gradient, = torch.autograd.grad(lstm(x)[0].sum(), x)
# '''
# right = '''
# lstm.train()
# lstm.dropout = 0.0
# gradient, = torch.autograd.grad(lstm(x)[0].sum(), x)
# '''
# fix = "rnn.input_gradients"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=2.13" }
# ///
"""Two saliencies of one input differ: in train mode each is the gradient of another randomly
thinned network.

Train mode is advised against "cudnn RNN backward can only be called in training mode"
(captum#564), and doubted (captum#1159). Only dropout makes the difference.
On MPS, an LSTM drew the same mask in every forward until pytorch#185351 (not measured).
"""

import torch


def compare(device, dropout):
    lstm = torch.nn.LSTM(3, 8, num_layers=2, dropout=0.5).to(device)
    lstm.train()
    lstm.dropout = dropout
    x = torch.ones(5, 2, 3, device=device, requires_grad=True)
    one, two = (torch.autograd.grad(lstm(x)[0].sum(), x)[0] for _ in range(2))
    difference = (one - two).norm() / one.norm()
    if difference > 0.001:
        return f"two saliencies of one input differ by {difference:.0%}"


def reproduce(device):
    return compare(device, dropout=0.5)


def control(device):
    return compare(device, dropout=0.0)


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
