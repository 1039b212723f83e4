# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Filtering NaN predictions out of the loss leaves NaN in the weight's gradient"
# kind = "silent"
# symptom = "loss 1 is finite, the weight's gradient is nan"
# keywords = [
#     "gradient is nan but the loss is not",
#     "loss is a number but weights become nan",
#     "ignoring nan rows in the loss still breaks the model",
#     "masked out nan targets and model still turns nan",
#     "nan_to_num on predictions does not prevent nan weights",
#     "missing values in tabular data make the gradients nan",
#     "loss finite, after the step everything is nan",
#     "dropping bad samples from the loss does not help",
#     "grad norm nan although the loss looks normal",
#     "depth map with invalid pixels ruins training",
#     "time series with gaps gives nan weights",
#     "torch.where to skip nan samples does not work",
# ]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/23156",
#     "https://github.com/pytorch/pytorch/issues/94700",
# ]
# documents = ["https://github.com/IVRL/VolRecon/issues/18"]
# wrong = '''
# output = x @ weight  # a row of x holds a NaN
# loss = output[output.isfinite()].mean()
# loss.backward()
# '''
# right = '''
# x = x[x.isfinite().all(dim=1)]
# loss = (x @ weight).mean()
# '''
# fix = "loss.masked_mean"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The loss is finite, the gradient is not: the selection stops the NaN in the forward
only. Backward multiplies the zero gradient of the dropped rows by their NaN inputs
(pytorch#23156).

nan_to_num(), which people are advised to try (IVRL/VolRecon#18), does the same, and is
expected to (pytorch#94700). Filter the rows before the model, not after it.
"""

import torch

X = torch.tensor([[1.0, 1.0], [float("nan"), 1.0]])


def train(device, x, repair):
    weight = torch.tensor([0.5, 0.5], device=device, requires_grad=True)
    loss = repair(x.to(device) @ weight).mean()
    loss.backward()
    if loss.isfinite() and not weight.grad.isfinite().all():
        return f"loss {loss.item():g} is finite, the weight's gradient is {weight.grad[0].item()}"


def reproduce(device):
    return train(device, X, lambda output: output[output.isfinite()])


def control(device):
    return train(device, X[X.isfinite().all(dim=1)], lambda output: output[output.isfinite()])


def popular_fix(device):
    return train(device, X, torch.nan_to_num)


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
