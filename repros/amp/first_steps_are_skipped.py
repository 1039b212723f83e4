# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "GradScaler finds infinite gradients and skips the first steps, until its scale fits"
# kind = "silent"
# symptom = "steps were skipped, then all were taken"
# elsewhere = [
#     "Gradient overflow\\. Skipping step, loss scaler \\d{1,4} reducing loss scale to",
#     "OVERFLOW! Rank \\d{1,5} Skipping step\\.? Attempted loss scale",
#     "The grad norm is (?:nan|inf)\\. Skipping updating the model",
# ]
# keywords = [
#     "grad norm is nan or inf in the first iterations with amp",
#     "gradient overflow at the start of training",
#     "is it normal that amp skips steps",
#     "weights do not change in the first steps with GradScaler",
#     "loss scale is halved at the beginning",
#     "grad norm inf at the very start of fp16 training",
#     "weights unchanged after the first iteration with amp",
#     "scheduler warns about order in mixed precision at start",
#     "first few updates do nothing when using fp16",
#     "is it bad that the scaler drops the first iterations",
#     "logged gradient norm nan in the beginning then fine",
#     "optimizer step count lower than iterations with amp",
#     "loss identical in the first two or three steps",
#     "scale falls from 65536 in the beginning of training",
#     "should I worry about overflow messages at step 1",
#     "unit test fails because amp step changes nothing",
# ]
# origin = "design"
# reports = [
#     "https://github.com/facebookresearch/swav/issues/47",
#     "https://github.com/kenziyuliu/MS-G3D/issues/9",
#     "https://github.com/MathLee/LASNet/issues/3",
#     "https://github.com/zai-org/CogVideo/issues/233",
# ]
# documents = [
#     "https://github.com/NVIDIA/apex/issues/318",
#     "https://docs.pytorch.org/docs/stable/amp.html#gradient-scaling",
# ]
# wrong = '''
# scaler = torch.amp.GradScaler(device)
# '''
# right = '''
# scaler = torch.amp.GradScaler(device, init_scale=1024.0)
# '''
# requires = ">=2.3"
# affected = { cpu = ">=2.3", cuda = ">=2.3", mps = ">=2.8" }
# ///
"""The loss is finite and the gradients of the first steps are not, so the weights stay where
they are. The scaler starts at 65536, above the largest float16, and halves its scale with
every overflow until the gradients fit (docs: torch.amp): a few skips in the first
iterations are expected (NVIDIA/apex#318, facebookresearch/swav#47), skips that never end are
not.
"""

import torch


def train(device, scaler):
    weight = torch.ones(1, device=device, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.125)
    taken = []
    for _ in range(10):
        optimizer.zero_grad()
        loss = weight.half().float().sum() * 8  # its gradient passes through float16
        scaler.scale(loss).backward()
        before = weight.item()
        scaler.step(optimizer)
        scaler.update()
        taken.append(weight.item() != before)
    first = taken.index(True)
    if first and all(taken[first:]):
        return f"{first} steps were skipped, then all were taken"
    if weight.item() != -9:
        return f"the weight is {weight.item()} after ten steps of 1"


def reproduce(device):
    scaler = torch.amp.GradScaler(device)
    return train(device, scaler)


def control(device):
    scaler = torch.amp.GradScaler(device, init_scale=1024.0)
    return train(device, scaler)


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
