# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A model wrapped in DataParallel hides the attributes and methods of its class"
# kind = "error"
# symptom = "'DataParallel' object has no attribute 'head'"
# messages = ["'DataParallel' object has no attribute '(?!_)"]
# elsewhere = ["'DistributedDataParallel' object has no attribute '(?!_)"]
# origin = "design"
# reports = [
#     "https://github.com/jytime/Mask_RCNN_Pytorch/issues/2",
#     "https://github.com/ultralytics/yolov5/issues/90",
#     "https://github.com/huggingface/diffusers/issues/2044",
#     "https://github.com/VinAIResearch/XPhoneBERT/issues/7",
# ]
# documents = ["https://github.com/rdcolema/pytorch-image-classification/issues/2"]
# wrong = '''
# model = torch.nn.DataParallel(model)
# optimizer = torch.optim.SGD(model.head.parameters(), lr=0.1)
# '''
# right = '''
# from torch.nn.parallel import DataParallel, DistributedDataParallel
#
# model = torch.nn.DataParallel(model)
# net = model.module if isinstance(model, (DataParallel, DistributedDataParallel)) else model
# optimizer = torch.optim.SGD(net.head.parameters(), lr=0.1)
# '''
# rule = "note"
# when = "the program reaches the line that wraps the model"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The code works on one GPU, where the model is not wrapped.

The wrapper is a separate module that holds the model in its attribute `module`
(torch/nn/parallel/data_parallel.py). A Module finds only its own parameters, buffers and layers
(torch/nn/modules/module.py), so .head, .dtype or .encode() of the wrapped class must be reached
through model.module (jytime/Mask_RCNN_Pytorch#2). The line with isinstance() works with and without
the wrapper, whereas model.module fails for a model that is not wrapped. Assign `net` before you
call torch.compile(), which returns an object of another class. An assignment, such as model.scale =
2, raises no error, and sets the attribute only on the wrapper: write net.scale = 2. Reading a name
that the wrapper itself has, such as .dim or .device of DistributedDataParallel, raises no error
either, and returns the wrapper's value.

Use net for attributes, and call model(x) to train. If you call net(x), or a method of net that runs
the forward pass, only one GPU is used. Under DistributedDataParallel, the ranks then no longer
average gradients.
"""

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)


def reproduce(device):
    model = Net().to(device)
    model = torch.nn.DataParallel(model)
    try:
        torch.optim.SGD(model.head.parameters(), lr=0.1)
    except AttributeError as error:
        return str(error)


def control(device):
    from torch.nn.parallel import DataParallel, DistributedDataParallel

    model = original = Net().to(device)
    model = torch.nn.DataParallel(model)
    net = model.module if isinstance(model, (DataParallel, DistributedDataParallel)) else model
    optimizer = torch.optim.SGD(net.head.parameters(), lr=0.1)
    (group,) = optimizer.param_groups
    if [id(p) for p in group["params"]] != [id(p) for p in original.head.parameters()]:
        return "the optimizer does not train the head"


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
