# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A second loss without scaler.scale() trains 65536 times too slowly"
# kind = "silent"
# symptom = "step of the second loss is .* long instead of 1"
# keywords = [
#     "loss stays constant",
#     "training very slow",
#     "loss hardly decreases",
#     "tiny steps",
#     "one of my two losses has no effect with amp",
#     "discriminator learns, generator does not, in mixed precision",
#     "regularization loss too weak once amp is on",
#     "second optimizer barely trains with the GradScaler",
#     "works in fp32, the auxiliary loss does nothing in fp16",
#     "extra backward call outside the scaler has no influence",
#     "weights move by around 1e-7 per step",
#     "critic does not improve with mixed precision",
#     "learning rate seems thousands of times too small under amp",
#     "part of the model hardly trains since using GradScaler",
#     "density or geometry loss ignored in half precision",
# ]
# origin = "usage"
# reports = ["https://github.com/ashawkey/stable-dreamfusion/issues/158"]
# documents = ["https://docs.pytorch.org/docs/stable/notes/amp_examples.html#working-with-multiple-models-losses-and-optimizers"]
# wrong = '''
# scaler.scale(first).backward()
# second.backward()
# scaler.step(optimizer)
# '''
# right = '''
# scaler.scale(first).backward()
# scaler.scale(second).backward()
# scaler.step(optimizer)
# '''
# fix = "amp.optimizer_step"
# rule = "error"
# when = "AMP is on (float16)"
# requires = ">=2.3"
# affected = { cpu = ">=2.3", cuda = ">=2.3", mps = ">=2.8" }
# ///
"""What the second loss trains hardly moves. ashawkey/stable-dreamfusion#158 has such a
loss.

step() and unscale_() divide all gradients by the scale, also those of a loss that was
never multiplied by it. They raise only where scale() was not called at all:
amp/unscale_before_scale. Each loss needs a scale() of its own
(docs: Automatic Mixed Precision examples).
"""

import torch


def train(device, scale_both):
    scaler = torch.amp.GradScaler(device)
    weight = torch.zeros(2, device=device, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=1.0)
    first, second = weight[0], weight[1]
    scaler.scale(first).backward()
    if scale_both:
        scaler.scale(second).backward()
    else:
        second.backward()
    scaler.step(optimizer)
    if -0.9 < weight[1] < 0:
        return f"the step of the second loss is {-weight[1].item():.1g} long instead of 1"


def reproduce(device):
    return train(device, scale_both=False)


def control(device):
    return train(device, scale_both=True)


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
