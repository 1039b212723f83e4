from torchvision import models

backbone = models.resnet18(pretrained=True)
backbone.requires_grad_(False)


def fit(model):
    model.train()
    model.backbone.eval()
