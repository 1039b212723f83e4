import torch
from torch.optim.lr_scheduler import StepLR


def train(model, loader, epoch, saved):
    adam = torch.optim.Adam(model.parameters())
    if saved:
        first = saved["epoch"]
        model.load_state_dict(saved["model"])
        adam.load_state_dict(saved["adam"])  # finds resume_without_scheduler_state
    else:
        first = 0
    schedule = StepLR(adam, 3)
    for current_epoch in range(first, epoch):
        for x in loader:
            model(x).backward()
            adam.step()
            adam.zero_grad()
        schedule.step()
