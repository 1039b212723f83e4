# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "binary_cross_entropy raises for outputs that went through no sigmoid"
# kind = "error"
# symptom = "all elements of input should be between 0 and 1"
# messages = [
#     "all elements of (?:input|target) should be between 0 and 1",
#     "Assertion .input(?:_val)? ?>= ?(?:0\\.?|zero|scalar_t\\(0\\))? ?&& ?input(?:_val)? ?<= ?(?:1\\.?|one|scalar_t\\(1\\))",
#     "target_val >= zero.{0,6}? && .{0,6}?target_val <= one",
# ]
# keywords = [
#     "BCELoss without sigmoid",
#     "BCELoss on logits",
#     "input outside of [0, 1]",
#     "BCELoss device-side assert",
#     "NaN output in BCELoss",
#     "binary loss needs values between zero and one",
#     "forgot the sigmoid at the end of my network",
#     "discriminator output outside zero to one",
#     "network without final activation and BCE fails",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/ray-project/ray/issues/17117",
#     "https://github.com/pytorch/pytorch/issues/5560",
# ]
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.nn.BCELoss.html"]
# wrong = '''
# layer = torch.nn.Linear(3, 1, bias=False).to(device)
# output, target = layer(torch.ones(2, 3, device=device)), torch.ones(2, 1, device=device)
# loss = binary_cross_entropy(output, target)
# '''
# right = '''
# layer = torch.nn.Linear(3, 1, bias=False).to(device)
# output, target = layer(torch.ones(2, 3, device=device)), torch.ones(2, 1, device=device)
# loss = binary_cross_entropy_with_logits(output, target)
# '''
# rule = "error"
# affected = { cpu = ">=1.13" }
# ///
"""The output of a linear layer is any number, and this loss takes probabilities (docs:
torch.nn.BCELoss); a tutorial's linear model fails so (ray-project/ray#17117). On a GPU it is
a failed assertion about the input (pytorch#5560). NaN is not between 0 and 1 either.
"""

import torch
from torch.nn.functional import binary_cross_entropy, binary_cross_entropy_with_logits


def train(device, loss_of, value=2.0):
    layer = torch.nn.Linear(3, 1, bias=False).to(device)
    torch.nn.init.constant_(layer.weight, value)
    output, target = layer(torch.ones(2, 3, device=device)), torch.ones(2, 1, device=device)
    try:
        loss_of(output, target)
    except RuntimeError as error:
        return str(error)


def reproduce(device):
    return train(device, binary_cross_entropy) and train(
        device, binary_cross_entropy, value=float("nan")
    )


def control(device):
    return train(device, binary_cross_entropy_with_logits)


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
