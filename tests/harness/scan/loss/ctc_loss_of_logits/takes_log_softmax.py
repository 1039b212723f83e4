import torch.nn.functional as F


def training_step(model, x, y, frames, lengths):
    logits = F.log_softmax(model(x), dim=-1)
    return loss_of(logits.transpose(0, 1), y, frames, lengths)


def loss_of(logits, y, frames, lengths):
    return F.ctc_loss(logits, y, frames, lengths)
