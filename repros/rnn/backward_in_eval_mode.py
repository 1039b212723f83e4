# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Gradients through an LSTM in eval mode raise on CUDA and work on CPU"
# kind = "error"
# symptom = "cudnn RNN backward can only be called in training mode"
# messages = ["cudnn RNN backward can only be called in training mode", "backward_input can only be called in training mode"]
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/5878", "https://github.com/pytorch/pytorch/issues/10006", "https://github.com/pytorch/pytorch/issues/15788", "https://github.com/pytorch/pytorch/issues/37965"]
# wrong = '''
# TODO
# '''
# fix = "rnn.input_gradients"
# affected = { cpu = "never", cuda = ">=1.13", mps = "never" }
# ///
"""cuDNN saves what its backward needs only when the RNN ran forward in training mode.

_cudnn_rnn keeps the reserve space `if (fn_train)`, and both backward functions check
the flag that the *forward* was given (aten/src/ATen/native/cudnn/RNN.cpp). So the mode
of the RNN module at forward time decides; gradient mode has no part in it, and the CPU
kernels need no reserve space. Neither a later model.train() nor cudnn.flags() around
the backward changes the past.
"""

import torch


def saliency(device, train, before_backward=lambda model: None):
    model = torch.nn.LSTM(3, 4).to(device).train(train)
    x = torch.ones(5, 2, 3, device=device, requires_grad=True)
    output, _ = model(x)
    before_backward(model)
    try:
        output.sum().backward()
    except RuntimeError as error:
        return str(error)


def reproduce(device):
    return saliency(device, train=False)


def control(device):
    return saliency(device, train=True)


def popular_fix(device):
    return saliency(
        device, train=False, before_backward=torch.nn.Module.train
    )  # too late: the forward has run


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
