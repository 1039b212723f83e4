# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A compiled function of parameters recompiles for each parameter shape, up to Dynamo's limit"
# kind = "silent"
# symptom = "graphs were compiled for 12 shapes"
# messages = [
#     "torch\\._dynamo hit config\\.(?:recompile|cache_size)_limit \\(\\d{1,9}\\)",
#     "recompile_limit reached with one_graph=True",
# ]
# elsewhere = [
#     "recompile_limit reached with fullgraph=True",
#     "cache_size_limit reached with one_graph=True",
# ]
# origin = "design"
# reports = ["https://github.com/microsoft/dion/issues/23"]
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/_dynamo/config.py",
#     "https://github.com/HomebrewML/HeavyBall/issues/16",
#     "https://github.com/PrimeIntellect-ai/prime-rl/pull/1778",
# ]
# wrong = '''
# with torch.no_grad():
#     for p in model.parameters():
#         update(p, p.grad)  # update = torch.compile(...)
# '''
# right = '''
# with torch.no_grad():
#     for p in model.parameters():
#         update(p.detach(), p.grad)
# '''
# requires = ">=2.1"
# affected = { cpu = ">=2.1", cuda = ">=2.1" }
# ///
"""If the size of an input changes, Dynamo makes it dynamic. However, each size of a parameter is a
constant of the graph (force_parameter_static_shapes in torch/_dynamo/config.py). At its limit of
eight graphs, or 64 in 2.1, Dynamo runs the function uncompiled or, with fullgraph=True, raises an
error (microsoft/dion#23).

A detached tensor is not a parameter but shares the parameter's memory, and its sizes are dynamic
(control). For parameters with the same number of dimensions, Dynamo then compiles two graphs, or
more if some sizes are 1. The update has to write in place, because an assignment to p.data does not
reach the parameter. In a forward pass, detach() would cut off the gradient, so turn off
force_parameter_static_shapes there instead. With a higher limit (HomebrewML/HeavyBall#16,
PrimeIntellect-ai/prime-rl#1778), Dynamo still compiles once per shape (popular fix), as it does
with dynamic=True.

If a function receives only gradients or buffers, its sizes are dynamic anyway. For a Newton-Schulz
iteration, which transposes tall matrices, Dynamo compiles three graphs.
"""

import logging

import torch


def count(device, step, fullgraph=False, sizes=range(2, 14)):
    torch._dynamo.reset()
    graphs = []

    def backend(graph, inputs):
        graphs.append(graph)
        return graph.forward

    def update(p, grad):
        p.sub_(grad, alpha=0.1)

    layers = [torch.nn.Linear(size, 1, bias=False) for size in sizes]
    model = torch.nn.Sequential(*layers).to(device)
    for p in model.parameters():
        torch.nn.init.ones_(p)
        p.grad = torch.ones_like(p)
    step(model, torch.compile(update, backend=backend, fullgraph=fullgraph))
    torch._dynamo.reset()
    if any(p.ne(0.9).any() for p in model.parameters()):
        return "the parameters were not updated"
    if len(graphs) > 4:
        return f"{len(graphs)} graphs were compiled for {len(layers)} shapes"


def of_parameters(model, update):
    with torch.no_grad():
        for p in model.parameters():
            update(p, p.grad)


def of_tensors(model, update):
    with torch.no_grad():
        for p in model.parameters():
            update(p.detach(), p.grad)


def reproduce(device):
    return count(device, of_parameters)


def control(device):
    return count(device, of_tensors)


def messages(device):
    texts, handler, logger = [], logging.Handler(), logging.getLogger("torch._dynamo")
    handler.emit = lambda record: texts.append(record.getMessage())
    logger.addHandler(handler)
    try:
        count(device, of_parameters)
        count(device, of_parameters, fullgraph=True)
    except Exception as error:
        texts.append(str(error))
    finally:
        logger.removeHandler(handler)
    return "\n".join(texts)


def popular_fix(device):
    with torch._dynamo.config.patch(cache_size_limit=64):
        return count(device, of_parameters)


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
