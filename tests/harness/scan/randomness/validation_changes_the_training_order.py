import torch
from torch.utils.data import DataLoader


def loads(train, validation, generator):
    train_loader = DataLoader(train, batch_size=8, shuffle=True)
    val_loader = DataLoader(validation, 8, True)  # finds validation_changes_the_training_order
    validloader = DataLoader(  # finds validation_changes_the_training_order
        validation, batch_size=8, shuffle=True
    )
    return train_loader, val_loader, validloader


def loads_in_order(train, validation, generator):
    val_loader = DataLoader(validation, batch_size=8, shuffle=False)
    dev_loader = DataLoader(validation, shuffle=True, generator=generator)
    test_loader = DataLoader(train, batch_size=8, shuffle=True)
    return val_loader, dev_loader, test_loader
