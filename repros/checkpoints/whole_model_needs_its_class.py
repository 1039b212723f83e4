# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A model that was saved as a whole cannot be loaded if its class is not found"
# kind = "error"
# symptom = "Can't get attribute 'Net' on <module 'train'"
# messages = [
#     'Can.t get attribute .\w{1,60}. on <module .(?!__mp_main__|pandas|numpy)[\w.]{1,60}.(?: from|>| \(built-in\))',
# ]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/7812",
#     "https://github.com/pytorch/pytorch/issues/2762",
#     "https://github.com/pytorch/pytorch/issues/46525",
#     "https://github.com/zengqunzhao/MA-Net/issues/5",
# ]
# documents = ["https://docs.pytorch.org/docs/stable/notes/serialization.html"]
# wrong = '''
# torch.save(model, path)
# '''
# right = '''
# torch.save(model.state_dict(), path)
# '''
# rule = "note"
# when = "the program that loads the file cannot find the model's class"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Calling torch.save() on a model pickles a reference to its class. The reference consists of the
name of the defining module, often __main__, and the name of the class in that module. In the
loading script, torch.load() looks up the class in the module of the same name (pytorch#7812). A
meter or a config that was saved with the model causes the same error (zengqunzhao/MA-Net#5).

A state_dict does not contain a class, so the loading script creates the model from its own class
and loads the state into it. Plain attributes and buffers with persistent=False are not in the
state_dict. To load an existing file, make the class available under its old name, for example with
`import __main__; __main__.Net = Net`. Then save the state_dict of the loaded model. If the class's
file has a new name or location, the error is ModuleNotFoundError. In that case, make the module
available under its old name, for example with `sys.modules["train"] = models`. In torch 2.6 and
newer, these errors appear only with weights_only=False.
"""

import importlib.machinery
import io
import sys
import types

import torch

Net = type("Net", (torch.nn.Linear,), {"__module__": "train"})


def save(device, write, **module):
    """What write() has saved, and its module, which holds no class any more."""
    sys.modules["train"] = train = types.ModuleType("train")  # the script that trained
    vars(train).update(module, Net=Net)
    model, path = Net(2, 2).to(device), io.BytesIO()
    write(model, path)
    path.seek(0)
    del train.Net  # another script has no such class
    return model, path, train


def load(path):
    try:
        return torch.load(path, weights_only=False)
    except AttributeError as error:
        return str(error)
    finally:
        del sys.modules["train"]


def save_model(model, path):
    torch.save(model, path)


def save_state(model, path):
    torch.save(model.state_dict(), path)


def check(model, trained):
    if not torch.equal(model.weight, trained.weight):
        return "the weights are not those that were saved"


def reproduce(device):
    return load(save(device, save_model)[1])


def control(device):
    trained, path, _ = save(device, save_state)
    model = torch.nn.Linear(2, 2).to(device)
    model.load_state_dict(load(path))
    return check(model, trained)


def right(device):
    trained, path, train = save(device, save_model)
    train.Net = Net  # the class, where the file looks for it
    path_of_state = io.BytesIO()
    save_state(load(path), path_of_state)
    path_of_state.seek(0)
    model = torch.nn.Linear(2, 2).to(device)
    model.load_state_dict(torch.load(path_of_state))
    return check(model, trained)


def messages(device):
    built_in = importlib.machinery.ModuleSpec("train", None, origin="built-in")
    texts = [
        load(save(device, save_model, **how)[1])
        for how in ({"__file__": "train.py"}, {"__spec__": built_in})
    ]
    return "\n".join(texts)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, right, messages):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
