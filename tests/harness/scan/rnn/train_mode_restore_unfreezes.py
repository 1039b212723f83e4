import torch


def tune(model, loader):
    model.backbone.eval()
    for x in loader:
        model.train()  # finds train_mode_restore_unfreezes
        model(x).sum().backward()


def first(model, loader):
    model[0].eval()
    for x in loader:
        model.eval()
        model(x)
        model.train()  # finds train_mode_restore_unfreezes


def kept(model, loader):
    for x in loader:
        model.train()
        model.backbone.eval()
        model(x).sum().backward()


def twice(model, loader):
    model.backbone.eval()
    for x in loader:
        model.train()
        model.backbone.eval()


def restored(model, loader):
    model.encoder.eval()
    print(model.encoder(loader))
    model.train()


def other(model, teacher, loader):
    teacher.backbone.eval()
    for x in loader:
        model.train()
