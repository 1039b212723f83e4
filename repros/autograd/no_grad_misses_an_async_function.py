# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "@torch.no_grad() on an async function does not turn off gradients in the function"
# kind = "silent"
# symptom = "the prediction requires a gradient"
# origin = "design"
# documents = [
#     "https://github.com/vllm-project/vllm/pull/49153",
#     "https://github.com/pytorch/pytorch/pull/31792",
#     "https://docs.pytorch.org/docs/stable/generated/torch.no_grad.html",
# ]
# wrong = '''
# @torch.no_grad()
# async def predict(x):
#     return model(x)
# '''
# right = '''
# async def predict(x):
#     with torch.no_grad():
#         return model(x)
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The server works, but each prediction carries its graph, and memory grows while results are kept.

The decorator turns gradients off while the function is called. Calling an async function only
creates a coroutine, whose body runs later, when the coroutine is awaited (vllm-project/vllm#49153).
Torch has a separate wrapper for generators (pytorch#31792), but not for coroutines.
@torch.inference_mode(), @torch.enable_grad() and @torch.autocast() miss the body in the same way.
Do not await inside the with block: the mode belongs to the thread, so other coroutines that run in
the meantime would compute without gradients too.
"""

import asyncio

import torch


def decorated(model):
    @torch.no_grad()
    async def predict(x):
        return model(x)

    return predict


def with_block(model):
    async def predict(x):
        with torch.no_grad():
            return model(x)

    return predict


def check(device, build):
    model = torch.nn.Linear(2, 1).to(device)
    x = torch.tensor([[1.0, 2.0]], device=device)
    prediction = asyncio.run(build(model)(x))
    if prediction.requires_grad:
        return "the prediction requires a gradient"
    expected = (model.weight * x).sum() + model.bias
    if not torch.allclose(prediction, expected) or not expected.requires_grad:
        return "the prediction is wrong, or gradients remain off"


def reproduce(device):
    return check(device, decorated)


def control(device):
    return check(device, with_block)


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
