# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A predict() between two training steps leaves the model in eval mode"
# kind = "silent"
# symptom = "dropout is off"
# messages = ["cudnn RNN backward can only be called in training mode"]
# keywords = [
#     "overfits after the first validation",
#     "accuracy drops after predict",
#     "dropout has no effect",
#     "starts overfitting right after the first evaluation",
#     "train loss drops suddenly after epoch one",
#     "regularization seems switched off after the first epoch",
#     "forgot to switch back to training mode",
#     "batch norm stats stop updating after the first validation",
#     "training differs depending on whether I evaluate in between",
#     "gap between train and val grows after the first check",
#     "model.training is False in the second epoch",
#     "sampling text during training changes the learning curve",
#     "running a test prediction mid-epoch changes training",
#     "generalization got worse since I added a validation step",
#     "dropout does nothing from epoch two on",
# ]
# origin = "usage"
# reports = ["https://github.com/wiseodd/controlled-text-generation/issues/24"]
# documents = ["https://github.com/Shawn1993/cnn-text-classification-pytorch/pull/30"]
# wrong = '''
# rnn.eval()  # in predict(), and nobody calls train() again
# '''
# right = '''
# rnn.eval()
# rnn.train()
# '''
# fix = "rnn.no_grad_eval"
# rule = "warning"
# when = "the model has dropout or batch normalization"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""predict() calls eval(), nobody calls train() again, and the next training step runs without
dropout.

On CUDA the backward of an RNN then raises "cudnn RNN backward can only be called in
training mode" (wiseodd/controlled-text-generation#24).
"""

import torch


def step_after_predict(device, after_predict):
    # no LSTM: on MPS before torch 2.13 its mask was the same in every forward (pytorch#185351)
    rnn = torch.nn.RNN(3, 8, num_layers=2, dropout=0.5).to(device)
    rnn.eval()  # predict()
    after_predict(rnn)
    x = torch.ones(5, 2, 3, device=device)
    once, again = rnn(x)[0], rnn(x)[0]
    if torch.allclose(once, again, atol=1e-3):
        return "dropout is off: two training forwards of one batch are equal"


def reproduce(device):
    return step_after_predict(device, lambda rnn: None)


def control(device):
    return step_after_predict(device, lambda rnn: rnn.train())


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
