import torch
import torch.nn.functional as F


def log_of_softmax(logits, labels):
    return -torch.log(F.softmax(logits, dim=-1))[labels].mean()  # finds log_of_a_softmax


def log_of_a_picked_probability(logits, labels):
    probabilities = logits.softmax(-1)
    picked = probabilities.gather(1, labels)
    return -picked.log().mean()  # finds log_of_a_softmax


def log_with_epsilon(logits, labels):
    probabilities = logits.softmax(-1) + 1e-8
    return -probabilities.log()[labels].mean()


def log_of_clamped(logits, labels):
    return -F.softmax(logits, dim=-1).clamp(min=1e-8).log()[labels].mean()


def log_of_clamped_in_place(logits, labels):
    picked = F.softmax(logits, dim=-1).gather(1, labels)
    picked.clamp_(min=1e-8)
    return -torch.log(picked).mean()


def reported(logits):
    return logits.softmax(-1)[0].log().item()


def beam_search(logits):
    return F.softmax(logits, dim=-1).log().topk(4)


def log_of_close_scores(a, b):
    scores = F.cosine_similarity(a, b)
    return -torch.log(F.softmax(scores, dim=-1)).mean()


def log_where_it_is_finite(logits):
    loss = -torch.log(F.softmax(logits, dim=-1)).mean()
    return loss if torch.isfinite(loss) else None


def entropy_with_a_mask(logits):
    p = F.softmax(logits, dim=-1)
    return -torch.where(p > 0, p * torch.log(p), 0).sum(-1)


def entropy_without_nan(logits):
    p = F.softmax(logits, dim=-1)
    return -torch.nansum(p * p.log(), -1)


def focal(logits, target):
    p = F.softmax(logits, dim=1)
    pt = torch.gather(p, 1, target.unsqueeze(1))
    return (-((1 - pt) ** 2) * torch.log(pt)).mean()  # finds log_of_a_softmax


def log_of_a_quotient(scores, mask):
    similar = torch.exp(scores / 0.1)
    total = similar.sum(dim=1)
    chosen = similar / total[:, None].repeat(1, 3)
    safe = torch.exp(scores - scores.max())
    print((safe / safe.sum(1, keepdim=True)).log())
    print((similar / total).log().item())
    print(torch.log(scores / scores.sum()))
    return -torch.log(chosen[mask]).mean()  # finds log_of_a_softmax


def log_of_a_quotient_in_place(positive, negative):
    above = torch.exp(positive)
    below = torch.exp(negative) * 3
    return -torch.log(above / torch.sum(below, dim=1))  # finds log_of_a_softmax
