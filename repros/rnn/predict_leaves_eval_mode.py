# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A predict() between two training steps leaves the model in eval mode"
# kind = "silent"
# symptom = "dropout is off|cudnn RNN backward can only be called in training mode"
# messages = ["cudnn RNN backward can only be called in training mode"]
# keywords = ["overfits after the first validation", "accuracy drops after predict", "dropout has no effect"]
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/37965", "https://github.com/meta-pytorch/captum/issues/564"]
# wrong = '''
# TODO
# '''
# fix = "rnn.predict"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""predict() calls model.eval() and nobody calls model.train() again: the next training
step runs without dropout.

On CUDA the step of an RNN raises "cudnn RNN backward can only be called in training
mode", which sends people after the saliency code. Exchanging no_grad for inference_mode
in predict() changes nothing about it.
"""

import torch


def step_after_predict(device, restore, context=torch.no_grad):
    lstm = torch.nn.LSTM(3, 8, num_layers=2, dropout=0.5).to(device).train()
    x = torch.ones(5, 2, 3, device=device)
    lstm.eval()
    with context():
        lstm(x)  # predict()
    lstm.train(restore)
    once, again = lstm(x)[0], lstm(x)[0]
    try:
        once.sum().backward()
    except RuntimeError as error:
        return str(error)
    if torch.equal(once, again):
        return "dropout is off: two training forwards of one batch are equal"


def reproduce(device):
    return step_after_predict(device, restore=False)


def control(device):
    return step_after_predict(device, restore=True)


def popular_fix(device):
    return step_after_predict(device, restore=False, context=torch.inference_mode)


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
