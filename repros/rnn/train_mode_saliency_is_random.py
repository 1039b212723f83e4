# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Saliency computed in train mode ranks the features differently at every call"
# kind = "silent"
# symptom = "two saliencies of one input differ"
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/5878", "https://github.com/meta-pytorch/captum/issues/564"]
# wrong = '''
# TODO
# '''
# fix = "rnn.input_gradients"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""model.train() cures the cuDNN error and turns every dropout on, so the gradient
belongs to a random thinned network.

A seed makes the answer repeatable and leaves it wrong: it is still not the gradient of
the model that predicts.
"""

import torch

torch.manual_seed(0)
X = torch.randn(5, 2, 3)


def model_on(device):
    torch.manual_seed(1)
    return torch.nn.LSTM(3, 8, num_layers=2, dropout=0.3).to(device)


def saliency(lstm, device):
    x = X.to(device).requires_grad_()
    return torch.autograd.grad(lstm(x)[0].sum(), x)[0]


def reproduce(device):
    lstm = model_on(device).train()
    difference = saliency(lstm, device) - saliency(lstm, device)
    if difference.abs().max() > 1e-3:
        return f"two saliencies of one input differ by {difference.abs().max():.1g}"


def control(device):
    lstm = model_on(device).train()  # for cuDNN's sake
    lstm.dropout = 0.0
    difference = saliency(lstm, device) - saliency(lstm, device)
    if difference.abs().max() > 1e-3:
        return f"two saliencies of one input differ by {difference.abs().max():.1g}"


def popular_fix(device):
    lstm = model_on(device).train()
    torch.manual_seed(2)
    seeded = saliency(lstm, device)
    lstm.dropout = 0.0
    difference = seeded - saliency(lstm, device)
    if difference.abs().max() > 1e-3:
        return f"repeatable now, and off by {difference.abs().max():.1g} from the gradient of the model that predicts"


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
