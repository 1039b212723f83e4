# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "backward() through an LSTM that ran in eval mode fails on CUDA but works on the CPU"
# kind = "error"
# symptom = "cudnn RNN backward can only be called in training mode"
# elsewhere = [
#     "cudnn RNN backward can only be called in training mode",
#     "backward_input can only be called in training mode",
# ]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/5878",
#     "https://github.com/pytorch/pytorch/issues/15788",
#     "https://github.com/pytorch/pytorch/issues/37965",
#     "https://github.com/meta-pytorch/captum/issues/564",
#     "https://github.com/meta-pytorch/captum/issues/1159",
# ]
# documents = ["https://github.com/pytorch/pytorch/blob/v2.13.0/aten/src/ATen/native/cudnn/RNN.cpp"]
# wrong = '''
# lstm.eval()
# output, _ = lstm(x)
# output.sum().backward()
# '''
# right = '''
# lstm.eval()
# before = torch.backends.cudnn.enabled
# torch.backends.cudnn.enabled = False
# try:
#     output, _ = lstm(x)
# finally:
#     torch.backends.cudnn.enabled = before
# output.sum().backward()
# '''
# fix = "rnn.differentiable_eval"
# use = '''
# from rnn import differentiable_eval
# with differentiable_eval(lstm):
#     output, _ = lstm(x)
# output.sum().backward()
# '''
# choice = "Use the lines without the fix for an RNN alone; use the fix for a model that is in train mode in the rest of the program, or to keep cuDNN on"
# affected = { cpu = "never", cuda = ">=1.13", mps = "never" }
# ///
"""On CUDA, backward() through an LSTM in eval mode raises an error (pytorch#5878).

cuDNN saves the data for the backward pass only if the forward pass runs in training mode. The
backward pass checks the mode of the forward pass (aten/src/ATen/native/cudnn/RNN.cpp), so a call to
train() between the two passes is too late (pytorch#37965). A GRU or an RNN raises the same error,
because the check does not depend on the kind of layer (same file).
"""

import torch


def start(device):
    return torch.nn.LSTM(3, 4).to(device), torch.ones(5, 2, 3, device=device)


def backward_after(device, mode, before_backward=lambda lstm: None):
    lstm, x = start(device)
    mode(lstm)
    output, _ = lstm(x)
    before_backward(lstm)
    try:
        output.sum().backward()
    except RuntimeError as error:
        return str(error)


def reproduce(device):
    return backward_after(device, torch.nn.LSTM.eval)


def control(device):
    return backward_after(device, torch.nn.LSTM.train)


def right(device):
    lstm, x = start(device)
    lstm.eval()
    before = torch.backends.cudnn.enabled
    torch.backends.cudnn.enabled = False
    try:
        output, _ = lstm(x)
    finally:
        torch.backends.cudnn.enabled = before
    output.sum().backward()
    alone = torch.nn.LSTM(3, 4)  # on the CPU
    alone.load_state_dict(lstm.state_dict())
    alone(x.cpu())[0].sum().backward()
    if not torch.allclose(
        lstm.weight_hh_l0.grad.cpu(), alone.weight_hh_l0.grad, rtol=0.01, atol=0.001
    ):
        return "the gradient differs from that on the CPU"


def popular_fix(device):
    return backward_after(device, torch.nn.LSTM.eval, before_backward=torch.nn.LSTM.train)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, right, popular_fix):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
