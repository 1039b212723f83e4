# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A backbone with requires_grad_(False) still changes because BatchNorm updates its statistics"
# kind = "silent"
# symptom = "running_mean of the frozen backbone moved"
# origin = "design"
# reports = [
#     "https://github.com/lightly-ai/lightly/issues/1438",
#     "https://github.com/pytorch/pytorch/issues/86590",
#     "https://github.com/pgniewko/gt-pyg/issues/112",
# ]
# documents = [
#     "https://github.com/HelloRicky123/Siamese-RPN/issues/6",
#     "https://github.com/idstcv/SoftTriple/issues/4",
# ]
# wrong = '''
# backbone.requires_grad_(False)
# model.train()
# '''
# right = '''
# backbone.requires_grad_(False)
# model.train()
# backbone.eval()  # after every train()
# '''
# fix = "modules.freeze"
# use = '''
# from modules import freeze
# freeze(backbone)
# model.train()
# '''
# choice = "Use the lines without the fix in your own training loop; use the fix if a library's trainer calls train()"
# rule = "note"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The optimizer holds no backbone parameters, but the backbone's output drifts.

The running statistics are buffers, which a forward pass in train mode updates (docs:
torch.nn.BatchNorm2d), and calling train() on the model puts the backbone back into train mode.
Setting track_running_stats = False, as advised in HelloRicky123/Siamese-RPN#6, keeps the
statistics, but the layer no longer uses them: in train mode, the features depend on the batch. With
momentum = 0, the features depend on the batch too. Calling eval() alone lets the weight and bias
learn (idstcv/SoftTriple#4), and turns off the backbone's dropout (docs: torch.nn.Dropout).

If you freeze the backbone after some steps, the optimizer still holds its weights. After
zero_grad() in torch 1.13, their gradients are zero instead of None, so momentum and weight decay
still move the weights. Set the gradients to None, as the fix does. Freeze the backbone before you
wrap the model in DistributedDataParallel. If parameters are frozen later, the wrapper waits for
their gradients, and the second forward pass raises an error.
"""

import torch


def start(device):
    backbone, head = torch.nn.BatchNorm1d(1).to(device), torch.nn.Linear(1, 1).to(device)
    batch = torch.tensor([[8.0], [9.0]], device=device)
    return backbone, torch.nn.Sequential(backbone, head), batch


def check(backbone, model, batch):
    model(batch).sum().backward()
    if backbone.running_mean.any():
        return "running_mean of the frozen backbone moved"
    if not torch.allclose(backbone(batch), batch, rtol=1e-3):  # fresh statistics: 0 and 1
        return "the frozen backbone normalizes by the batch"
    if backbone.weight.grad is not None or model[1].weight.grad is None or not model[1].training:
        return "the backbone still learns, or the head does not"


def reproduce(device):
    backbone, model, batch = start(device)
    backbone.requires_grad_(False)
    model.train()
    return check(backbone, model, batch)


def control(device):
    backbone, model, batch = start(device)
    backbone.requires_grad_(False)
    model.train()
    backbone.eval()  # after every train()
    return check(backbone, model, batch)


def popular_fix(device):
    seen = []
    for name, value in (("track_running_stats", False), ("momentum", 0.0)):
        backbone, model, batch = start(device)
        backbone.requires_grad_(False)
        setattr(backbone, name, value)
        model.train()
        seen.append(check(backbone, model, batch))
    return "; ".join(seen) if all(seen) else None


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
