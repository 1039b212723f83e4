import torch
from torch.optim.lr_scheduler import CosineAnnealingLR


def resumes(model, path, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if path:
        optimizer.load_state_dict(path.read())
    scheduler = CosineAnnealingLR(optimizer, T_max=epochs)  # finds second_cosine_stays_at_zero
    for epoch in range(epochs):
        model.train_one(optimizer)
        scheduler.step()


def resumes_in_line(model, state, n):
    opt = torch.optim.AdamW(model.parameters(), lr=0.1)
    opt.load_state_dict(state)
    return torch.optim.lr_scheduler.CosineAnnealingLR(opt, n)  # finds second_cosine_stays_at_zero


def sets_the_rate(model, state, epochs):
    opt = torch.optim.AdamW(model.parameters(), lr=0.1)
    opt.load_state_dict(state)
    for group in opt.param_groups:
        group["lr"] = 0.1
    return CosineAnnealingLR(opt, epochs)


def counts_on(model, state, epochs, epoch):
    opt = torch.optim.AdamW(model.parameters(), lr=0.1)
    opt.load_state_dict(state)
    return CosineAnnealingLR(opt, epochs, last_epoch=epoch)


def loads_later(model, state, epochs):
    opt = torch.optim.AdamW(model.parameters(), lr=0.1)
    schedule = CosineAnnealingLR(opt, epochs)
    opt.load_state_dict(state)
    return schedule
