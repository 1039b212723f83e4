# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "cross_entropy raises for class labels that are float32 or int32"
# kind = "error"
# symptom = "expected scalar type Long but found|expected target dtype to be Long or Byte"
# messages = [
#     "expected scalar type Long but found \\w{3,10}",
#     "expected target dtype to be Long or Byte, but got \\w{3,10}",
#     "nll_loss\\w{0,60}. not implemented for .(?:Int|Float|Double|Short|Bool|Char).",
#     "Expected object of scalar type Long but got scalar type \\w{3,10} for argument #2 .target",
#     "Expected object of type \\S{0,20}LongTensor but found type \\S{3,30}Tensor for argument #2 .target",
#     "Expected tensor for argument #2 .target. to have scalar type Long",
# ]
# keywords = [
#     "labels must be LongTensor",
#     "int32 labels from numpy on Windows",
#     "torch.Tensor(labels) makes floats",
#     "float mask in segmentation",
#     "cross entropy labels.long()",
#     "labels from pandas have the wrong type",
#     "csv labels loaded as float break the classifier",
#     "works on Linux but labels are int32 on Windows",
#     "which dtype must the labels have",
# ]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/103813",
#     "https://github.com/rasbt/machine-learning-book/issues/192",
#     "https://github.com/dnn-security/Watermark-Robustness-Toolbox/issues/2",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html",
#     "https://github.com/wenet-e2e/wekws/pull/141",
# ]
# wrong = '''
# labels = torch.Tensor([0, 2, 1])
# loss = cross_entropy(logits, labels)
# '''
# right = '''
# labels = torch.Tensor([0, 2, 1])
# loss = cross_entropy(logits, labels.long())
# '''
# affected = { cpu = ">=1.13" }
# ///
"""A label is an index, and indices are int64 (docs: torch.nn.CrossEntropyLoss). torch.Tensor()
makes float32 of integers; a data frame (rasbt/machine-learning-book#192) and a mask
(pytorch#103813) bring int32 and float32.
"""

import torch
from torch.nn.functional import cross_entropy


def train(device, convert):
    logits = torch.zeros(3, 3, device=device)
    labels = torch.Tensor([0, 2, 1]).to(device)
    try:
        cross_entropy(logits, convert(labels))
    except RuntimeError as error:
        return str(error)


def reproduce(device):
    return train(device, lambda labels: labels)


def control(device):
    return train(device, lambda labels: labels.long())


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
