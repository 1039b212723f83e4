# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "backward() fails if the same Linear ran under no_grad earlier in the autocast block"
# kind = "error"
# symptom = "element 0 of tensors does not require grad"
# messages = ["element \\d{1,9} of tensors does not require grad and does not have a grad_fn"]
# origin = "torch"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/112583",
#     "https://github.com/pytorch/pytorch/issues/65766",
#     "https://github.com/pytorch/pytorch/issues/158232",
#     "https://discuss.pytorch.org/t/autocast-and-torch-no-grad-unexpected-behaviour/93475",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/165068",
#     "https://github.com/mazurowski-lab/finetune-SAM/issues/26",
# ]
# fixed_by = "pytorch#165068"
# wrong = '''
# with torch.autocast(device, torch.bfloat16):
#     with torch.no_grad():
#         target = model(x)
#     loss = criterion(model(x + 0.1), target)
# '''
# right = '''
# with torch.autocast(device, torch.bfloat16, cache_enabled=False):
#     with torch.no_grad():
#         target = model(x)
#     loss = criterion(model(x + 0.1), target)
# '''
# fix = "amp.choose_precision"
# use = '''
# from amp import choose_precision
# with choose_precision(device, torch.bfloat16).autocast():
#     with torch.no_grad():
#         target = model(x)
#     loss = criterion(model(x + 0.1), target)
# '''
# choice = "Normally, use the lines without the fix. If memory is short, use a separate autocast block for the no_grad pass instead. Use the fix if the program runs on several releases of torch, because the fix keeps the cache enabled on 2.11 and newer"
# affected = { cpu = "<2.11", cuda = "<2.11" }
# ///
"""backward() raises an error, although the loss's forward pass ran with gradients enabled.

autocast keeps each weight's low-precision copy until the block ends, regardless of the gradient
mode in which the copy was made. A forward pass under no_grad fills this cache with copies that have
no graph, and the training forward pass in the same block uses those copies
(aten/src/ATen/autocast_mode.cpp, pytorch#165068). In a model with a norm or an embedding,
backward() raises no error, and only the norms and embeddings train (see
amp/autocast_cache_partial_gradients).

Calling loss.requires_grad_(), as advised in mazurowski-lab/finetune-SAM#26, silences the error, but
the model does not train.

Without the cache, the graph keeps one copy of a weight for each use. If a layer is called in a
loop, the graph keeps many copies. A separate autocast block for the no_grad pass keeps the cache,
unless another autocast block encloses both. A forward() decorated with @torch.autocast turns the
cache on again inside the block (torch/amp/autocast_mode.py), so pass cache_enabled=False to the
decorator too.
"""

import torch


def start(device):
    model, x = torch.nn.Linear(4, 1).to(device), torch.ones(2, 4, device=device)
    return model, x, lambda output, target: (output.float() - target.float()).sum()


def reproduce(device):
    model, x, criterion = start(device)
    with torch.autocast(device, torch.bfloat16):
        with torch.no_grad():
            target = model(x)
        loss = criterion(model(x + 0.1), target)
    try:
        loss.backward()
    except RuntimeError as error:
        return str(error)


def control(device):
    model, x, criterion = start(device)
    with torch.autocast(device, torch.bfloat16, cache_enabled=False):
        with torch.no_grad():
            target = model(x)
        loss = criterion(model(x + 0.1), target)
    loss.backward()
    if (model.weight.grad - 2.2).abs().max() > 0.05:  # the sum of both rows of x + 0.1
        return f"the gradient is {model.weight.grad.tolist()} instead of 2.2"


def popular_fix(device):
    model, x, criterion = start(device)
    with torch.autocast(device, torch.bfloat16):
        with torch.no_grad():
            target = model(x)
        loss = criterion(model(x + 0.1), target)
    loss.requires_grad_().backward()
    if model.weight.grad is None:
        return "backward() is quiet now, and no parameter has a gradient"


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
