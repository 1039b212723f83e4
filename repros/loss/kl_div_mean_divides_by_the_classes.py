# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "kl_div with reduction 'mean' is the divergence divided by the number of classes"
# kind = "silent"
# symptom = "of the divergence"
# messages = ["reduction: .mean. divides the total loss by both the batch size and the support size"]
# keywords = [
#     "KLDivLoss is too small",
#     "batchmean or mean",
#     "knowledge distillation term is nearly zero",
#     "distillation loss much smaller than cross entropy",
#     "KLDivLoss does not match the formula",
#     "distillation term is tiny compared with the other loss",
#     "student does not learn from the teacher",
#     "soft label loss around 1e-4, hard loss around 2",
#     "KL value differs from scipy entropy result",
#     "VAE or distillation term has nearly no influence",
#     "need a huge weight on the distillation loss",
#     "KL divergence changes with the vocabulary size",
#     "KL loss smaller than my manual computation",
#     "result of kl_div not equal to numpy formula",
#     "knowledge distillation no better than training without teacher",
#     "KL penalty in RLHF seems much too weak",
#     "loss scales with the number of classes",
#     "sequence distillation loss shrinks with longer vocabulary",
# ]
# origin = "design"
# reports = [
#     "https://github.com/HikariTJU/LD/issues/74",
#     "https://github.com/yuanli2333/Teacher-free-Knowledge-Distillation/issues/41",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.KLDivLoss.html",
#     "https://github.com/pytorch/pytorch/pull/14457",
# ]
# wrong = '''
# loss = kl_div(log_probs, target)
# '''
# right = '''
# loss = kl_div(log_probs, target, reduction="batchmean")
# '''
# rule = "warning"
# when = "the value or the weight of the divergence matters"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=2.1" }
# ///
"""Here it is a quarter of the divergence: the default divides by the number of elements, and
only "batchmean" by the number of samples (pytorch#14457). With 1000 classes such a term is
1000 times too small beside a cross entropy (17 times in HikariTJU/LD#74).
"""

import warnings

import torch
from torch.nn.functional import kl_div


def distil(device, **options):
    log_probs = torch.full((2, 4), 0.25, device=device).log()
    target = torch.tensor([[0.7, 0.1, 0.1, 0.1]] * 2, device=device)
    divergence = (target * (target.log() - log_probs)).sum(1).mean()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loss = kl_div(log_probs, target, **options)
    if loss < divergence / 2:
        return f"{(loss / divergence).item():.2f} of the divergence"


def reproduce(device):
    return distil(device)


def control(device):
    return distil(device, reduction="batchmean")


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
