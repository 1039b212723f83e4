# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A call to predict() between two training steps leaves the model in eval mode"
# kind = "silent"
# symptom = "dropout is off"
# elsewhere = ["cudnn RNN backward can only be called in training mode"]
# origin = "usage"
# reports = ["https://github.com/wiseodd/controlled-text-generation/issues/24"]
# documents = ["https://github.com/Shawn1993/cnn-text-classification-pytorch/pull/30"]
# wrong = '''
# model.eval()  # in predict(), and nobody calls train() again
# prediction = model(x)
# '''
# right = '''
# modes = [(module, module.training) for module in model.modules()]
# model.eval()
# prediction = model(x)
# for module, training in modes:
#     if module.training != training:
#         module.train(training)
# for module, training in modes:
#     module.training = training  # train() has also changed shared modules
# '''
# fix = "rnn.no_grad_eval"
# use = '''
# from rnn import no_grad_eval
# with no_grad_eval(model):
#     prediction = model(x)
# '''
# choice = "Use the fix in a function that accepts any model, because the fix also turns gradients off, and restores the modes after an exception; use the lines without the fix to avoid copying a file"
# rule = "warning"
# when = "the model has dropout or batch normalization"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""predict() calls eval(), no code calls train() again, and the next training step runs without
dropout.

On CUDA, an RNN's backward pass then raises "cudnn RNN backward can only be called in training mode"
(wiseodd/controlled-text-generation#24). If predict() simply ends with train(), a deployed model is
left in train mode, including any frozen BatchNorm.

A call to train() changes all submodules. A module with two parents can thus get the second parent's
mode, so the corrected lines then set every flag again. The calls to train() are still needed for
layers that merge weights in eval mode, as LoRA layers do.

The corrected lines restore modes, but not the state of random generators: the iterator of the
validation DataLoader draws a seed (torch/utils/data/dataloader.py). If training draws from the same
generator, for dropout or a shuffle, it still differs from training without validation.
"""

import copy

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(3)
        # no LSTM: on MPS before torch 2.13 its mask was the same in every forward (pytorch#185351)
        self.rnn = torch.nn.RNN(3, 8, num_layers=2, dropout=0.5)
        self.again = torch.nn.Sequential(self.norm)  # a second parent of the norm

    def forward(self, x):
        return self.rnn(self.again(x))[0]


def eval_alone(model, x):
    model.eval()  # in predict(), and nobody calls train() again
    prediction = model(x)
    return prediction


def and_back(model, x):
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    prediction = model(x)
    for module, training in modes:
        if module.training != training:
            module.train(training)
    for module, training in modes:
        module.training = training  # train() has also changed shared modules
    return prediction


def check(device, predict):
    model = Model().to(device)
    model.norm.eval()  # frozen
    x = torch.ones(5, 3, device=device)
    expected = copy.deepcopy(model).eval()(x)
    if not torch.allclose(predict(model, x), expected, atol=1e-5):
        return "the prediction is not that of a copy in eval mode"
    if torch.allclose(model(x), model(x), atol=1e-3):
        return "dropout is off: two training forwards of one batch are equal"
    if model.norm.training or model.norm.running_mean.any():
        return "the frozen BatchNorm is training again"
    predict(model.eval(), x)
    if any(module.training for module in model.modules()):
        return "a served model was left in train mode"


def reproduce(device):
    return check(device, eval_alone)


def control(device):
    return check(device, and_back)


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
