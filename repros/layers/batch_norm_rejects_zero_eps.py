# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "BatchNorm with eps=0 fails in eval mode"
# kind = "error"
# symptom = "eps must be positive"
# messages = ["batch_norm eps must be positive, but got"]
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/173337"]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/166756",
#     "https://github.com/pytorch/pytorch/pull/175508",
#     "https://github.com/chr5tphr/zennit/pull/240",
# ]
# fixed_by = "pytorch#175508"
# wrong = '''
# norm = torch.nn.BatchNorm1d(2, eps=0.0).eval()
# '''
# fix = "upgrade"
# affected = { cpu = ">=2.10,<2.12", cuda = ">=2.10,<2.12", mps = ">=2.10,<2.12" }
# ///
"""A model whose BatchNorm divides by the variance alone raises an error, although it ran before
torch 2.10.

Release 2.10 checks that eps is positive (pytorch#166756), but a positive eps is needed only if a
variance is zero. In eval mode, BatchNorm divides by the stored variance. Users set eps to zero if
it was folded into that variance (pytorch#173337), or to turn a layer into an identity
(chr5tphr/zennit#240). In training mode, and in eval mode without running statistics, later releases
also raise an error for an eps of zero.
"""

import torch


def predict(device, eps):
    norm = torch.nn.BatchNorm1d(2, eps=eps).eval()
    norm.to(device)(torch.ones(3, 2, device=device))


def reproduce(device):
    try:
        predict(device, eps=0.0)
    except ValueError as error:
        return str(error)


def control(device):
    predict(device, eps=1e-5)


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
