# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "BatchNorm with TensorFlow's momentum remembers little more than the last batch"
# kind = "silent"
# symptom = "eval output is \\d{2,3} where training saw 1"
# origin = "design"
# reports = [
#     "https://github.com/pytorch/vision/issues/8250",
#     "https://github.com/kazuto1011/deeplab-pytorch/issues/79",
#     "https://github.com/r9y9/tacotron_pytorch/issues/19",
#     "https://github.com/Cadene/pretrained-models.pytorch/issues/44",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.BatchNorm1d.html",
#     "https://github.com/pytorch/examples/issues/289",
# ]
# wrong = '''
# norm = BatchNorm1d(1, momentum=0.9)
# '''
# right = '''
# norm = BatchNorm1d(1, momentum=1 - 0.9)
# '''
# rule = "warning"
# when = "the model is used in eval mode"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""One unusual batch at the end of an epoch ruins the output in eval mode. In this reproducer 100
batches agree, and the last batch differs.

In PyTorch, momentum is the weight of the new batch. In TensorFlow, it is the weight of the old
statistics (docs: torch.nn.BatchNorm1d, pytorch/examples#289). BatchNorm2d, BatchNorm3d and
InstanceNorm with running statistics are affected too. With a momentum of 1 - 0.99, a third of the
initial statistics is left after 100 batches. With 1 - 0.997, three quarters are left. If a model is
only loaded and evaluated, it does not use momentum, so compare eps instead.
"""

import torch
from torch.nn import BatchNorm1d


def train_and_predict(device, norm):
    norm.to(device)
    x = torch.tensor([[9.0], [11.0]], device=device)
    for batch in [x] * 100 + [-x]:
        norm(batch)
    if not torch.allclose(norm.running_mean, 0.1 * batch.mean() + 0.9 * x.mean(), atol=0.1):
        worst = float(norm.eval()(x).detach().abs().max())
        return f"eval output is {worst:.0f} where training saw 1"


def reproduce(device):
    norm = BatchNorm1d(1, momentum=0.9)
    return train_and_predict(device, norm)


def control(device):
    norm = BatchNorm1d(1, momentum=1 - 0.9)
    return train_and_predict(device, norm)


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
