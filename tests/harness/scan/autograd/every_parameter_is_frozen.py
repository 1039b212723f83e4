import torch
from torch import nn
from torchvision import models


def fine_tunes():
    model = models.resnet18(weights="DEFAULT")
    model.fc = nn.Linear(512, 3)
    for p in model.parameters():  # finds every_parameter_is_frozen
        p.requires_grad = False
    return model, torch.optim.Adam(model.parameters(), lr=1e-4)


def fine_tunes_a_network(net):
    for p in net.parameters():  # finds every_parameter_is_frozen
        p.requires_grad = False
    return torch.optim.SGD(net.parameters(), lr=0.1)


def trains_the_new_head():
    net = models.resnet18(weights="DEFAULT")
    for p in net.parameters():
        p.requires_grad = False
    net.fc = nn.Linear(512, 3)
    return net, torch.optim.Adam(net.parameters(), lr=1e-4)


def freezes_if_asked(args):
    resnet = models.resnet18(weights="DEFAULT")
    if args.freeze:
        for p in resnet.parameters():
            p.requires_grad = False
    return resnet, torch.optim.Adam(resnet.parameters(), lr=1e-4)


def freezes_the_teacher(student):
    teacher = models.resnet18(weights="DEFAULT")
    for p in teacher.parameters():
        p.requires_grad = False
    return teacher, torch.optim.Adam(student.parameters(), lr=1e-4)


def freezes_the_body(full):
    for p in full.body.parameters():
        p.requires_grad = False
    return torch.optim.Adam(full.parameters(), lr=1e-4)
