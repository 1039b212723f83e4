# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A layer converted to half precision fails for a float32 input"
# kind = "error"
# symptom = "same dtype"
# messages = [
#     "expected scalar type (?:Half|BFloat16) but found (?:Float|Half|BFloat16)",
#     "expected scalar type Float but found (?:Half|BFloat16)",
#     "mat1 and mat2 must have the same dtype(?:(?!,)|, but got (?:Half|BFloat16|\\w{3,8} and (?:Half|BFloat16)))",
#     "Input type \\([^()]{0,20}?(?:Half|BFloat16)[^()]{0,8}\\) and (?:weight|bias) type \\((?!torch\\.(?:cuda\\.)?Half)",
#     "Input type \\((?:float|torch\\.FloatTensor)\\) and (?:weight|bias) type \\([^()]{0,20}?(?:Half|BFloat16)[^()]{0,10}\\) should be the same",
#     "Expected query, key, and value to have the same dtype, but got query\\.dtype",
#     "RNN input dtype \\(torch\\.(?:bfloat16|float16)\\) does not match weight dtype",
#     "RNN input dtype \\(torch\\.\\w{4,8}\\) does not match weight dtype \\(torch\\.(?:bfloat16|float16)",
#     "mixed dtype \\(CPU\\): ?expect",
# ]
# elsewhere = [
#     "self and mat2 must have the same dtype, but got (?:Half|BFloat16|\\w{3,8} and (?:Half|BFloat16|Float8))",
#     "expected object of scalar type (?:Float|Half|BFloat16) but got scalar type (?:Half|BFloat16|Float) for argument",
#     "expected (?:m1 and m2|mat1 and mat2) to have the same dtype, but got: .{0,30}?(?:Half|BFloat16)",
#     "Input type \\(torch\\.cuda\\.FloatTensor\\) and (?:weight|bias) type \\([^()]{0,20}?(?:Half|BFloat16)[^()]{0,10}\\) should be the same",
#     "mixed dtype \\(CPU\\): ?all",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/axolotl-ai-cloud/axolotl/issues/844",
#     "https://github.com/ultralytics/yolov3/issues/1085",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/amp.html",
# ]
# wrong = '''
# model.to(torch.bfloat16)
# output = model(batch)
# '''
# right = '''
# model.float()
# with torch.autocast(batch.device.type, torch.bfloat16):
#     output = model(batch)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# ///
"""A matrix product requires two tensors of the same dtype. Here the weights are bfloat16 and the
batch is float32 (axolotl-ai-cloud/axolotl#844, ultralytics/yolov3#1085). Under autocast, the
weights stay float32, and each operation converts its inputs (docs: torch.amp). If you do not train
the model, you can avoid the memory cost of float32 weights: convert the batch instead, as in
model(batch.to(torch.bfloat16)). With either solution, the output is bfloat16: call output.float()
before numpy(), a loss or a layer outside of autocast.

Autocast does not convert float64, so pass batch.float() for a float64 batch. Nor does autocast
convert values written by index (see amp/index_put_of_two_dtypes). On the CPU, some layers reject
the bfloat16 output of a Linear. In torch 1.13, these are LayerNorm and GroupNorm. In 2.3 and
earlier, TransformerEncoderLayer does so in eval mode without gradients. Some CPUs cannot run an
LSTM in bfloat16 ("could not create a primitive descriptor"). For these layers, use model.float()
without autocast.

If float() is called between two training steps, the optimizer state remains in bfloat16, and the
next step() of Adam, AdamW or NAdam fails. Call optimizer.load_state_dict(optimizer.state_dict()) to
cast the state too.
"""

import itertools

import torch
import torch.nn.functional as F


def start(device):
    return torch.nn.Linear(3, 2).to(device), torch.ones(2, 3, device=device)


def check(output, expected):
    if (output - expected).abs().max() > 0.1:
        return "the output is off from float32"


def reproduce(device):
    model, batch = start(device)
    expected = model(batch)
    try:
        model.to(torch.bfloat16)
        output = model(batch)
    except RuntimeError as error:
        return str(error)
    return check(output, expected)


def control(device):
    model, batch = start(device)
    expected = model(batch)
    model.float()
    with torch.autocast(batch.device.type, torch.bfloat16):
        output = model(batch)
    if model.weight.dtype != torch.float32:
        return f"the weights are {model.weight.dtype}"
    return check(output, expected)


def messages(device):
    float32, texts = torch.ones(1, 1, 4, 4, device=device), []
    for x, w in itertools.permutations((float32, float32.half(), float32.bfloat16()), 2):
        norm = torch.nn.LayerNorm(4).to(device, w.dtype)
        lstm = torch.nn.LSTM(4, 4).to(device, w.dtype)
        calls = (
            lambda: x @ w,
            lambda: F.linear(x[0, 0], w[0, 0], w[0, 0, 0]),
            lambda: F.conv2d(x, w),
            lambda: F.conv2d(x, w, w[0, 0, 0, :1]),
            lambda: norm(x),
            lambda: lstm(x[0]),
            lambda: F.scaled_dot_product_attention(x, w, w),
            lambda: x.clone()[:, torch.tensor([0], device=device)].dot(w),
            lambda: torch.addmm(x[0, 0], w[0, 0], x[0, 0]),
            lambda: torch.bmm(x[0], w[0]),
        )
        for call in calls:
            try:
                call()
            except (RuntimeError, AttributeError, ValueError) as error:
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
