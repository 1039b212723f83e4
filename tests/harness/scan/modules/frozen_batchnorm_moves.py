import torchvision
from torch import nn
from torchvision import models


class Encoder(nn.Module):
    def __init__(self, size):
        super().__init__()
        resnet = models.resnet50(pretrained=True)
        for param in resnet.parameters():
            param.requires_grad_(False)  # finds frozen_batchnorm_moves
        modules = list(resnet.children())[:-1]
        self.resnet = nn.Sequential(*modules)
        self.embed = nn.Linear(resnet.fc.in_features, size)


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.vgg = torchvision.models.vgg16(weights="DEFAULT")
        self.vgg.requires_grad_(False)
        self.head = nn.Linear(2, 2)
        self.head.requires_grad_(False)


def transfer():
    model = models.densenet121(pretrained=True)
    model.requires_grad_(False)  # finds frozen_batchnorm_moves
    model.classifier = nn.Linear(1024, 2)
    return model


def freezes_by_name(model):
    model = models.resnet18()
    for name, param in model.named_parameters():
        if "fc" not in name:
            param.requires_grad = False  # finds frozen_batchnorm_moves
    for param in model.layer1.parameters():
        param.requires_grad = False  # finds frozen_batchnorm_moves
    for param in model.conv1.parameters():
        param.requires_grad = False


class Features(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))
        self.head = nn.Linear(2, 2)


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU())


class Both(nn.Module):
    def __init__(self):
        super().__init__()
        made = Features()
        self.features = made.layers
        self.plain = Plain()
        for param in self.features.parameters():
            param.requires_grad = False  # finds frozen_batchnorm_moves
        for param in self.plain.parameters():
            param.requires_grad = False


def fit(model, loader):
    model.train()
