# ruff: noqa
import torch
import torch.nn as nn
import torch.nn.functional as F


def attend(q, k, d):
    scores = torch.bmm(q, k.transpose(1, 2)) / d**0.5
    first = F.softmax(scores)  # finds softmax_without_dim
    second = nn.Softmax()(q.view(d, -1, 3))  # finds softmax_without_dim
    third = F.softmax(scores, dim=-1)
    fourth = F.log_softmax(q)
    fifth = F.softmax(q.view(d, -1))
    sixth = nn.Softmax(dim=1)(scores)
    return first, second, third, fourth, fifth, sixth
