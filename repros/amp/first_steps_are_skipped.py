# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "GradScaler skips the first steps if float16 gradients overflow at its initial scale, 65536"
# kind = "silent"
# symptom = "steps were skipped, then all were taken"
# elsewhere = [
#     "Gradient overflow\\. Skipping step, loss scaler \\d{1,4} reducing loss scale to",
#     "OVERFLOW! Rank \\d{1,5} Skipping step\\.? Attempted loss scale",
#     "The grad norm is (?:nan|inf)\\. Skipping updating the model",
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
# for x, y in loader:
#     optimizer.zero_grad()
#     scaler.scale(criterion(model(x), y)).backward()
#     scaler.step(optimizer)
#     scaler.update()
#     steps += 1
# '''
# right = '''
# scaler = torch.amp.GradScaler(device)
# for x, y in loader:
#     optimizer.zero_grad()
#     scaler.scale(criterion(model(x), y)).backward()
#     scaler.step(optimizer)
#     scale = scaler.get_scale()
#     scaler.update()
#     steps += scaler.get_scale() >= scale  # a skip lowers it; a few at the start are expected
# '''
# fix = "amp.optimizer_step"
# use = '''
# from amp import optimizer_step
# scaler = torch.amp.GradScaler(device)
# for x, y in loader:
#     optimizer.zero_grad()
#     scaler.scale(criterion(model(x), y)).backward()
#     steps += optimizer_step(optimizer, scaler)
# '''
# choice = "Use the lines without the fix to count the completed steps, and keep the default init_scale; use the fix to also raise an error as soon as the scale cannot be the cause of the skips"
# requires = ">=2.3"
# affected = { cpu = ">=2.3", cuda = ">=2.3", mps = ">=2.8" }
# ///
"""The loss is finite, but the gradients of the first steps are not, so the weights do not change.
The scale starts at 65536, above the largest float16, and the scaler halves it at every overflow
until the gradients fit (docs: torch.amp). A few skipped steps in the first iterations are expected
(NVIDIA/apex#318, facebookresearch/swav#47), but the skips should not continue forever. Only code
that counts steps, such as a schedule, needs a change (see
schedulers/skipped_step_moves_the_schedule). With several optimizers, one may step while another
skips, so the corrected code counts the iterations in which all of them stepped.

A lower init_scale avoids these skips but loses small gradients that the higher scale preserves. For
example, at a scale of 1024, a gradient of 2e-11 becomes 0 in float16. The scale doubles only after
2000 steps without a skip.
"""

import torch


class Half(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return self.weight.half().float() * x  # its gradient passes through float16


def start(device):
    model, moved = Half().to(device), []
    x = torch.full((1,), 8.0, device=device)

    def loader():
        for _ in range(10):
            before = model.weight.item()
            yield x, None
            moved.append(model.weight.item() != before)

    optimizer = torch.optim.SGD(model.parameters(), lr=0.125)
    return model, optimizer, lambda output, _: output.sum(), loader(), moved


def check(model, steps, moved):
    first = moved.index(True)
    if steps != sum(moved) and all(moved[first:]):
        return f"{first} steps were skipped, then all were taken, and {steps} counted"
    if not first or steps != sum(moved) or model.weight.item() != -steps:
        return f"{steps} steps of 1 were counted, {moved} taken to {model.weight.item()}"


def reproduce(device):
    model, optimizer, criterion, loader, moved = start(device)
    steps = 0
    scaler = torch.amp.GradScaler(device)
    for x, y in loader:
        optimizer.zero_grad()
        scaler.scale(criterion(model(x), y)).backward()
        scaler.step(optimizer)
        scaler.update()
        steps += 1
    return check(model, steps, moved)


def control(device):
    model, optimizer, criterion, loader, moved = start(device)
    steps = 0
    scaler = torch.amp.GradScaler(device)
    for x, y in loader:
        optimizer.zero_grad()
        scaler.scale(criterion(model(x), y)).backward()
        scaler.step(optimizer)
        scale = scaler.get_scale()
        scaler.update()
        steps += scaler.get_scale() >= scale  # a skip lowers it; a few at the start are expected
    return check(model, steps, moved)


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
