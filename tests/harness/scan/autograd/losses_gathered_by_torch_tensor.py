import torch
from torch.nn.functional import cross_entropy, mse_loss


def appended(model, batches, optimizer):
    losses = []
    for x, y in batches:
        losses.append(mse_loss(model(x), y))
    loss = torch.tensor(losses).mean()  # finds losses_gathered_by_torch_tensor
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def a_term_of_a_sum(model, x, y, aux_loss, balance_loss):
    task = cross_entropy(model(x), y)
    extra = torch.tensor([aux_loss, balance_loss]).sum()  # finds losses_gathered_by_torch_tensor
    total = task + 0.1 * task + extra * 0.01
    total.backward()


def stacked(model, batches):
    losses = [mse_loss(model(x), y) for x, y in batches]
    torch.stack(losses).mean().backward()


def numbers_to_report(model, batches):
    losses = []
    for x, y in batches:
        loss = mse_loss(model(x), y)
        loss.backward()
        losses.append(loss)
    return torch.tensor(losses).mean()


def numbers_that_weigh(model, x, y, losses):
    weights = torch.tensor(losses).softmax(0)
    (weights * mse_loss(model(x), y, reduction="none")).sum().backward()


def of_numbers(model, x, y, losses):
    losses.append(mse_loss(model(x), y).item())
    baseline = torch.tensor(losses).mean()
    (mse_loss(model(x), y) - baseline).backward()


def weights_of_losses(model, optimizer, x, config):
    cls_loss, box_loss = model(x)
    weights = torch.tensor([config.cls_loss_weight, config.box_loss_weight])
    total = (weights * torch.stack([cls_loss, box_loss])).sum()
    optimizer.zero_grad()
    total.backward()
