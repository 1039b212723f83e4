# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Linear layers that first run under no_grad in an autocast block silently get no gradient"
# kind = "silent"
# symptom = "of 4 parameters have no gradient"
# origin = "torch"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/112583",
#     "https://github.com/pytorch/pytorch/issues/105211",
#     "https://github.com/pytorch/pytorch/issues/142234",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/165068",
#     "https://docs.pytorch.org/docs/stable/amp.html#op-eligibility",
# ]
# fixed_by = "pytorch#165068"
# wrong = '''
# with torch.autocast(device, torch.bfloat16):
#     with torch.no_grad():
#         hint = encoder(x)
#     loss = criterion(head(encoder(x) + hint), y)
# '''
# right = '''
# with torch.autocast(device, torch.bfloat16, cache_enabled=False):
#     with torch.no_grad():
#         hint = encoder(x)
#     loss = criterion(head(encoder(x) + hint), y)
# '''
# fix = "amp.choose_precision"
# use = '''
# from amp import choose_precision
# with choose_precision(device, torch.bfloat16).autocast():
#     with torch.no_grad():
#         hint = encoder(x)
#     loss = criterion(head(encoder(x) + hint), y)
# '''
# choice = "Normally, use the lines without the fix. If memory is short, use a separate autocast block for the no_grad pass instead. Use the fix if the program runs on several releases of torch, because the fix keeps the cache enabled on 2.11 and newer"
# affected = { cpu = "<2.11", cuda = "<2.11" }
# ///
"""Some layers get no gradient, but backward() raises no error because the other layers do get
gradients.

autocast keeps each weight's low-precision copy until the block ends, regardless of the gradient
mode in which the copy was made. A copy made under no_grad has no graph, and a later forward pass in
the same block reuses that copy (aten/src/ATen/autocast_mode.cpp, pytorch#165068). In a network with
norms or embeddings, backward() is silent even if every layer ran in the no_grad pass, because
autocast does not cast their weights (docs: torch.amp). In this case, only the norms and embeddings
train. If the loss depends on no tensor that requires a gradient, backward() raises an error (see
amp/autocast_cache_under_no_grad).

Without the cache, the graph keeps one copy of a weight for each use. If a layer is called in a
loop, the graph keeps many copies. A separate autocast block for the no_grad pass keeps the cache,
unless another autocast block encloses both. A forward() decorated with @torch.autocast turns the
cache on again inside the block (torch/amp/autocast_mode.py), so pass cache_enabled=False to the
decorator too.
"""

import torch


def start(device):
    encoder, head = torch.nn.Linear(4, 4).to(device), torch.nn.Linear(4, 1).to(device)
    x, y = torch.ones(2, 4, device=device), torch.zeros(2, 1, device=device)
    return encoder, head, x, y, lambda output, y: (output.float() - y).sum()


def check(encoder, head, loss):
    loss.backward()
    named = [*encoder.named_parameters("encoder"), *head.named_parameters("head")]
    lost = [name for name, parameter in named if parameter.grad is None]
    if lost:
        return f"{len(lost)} of 4 parameters have no gradient: {', '.join(lost)}"
    expected = 2 * head.weight.detach().T.expand(4, 4)
    if (encoder.weight.grad - expected).abs().max() > 0.05:
        return "the gradient is off"


def reproduce(device):
    encoder, head, x, y, criterion = start(device)
    with torch.autocast(device, torch.bfloat16):
        with torch.no_grad():
            hint = encoder(x)
        loss = criterion(head(encoder(x) + hint), y)
    return check(encoder, head, loss)


def control(device):
    encoder, head, x, y, criterion = start(device)
    with torch.autocast(device, torch.bfloat16, cache_enabled=False):
        with torch.no_grad():
            hint = encoder(x)
        loss = criterion(head(encoder(x) + hint), y)
    return check(encoder, head, loss)


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
