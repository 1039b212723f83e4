# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "normalize() without dim normalizes [batch, tokens, features] along the token dimension"
# kind = "silent"
# symptom = "the vectors have other lengths than 1"
# origin = "usage"
# reports = ["https://github.com/gabeur/mmt/issues/1"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.normalize.html",
#     "https://github.com/facebookresearch/WMReward/issues/11",
# ]
# wrong = '''
# x = torch.nn.functional.normalize(x)  # [batch, tokens, features]
# '''
# right = '''
# x = torch.nn.functional.normalize(x, dim=-1)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The shape stays the same and training runs, but dot products of the vectors are not their
cosines.

The default is dim=1 (docs: torch.nn.functional.normalize). Dimension 1 is the last dimension of a
matrix [batch, features], so the same line works until the input gets a third dimension. The length
of each vector then depends on the number of tokens, and on the other tokens, including padding.
cosine_similarity() and CosineSimilarity have the same default (facebookresearch/WMReward#11). If
the features come second, as in images [batch, channels, height, width], dim=1 is right. A model
that was trained with the wrong line has to be trained again.
"""

import torch


def over_the_tokens(x):
    x = torch.nn.functional.normalize(x)  # [batch, tokens, features]
    return x


def over_the_features(x):
    x = torch.nn.functional.normalize(x, dim=-1)
    return x


def check(device, scale):
    x = torch.arange(1.0, 13.0, device=device).view(2, 3, 2)
    scaled = scale(x)
    lengths = (scaled[..., 0].square() + scaled[..., 1].square()).sqrt()
    if (lengths - 1).abs().max() > 1e-5:
        return "the vectors have other lengths than 1"
    if not torch.allclose(scaled[..., 0] / scaled[..., 1], x[..., 0] / x[..., 1]):
        return "the vectors have other directions"


def reproduce(device):
    return check(device, over_the_tokens)


def control(device):
    return check(device, over_the_features)


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
