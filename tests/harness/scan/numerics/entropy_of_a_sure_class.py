import torch
import torch.nn.functional as F


def entropy(logits):
    p = F.softmax(logits, dim=-1)
    return -(p * torch.log(p)).sum(-1)  # finds entropy_of_a_sure_class


def entropy_by_method(logits):
    p = logits.softmax(-1)
    return (-p.log() * p).sum(-1)  # finds entropy_of_a_sure_class


def entropy_with_epsilon(logits):
    p = F.softmax(logits, dim=-1)
    return -(p * torch.log(p + 1e-8)).sum(-1)


def entropy_from_logs(logits):
    logp = F.log_softmax(logits, dim=-1)
    return -(logp.exp() * logp).sum(-1)


def entropy_of_clamped(logits):
    p = F.softmax(logits, dim=-1).clamp_min(1e-8)
    return -(p * p.log()).sum(-1)
