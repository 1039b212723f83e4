# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Under autocast, writing a Linear's output into a float32 tensor by mask or index list fails"
# kind = "error"
# symptom = "Index put requires the source and destination dtypes match, got Float"
# messages = [
#     "Index put requires the source and destination dtypes match, got (?:Float|Double|Half|BFloat16) for the destination and (?:Float|Double|Half|BFloat16) for the source",
#     "scatter\\(\\): Expected self\\.dtype to be equal to src\\.dtype",
#     "index_add_\\(\\): self \\(\\w{4,8}\\) and source \\(\\w{4,8}\\) must have the same scalar type",
#     "index_copy_\\(\\): self and source expected to have the same dtype, but got \\(self\\)",
#     "masked_scatter: expected self and source to have same dtypes but got",
# ]
# elsewhere = ["masked_scatter_: expected self and source to have same dtypes but got"]
# origin = "design"
# reports = [
#     "https://github.com/hiyouga/LlamaFactory/issues/2639",
#     "https://github.com/lightly-ai/lightly/issues/1077",
#     "https://github.com/pytorch/audio/issues/2847",
#     "https://github.com/huggingface/transformers/issues/47672",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/amp.html#op-eligibility",
#     "https://github.com/pytorch/pytorch/pull/96177",
#     "https://github.com/pyg-team/pytorch_geometric/pull/7473",
# ]
# wrong = '''
# y = torch.zeros_like(x)
# y[mask] = expert(x[mask])  # a Linear, under autocast
# '''
# right = '''
# y = torch.zeros_like(x)
# y[mask] = expert(x[mask]).to(y.dtype)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# ///
"""A mixture of experts that writes back each expert's tokens fails once autocast is on
(hiyouga/LlamaFactory#2639).

Under autocast, the Linear returns bfloat16, while zeros_like(), embeddings and parameters keep
float32. The assignment calls index_put_(), and autocast does not convert the arguments of in-place
calls (docs: torch.amp). By design, torch does not convert values that are written by index
(pytorch#96177). Indexing with a slice or a single number is an exception: the assignment y[:2] =
expert(x[:2]) converts the values. An assignment by mask, or by a list or tensor of indices, raises
an error, even if the mask selects nothing. Only an assignment by mask converts a single-element
value.

The functions scatter(), scatter_add_(), index_add(), index_copy_() and masked_scatter() raise
errors too, so pass source.to(y.dtype) to them. Examples are code that merges image features into
text embeddings (huggingface/transformers#47672), and code that writes encoded patches into mask
tokens (lightly-ai/lightly#1077). Other pairs of dtypes fail as well. Examples are a float32 mask
token for 16-bit features (pytorch/audio#2847), the output of a bfloat16 model for torch.zeros(),
and float64 values from NumPy.
"""

import itertools

import torch


def start(device):
    expert = torch.nn.Linear(3, 3).to(device)
    return expert, torch.ones(4, 3, device=device), torch.tensor([1, 0, 1, 0], device=device).bool()


def check(y, expert, x, mask):
    if y.dtype != x.dtype:
        return f"the result is {y.dtype}"
    if (y - expert(x) * mask[:, None]).abs().max() > 0.1:  # of float32, without autocast
        return "the result is off from float32"
    y.sum().backward()
    if (expert.weight.grad - 2).abs().max() > 0.1:  # two rows of ones
        return f"the gradient is {expert.weight.grad.tolist()} instead of 2"


def reproduce(device):
    expert, x, mask = start(device)
    with torch.autocast(x.device.type, torch.bfloat16):
        y = torch.zeros_like(x)
        try:
            y[mask] = expert(x[mask])
        except RuntimeError as error:
            return str(error)
    return check(y, expert, x, mask)


def control(device):
    expert, x, mask = start(device)
    with torch.autocast(x.device.type, torch.bfloat16):
        y = torch.zeros_like(x)
        y[mask] = expert(x[mask]).to(y.dtype)
    return check(y, expert, x, mask)


def messages(device):
    row, texts = torch.tensor([0, 1], device=device), []
    index = row[:, None].expand(2, 3)
    ones = torch.ones(2, 3, device=device)
    dtypes = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
    for into, of in itertools.permutations(dtypes, 2):
        y, source = ones.to(into), ones.to(of)
        y[:2], y[row > 0] = source, source[0, 0]  # converted
        for write in (
            lambda source: y.__setitem__(row, source),
            lambda source: y.__setitem__(row < 0, source[:0]),
            lambda source: y.scatter(0, index, source),
            lambda source: y.scatter_add_(0, index, source),
            lambda source: y.index_add(0, row, source),
            lambda source: y.index_copy_(0, row, source),
            lambda source: y.masked_scatter(index > 0, source),
        ):
            try:
                write(source)
            except RuntimeError as error:
                texts.append(str(error))
            write(source.to(y.dtype))
    return "\n".join(dict.fromkeys(texts))


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
