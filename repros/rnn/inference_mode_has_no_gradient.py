# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "inference_mode in place of no_grad trades the cuDNN error for 'element 0 of tensors does not require grad'"
# kind = "error"
# symptom = "element 0 of tensors does not require grad"
# messages = ["element \\d{1,9} of tensors does not require grad and does not have a grad_fn"]
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/5878", "https://github.com/meta-pytorch/captum/issues/328"]
# wrong = '''
# TODO
# '''
# fix = "rnn.input_gradients"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""inference_mode() records no graph, so it cures only callers that never wanted
gradients.

Unlike under no_grad(), a nested enable_grad() does not bring the graph back.
"""

import contextlib

import torch


def saliency(device, outer, inner=contextlib.nullcontext):
    x = torch.ones(5, 2, 3, device=device, requires_grad=True)
    lstm = torch.nn.LSTM(3, 4).to(device)
    with outer(), inner():
        output = lstm(x)[0].sum()
    try:
        output.backward()
    except RuntimeError as error:
        return str(error)


def reproduce(device):
    return saliency(device, torch.inference_mode)


def control(device):
    return saliency(device, torch.no_grad, torch.enable_grad)


def popular_fix(device):
    return saliency(device, torch.inference_mode, torch.enable_grad)


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
