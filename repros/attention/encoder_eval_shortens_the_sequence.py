# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "TransformerEncoder in eval mode under no_grad() cuts off positions that are padding in every sample"
# kind = "silent"
# symptom = "5 positions in, 3 out"
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/97111"]
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.0.1/torch/nn/modules/transformer.py",
#     "https://github.com/pytorch/pytorch/pull/100113",
# ]
# fixed_by = "pytorch#100113"
# wrong = '''
# encoder = torch.nn.TransformerEncoder(layer, num_layers)
# encoder.eval()
# with torch.no_grad():
#     y = encoder(x, src_key_padding_mask=padding)
# '''
# right = '''
# encoder = torch.nn.TransformerEncoder(layer, num_layers, enable_nested_tensor=False)
# encoder.eval()
# with torch.no_grad():
#     y = encoder(x, src_key_padding_mask=padding)
# '''
# fix = "attention.without_fast_path"
# use = '''
# from attention import without_fast_path
# encoder = torch.nn.TransformerEncoder(layer, num_layers)
# encoder.eval()
# with torch.no_grad(), without_fast_path(encoder):
#     y = encoder(x, src_key_padding_mask=padding)
# '''
# choice = "Use the lines without the fix if you build the encoder; use the fix if another library does. With either, padded positions get the outputs of train mode instead of the fast path's zeros, and the output for a sample of only padding can be NaN"
# affected = { cpu = "<2.1", cuda = "<2.1" }
# ///
"""During evaluation, the output lacks every position that is padding in all samples of the batch.

In eval mode under no_grad(), an encoder with batch_first=True and norm_first=False makes a nested
tensor from the positions that are not padding. A frozen encoder does this even with gradients
enabled. At the end, the encoder pads this tensor only to the length of the longest sample in the
batch (torch/nn/modules/transformer.py, pytorch#97111). Since the upstream fix, it pads the tensor
to the input's length (pytorch#100113).
"""

import torch


def start(device):
    layer = torch.nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True).to(device)
    x = torch.linspace(-1, 1, 20, device=device).reshape(1, 5, 4).sin()
    return layer, 2, x, torch.tensor([[False, False, False, True, True]], device=device)


def check(encoder, x, padding, y):
    if y.shape[1] != 5:
        return f"5 positions in, {y.shape[1]} out"
    if not torch.allclose(y[~padding], encoder.train()(x[:, :3])[0], atol=1e-4):
        return "the output is not that of the tokens alone"


def reproduce(device):
    layer, num_layers, x, padding = start(device)
    encoder = torch.nn.TransformerEncoder(layer, num_layers)
    encoder.eval()
    with torch.no_grad():
        y = encoder(x, src_key_padding_mask=padding)
    return check(encoder, x, padding, y)


def control(device):
    layer, num_layers, x, padding = start(device)
    encoder = torch.nn.TransformerEncoder(layer, num_layers, enable_nested_tensor=False)
    encoder.eval()
    with torch.no_grad():
        y = encoder(x, src_key_padding_mask=padding)
    return check(encoder, x, padding, y)


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
