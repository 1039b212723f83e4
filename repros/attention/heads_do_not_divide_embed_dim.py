# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "MultiheadAttention and Transformer require a model width divisible by the number of heads"
# kind = "error"
# symptom = "embed_dim must be divisible by num_heads"
# messages = ["embed_dim must be divisible by num_heads"]
# origin = "design"
# reports = [
#     "https://github.com/lyuchenyang/Macaw-LLM/issues/42",
#     "https://github.com/open-mmlab/mmaction2/issues/1271",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html",
#     "https://github.com/pytorch/pytorch/issues/28719",
# ]
# wrong = '''
# layer = torch.nn.TransformerEncoderLayer(10, 4)
# '''
# right = '''
# layer = torch.nn.TransformerEncoderLayer(10, 5)  # or (12, 4) behind a Linear(10, 12)
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Building the model raises an error that names neither number (pytorch#28719). Each head gets
embed_dim // num_heads features (docs: MultiheadAttention), so the width must be a multiple of the
number of heads.
"""

import torch


def reproduce(device):
    try:
        layer = torch.nn.TransformerEncoderLayer(10, 4)
        layer.to(device)
    except AssertionError as error:
        return str(error)


def control(device):
    layer = torch.nn.TransformerEncoderLayer(10, 5)
    layer.to(device)
    if layer.self_attn.head_dim != 2 or layer(torch.ones(3, 2, 10, device=device)).shape != (
        3,
        2,
        10,
    ):
        return "a head has another width"


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
