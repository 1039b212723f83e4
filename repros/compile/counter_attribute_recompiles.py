# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "torch.compile recompiles a module with an integer step counter in every step, up to Dynamo's limit"
# kind = "silent"
# symptom = "graphs were compiled for 300 calls"
# messages = ["torch\\._dynamo hit config\\.recompile_limit \\(\\d{1,9}\\)"]
# elsewhere = [
#     "torch\\._dynamo hit config\\.cache_size_limit \\(\\d{1,9}\\)",
#     "(?:recompile|cache_size)_limit reached with (?:fullgraph|one_graph)=True",
# ]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/115711",
#     "https://github.com/pytorch/pytorch/issues/128319",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/154867",
#     "https://github.com/meta-pytorch/torchrec/pull/4338",
#     "https://github.com/pytorch/pytorch/issues/121504",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/_dynamo/config.py",
# ]
# wrong = '''
# def __init__(self, layer):
#     super().__init__()
#     self.layer, self.step = layer, 0
#
# def forward(self, x):
#     self.step += 1
#     return self.layer(x)
# '''
# right = '''
# def __init__(self, layer):
#     super().__init__()
#     self.layer = layer
#     self.register_buffer("step", torch.zeros((), dtype=torch.int64), persistent=False)
#
# def forward(self, x):
#     self.step += 1
#     return self.layer(x)
# '''
# requires = ">=2.1"
# affected = { cpu = ">=2.8", cuda = ">=2.8" }
# ///
"""Every call compiles a new graph, until Dynamo reaches its limit of eight graphs. Dynamo then
warns once and runs the function uncompiled or, with fullgraph=True, raises an error. Passing
dynamic=True changes nothing. In pytorch#128319, which was reported before 2.8, such a counter
caused only a few graphs.

An integer attribute of a module is a constant of the graph, guarded by its value
(allow_unspec_int_on_nn_module in torch/_dynamo/config.py, meta-pytorch/torchrec#4338). The same
applies to an integer attribute of any other object that the module holds. A float attribute causes
two graphs in 2.13 and newer.

By contrast, a buffer is read in each call (control). The buffer is int64 because
model.to(torch.bfloat16) casts a floating-point buffer, and 256 + 1 is 256 in bfloat16. The buffer
is not persistent because the attribute was not in the state_dict either. If the model was created
on the meta device, set the buffer to 0 after to_empty(). A higher limit, often tried first
(pytorch#121504), only allows more compilations, one per call (popular fix).

A branch on the buffer (`if self.step < 20`) breaks the graph or, with fullgraph=True, raises an
error. Use torch.where() instead, which does neither. If the result depends on the step (x /
self.step), and two forward passes precede one backward pass, the in-place addition causes an error.
In that case, write self.step = self.step + 1.
"""

import logging

import torch


class Counting(torch.nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer, self.step = layer, 0

    def forward(self, x):
        self.step += 1
        return self.layer(x)


class Buffered(torch.nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer
        self.register_buffer("step", torch.zeros((), dtype=torch.int64), persistent=False)

    def forward(self, x):
        self.step += 1
        return self.layer(x)


def count(device, kind):
    torch._dynamo.reset()
    graphs, x = [], torch.ones(1, 1, device=device, dtype=torch.bfloat16)

    def backend(graph, inputs):
        graphs.append(graph)
        return graph.forward

    model = kind(torch.nn.Linear(1, 1)).to(device, torch.bfloat16)
    compiled = torch.compile(model, backend=backend)
    for _ in range(300):
        compiled(x)
    torch._dynamo.reset()
    if int(model.step) != 300 or set(model.state_dict()) != {"layer.weight", "layer.bias"}:
        return f"the step is {int(model.step)} of 300, the state has {list(model.state_dict())}"
    if len(graphs) > 4:
        return f"{len(graphs)} graphs were compiled for 300 calls"


def reproduce(device):
    return count(device, Counting)


def control(device):
    return count(device, Buffered)


def messages(device):
    texts, handler, logger = [], logging.Handler(), logging.getLogger("torch._dynamo")
    handler.emit = lambda record: texts.append(record.getMessage())
    logger.addHandler(handler)
    try:
        count(device, Counting)
    finally:
        logger.removeHandler(handler)
    return "\n".join(texts)


def popular_fix(device):
    with torch._dynamo.config.patch(cache_size_limit=64):
        return count(device, Counting)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, messages, popular_fix):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
