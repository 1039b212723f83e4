# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "On the CPU, cdist() raises an error for up to 25 rows of float16 or bfloat16"
# kind = "error"
# symptom = "cdist. not implemented for"
# messages = [
#     "cdist. not implemented for .Half",
#     "cdist. not implemented for .BFloat16",
#     "ctc_loss_cpu. not implemented for .Half",
#     "linalg_svd_cpu. not implemented for .Half",
#     "compute_index_ranges_weights. not implemented for .Half",
#     "compute_indices_weights_aa. not implemented for .Half",
#     "nll_loss_out_frame. not implemented for .Half",
#     "nll_loss2d_forward_out_frame. not implemented for .Half",
#     "binary_cross_entropy. not implemented for .Half",
#     "reflection_pad2d. not implemented for .Half",
# ]
# origin = "torch"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/136748",
#     "https://github.com/pytorch/pytorch/issues/123328",
# ]
# wrong = '''
# distances = torch.cdist(queries, keys)
# '''
# right = '''
# distances = torch.cdist(queries.float(), keys.float()).to(queries.dtype)
# '''
# affected = { cpu = ">=1.13" }
# ///
"""Most operations have accepted 16-bit floats on the CPU since torch 2.2 or 2.3, but some still do
not (pytorch#136748). On 2.15, cdist(), ctc_loss(), svd() and other functions of torch.linalg still
raise errors. An antialiased interpolate() of a float16 tensor raises an error too. On 2.3, but not
on 2.7, float16 also fails in cross_entropy(), in binary_cross_entropy() (pytorch#123328), and in
padding with mode="reflect".

Every 16-bit number has an exact float32 value, so call float() on the inputs of the other
operations too, and convert their results back, as the corrected line does. If the next operation
accepts float32, omit the conversion back: float32 is more accurate and stays finite above 65504.
With p=2, the default, and more than 25 rows on either side, cdist() uses a matrix product. The
matrix product accepts bfloat16 and, since 2.2, also float16. In this case, cdist() raises no error,
but its result is less accurate (pytorch#136748). With p=1, cdist() raises an error for any number
of rows.
"""

import torch
import torch.nn.functional as F


def start(device, dtype=torch.float16):
    queries = torch.tensor([[0.0, 0.0], [1.0, 2.0]], dtype=dtype, device=device)
    return queries, torch.tensor([[3.0, 4.0]], dtype=dtype, device=device)


def reproduce(device):
    queries, keys = start(device)
    try:
        distances = torch.cdist(queries, keys)
    except RuntimeError as error:
        return str(error)
    return check(distances)


def control(device):
    queries, keys = start(device)
    distances = torch.cdist(queries.float(), keys.float()).to(queries.dtype)
    return check(distances)


def check(distances):
    if [round(each, 3) for each in distances.flatten().tolist()] != [5.0, 2.828]:
        return f"the distances are {distances.tolist()}, not 5 and the root of 8"


def messages(device):
    half = torch.ones(2, 1, 4, 4, dtype=torch.float16, device=device)
    rows, classes = half[:, 0, 0], torch.zeros(2, dtype=torch.long, device=device)
    calls = (
        lambda: torch.cdist(*start(device, torch.bfloat16)),
        lambda: F.ctc_loss(half[:, 0, :1], classes[:1, None] + 1, classes[:1] + 2, classes[:1] + 1),
        lambda: torch.linalg.svd(half[0, 0]),
        lambda: F.interpolate(half, size=(2, 2), mode="bilinear", antialias=True),
        lambda: F.nll_loss(rows, classes),
        lambda: F.nll_loss(half, half[:, 0].long() - 1),
        lambda: F.binary_cross_entropy(rows, rows),
        lambda: F.pad(half, (1, 1, 1, 1), mode="reflect"),
    )
    texts = []
    for call in calls:
        try:
            call()
        except RuntimeError as error:
            texts.append(str(error))
    return "\n".join(texts)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, messages):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
