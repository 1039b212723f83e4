# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "F.dropout() without training= stays on after model.eval()"
# kind = "silent"
# symptom = "two predictions for one input differ"
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/26338",
#     "https://github.com/Coderx7/SimpleNet/issues/2",
#     "https://github.com/yangze0930/NTS-Net/issues/14",
#     "https://github.com/ewrfcas/face_attribute_classification_pytorch/issues/1",
# ]
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.dropout.html"]
# wrong = '''
# def forward(self, x):
#     return dropout(self.body(x))
# '''
# right = '''
# def forward(self, x):
#     return dropout(self.body(x), training=self.training)
# '''
# rule = "warning"
# when = "p is above 0, and the model is used in eval mode"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The model is in eval mode, but every call gives a different prediction.

A function does not know the mode of the module that calls it, and the training argument of
torch.nn.functional.dropout is True by default (docs: torch.nn.functional.dropout). Calling
nn.Dropout()(x) inside forward() has the same effect, because it creates a new layer in train mode
(yangze0930/NTS-Net#14). Since scaled_dot_product_attention() has no training argument, set its
dropout_p to 0 in eval mode. The call dropout(x, self.training) passes the mode as p, so it returns
zeros in train mode.
"""

import torch
from torch.nn.functional import dropout


class Always(torch.nn.Module):
    body = torch.nn.Identity()

    def forward(self, x):
        return dropout(self.body(x))


class Trained(torch.nn.Module):
    body = torch.nn.Identity()

    def forward(self, x):
        return dropout(self.body(x), training=self.training)


def predict(device, module):
    model = module().to(device).eval()
    x = torch.ones(256, device=device)
    if not torch.equal(model(x), model(x)):
        return "two predictions for one input differ"
    if not torch.equal(model(x), x) or torch.equal(model.train()(x), x):
        return "eval mode drops, or train mode does not"


def reproduce(device):
    return predict(device, Always)


def control(device):
    return predict(device, Trained)


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
