import torch
import torch.nn as nn
from other import DataParallel


def wraps(model, x, args):
    model.encode(x)
    if torch.cuda.device_count() > 1:
        model = nn.DataParallel(model)
    model.to("cuda")
    head = model.head.parameters()  # finds attribute_of_a_wrapped_model
    print(model.module.head, model.device_ids, model._flat)
    net = model.module if isinstance(model, nn.DataParallel) else model
    if args.distributed:
        model.encode(x)
    encode = model.encode if not hasattr(model, "module") else model.module.encode
    return head, net, encode


class Trainer:
    def __init__(self, model, rank):
        self.model = nn.parallel.DistributedDataParallel(model, device_ids=[rank]).train()
        self.loss = self.model.loss(3)  # finds attribute_of_a_wrapped_model
        self.model.steps = 3
        print(self.model.steps)


def unwraps(model, x):
    model = nn.DataParallel(model).cuda()
    model(x)
    model = model.module
    return model.encode(x)


def wraps_differently(model, x):
    model = DataParallel(model)
    return model.encode(x)


def either(model, x, parallel):
    if parallel:
        model = nn.DataParallel(model)
    else:
        model.encode(x)
