# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A layer converted to half precision raises for a float32 input"
# kind = "error"
# symptom = "same dtype"
# messages = [
#     "expected scalar type (?:Half|BFloat16) but found (?:Float|Half|BFloat16)",
#     "expected scalar type Float but found (?:Half|BFloat16)",
#     "expected object of scalar type (?:Float|Half|BFloat16) but got scalar type (?:Half|BFloat16|Float) for argument",
#     "expected (?:m1 and m2|mat1 and mat2) to have the same dtype, but got: .{0,30}?(?:Half|BFloat16)",
#     "mat1 and mat2 must have the same dtype(?:(?!,)|, but got (?:Half|BFloat16|\\w{3,8} and (?:Half|BFloat16)))",
#     "Input type \\([^()]{0,20}?(?:Half|BFloat16)[^()]{0,8}\\) and (?:weight|bias) type \\((?!torch\\.(?:cuda\\.)?Half)",
#     "Input type \\((?:float|torch\\.(?:cuda\\.)?FloatTensor)\\) and (?:weight|bias) type \\([^()]{0,20}?(?:Half|BFloat16)[^()]{0,10}\\) should be the same",
#     "Expected query, key, and value to have the same dtype, but got query\\.dtype",
#     "Index put requires the source and destination dtypes match, got (?:Float|Half|BFloat16)",
#     "RNN input dtype \\(torch\\.(?:bfloat16|float16)\\) does not match weight dtype",
#     "RNN input dtype \\(torch\\.\\w{4,8}\\) does not match weight dtype \\(torch\\.(?:bfloat16|float16)",
#     "mixed dtype \\(CPU\\): ?(?:expect|all)",
# ]
# keywords = [
#     "model.half() with float32 input",
#     "half and float do not match",
#     "float16 weights and float32 activations",
#     "dtype mismatch between input and weight",
#     "bfloat16 model expected float",
#     "fp16 works in training, fails in evaluation",
#     "called model.half() and now the input does not fit",
#     "bf16 model fails with normal images",
#     "loaded model in float16, float data does not work",
#     "how to match dtype of data and model",
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
# model(batch)
# '''
# right = '''
# with torch.autocast(device, dtype=torch.bfloat16):
#     model(batch)  # float32 weights
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# ///
"""A matrix product takes two tensors of one dtype; here the weights are bfloat16 and the batch
is float32 (axolotl-ai-cloud/axolotl#844, ultralytics/yolov3#1085). Under autocast the weights stay float32, and
each operation converts what it gets (docs: torch.amp).
"""

import torch


def predict(device, half_weights):
    model = torch.nn.Linear(3, 2).to(device)
    batch = torch.ones(2, 3, device=device)
    if half_weights:
        model.to(torch.bfloat16)
    try:
        with torch.autocast(device, dtype=torch.bfloat16, enabled=not half_weights):
            model(batch)
    except RuntimeError as error:
        return str(error)


def reproduce(device):
    return predict(device, half_weights=True)


def control(device):
    return predict(device, half_weights=False)


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
