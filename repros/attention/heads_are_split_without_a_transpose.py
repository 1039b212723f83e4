# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "view(batch, heads, time, -1) splits the tokens among the heads, so each head sees only a few tokens"
# kind = "silent"
# symptom = "the last token has no influence on the first"
# origin = "usage"
# reports = [
#     "https://github.com/reczoo/FuxiCTR/issues/30",
#     "https://github.com/649453932/Chinese-Text-Classification-Pytorch/issues/53",
# ]
# documents = ["https://github.com/hyunwoongko/transformer/issues/15"]
# wrong = '''
# q, k, v = (p.view(batch, heads, time, -1) for p in (q, k, v))  # [batch, time, heads * size]
# weights = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).softmax(-1)
# output = (weights @ v).view(batch, time, -1)
# '''
# right = '''
# import math
# q, k, v = (p.view(batch, time, heads, -1).transpose(1, 2) for p in (q, k, v))
# weights = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).softmax(-1)
# output = (weights @ v).transpose(1, 2).reshape(batch, time, -1)
# '''
# rule = "warning"
# when = "there are several heads"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""All shapes are right, but tokens that are far apart never attend to each other.

view() does not move values (hyunwoongko/transformer#15). With two heads, the first head gets the
first half of the tokens with all their features, and the second head gets the other half. Calling
view(batch * heads, time, -1) is wrong in the same way (reczoo/FuxiCTR#30). Correct the splitting
and the merging of the heads together: correcting only one of them mixes the tokens, and then a
causal mask lets later tokens through. With a single head, both versions give the same result. A
model that was trained in this way has to be trained again.
"""

import math

import torch


def by_rows(q, k, v, batch, time, heads):
    q, k, v = (p.view(batch, heads, time, -1) for p in (q, k, v))  # [batch, time, heads * size]
    weights = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).softmax(-1)
    output = (weights @ v).view(batch, time, -1)
    return output


def by_features(q, k, v, batch, time, heads):
    q, k, v = (p.view(batch, time, heads, -1).transpose(1, 2) for p in (q, k, v))
    weights = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).softmax(-1)
    output = (weights @ v).transpose(1, 2).reshape(batch, time, -1)
    return output


def check(device, attend):
    q, k, v = (torch.arange(48.0, device=device).view(2, 4, 6).add(n).sin() for n in range(3))
    v.requires_grad_()
    output = attend(q, k, v, 2, 4, 2)
    (gradient,) = torch.autograd.grad(output[:, 0].sum(), v)
    if not gradient[:, 3].any():
        return "the last token has no influence on the first"
    heads = [p.chunk(2, dim=-1) for p in (q, k, v)]
    alone = [(q @ k.mT / math.sqrt(3)).softmax(-1) @ v for q, k, v in zip(*heads)]
    if not torch.allclose(output, torch.cat(alone, dim=-1), atol=1e-6):
        return "the output is not that of the two heads"


def reproduce(device):
    return check(device, by_rows)


def control(device):
    return check(device, by_features)


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
