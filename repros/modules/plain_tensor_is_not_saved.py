# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A tensor that is a plain attribute of a module is lost when the state_dict is loaded"
# kind = "silent"
# symptom = "the loaded model has the initial mean"
# origin = "design"
# reports = [
#     "https://github.com/ligerlac/torchlogix/issues/22",
#     "https://github.com/Felix-Petersen/difflogic/issues/34",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_buffer",
#     "https://github.com/pytorch/pytorch/issues/18056",
# ]
# wrong = '''
# self.mean = torch.zeros(2)
# '''
# right = '''
# self.register_buffer("mean", torch.zeros(2))
# '''
# rule = "warning"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The checkpoint loads without an error, but the values that the model measured or drew are lost.

A state_dict() holds only parameters and buffers (pytorch#18056), and a plain tensor attribute is
neither. In ligerlac/torchlogix#22, a trained model lost its random wiring and its accuracy. A file
saved before the buffer existed lacks its key, so load that file once with strict=False. Because
half() also casts floating-point buffers, give a counter an integer dtype. A buffer that has grown,
such as a memory bank, loads only into a buffer of the same size. DistributedDataParallel copies the
buffers of rank 0 to the other ranks before a forward pass, unless broadcast_buffers is False or the
previous forward pass ran in no_sync() or no_grad(). If autograd has saved a buffer, two forward
passes before one backward pass then raise an error on 1.13 and 2.3.
"""

import torch


class Plain(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = torch.zeros(2)


class Buffer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(2))


def save_and_load(device, module):
    model, loaded = module().to(device), module().to(device)
    model.mean += 5.0
    loaded.load_state_dict(model.state_dict())
    if not loaded.mean.any():
        return "the loaded model has the initial mean"
    if loaded.mean.tolist() != [5.0, 5.0] or loaded.mean.device != model.mean.device:
        return f"the loaded mean is {loaded.mean}"


def reproduce(device):
    return save_and_load(device, Plain)


def control(device):
    return save_and_load(device, Buffer)


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
