# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A model that was saved as a whole cannot be loaded where its class is not found"
# kind = "error"
# symptom = "Can't get attribute 'Net' on <module 'train'"
# messages = [
#     'Can.t get attribute .\w{1,60}. on <module .(?!__mp_main__)[\w.]{1,60}.(?: from|>)',
# ]
# keywords = [
#     "Can't get attribute Net on module __main__",
#     "torch.load needs the model class",
#     "load a model without its class definition",
#     "moved or renamed the file of the model",
#     "torch.save(model) cannot be loaded in another script",
#     "load a saved model in a different project",
#     "model saved in a notebook cannot be loaded in script",
#     "renamed my file and saved models do not load",
#     "flask app cannot load the model from training script",
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
# torch.save(model, file)
# '''
# right = '''
# torch.save(model.state_dict(), file)
# '''
# rule = "note"
# when = "the file is loaded where that class is not found"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""torch.save() of a model pickles a reference to its class: the name of the module that
defined it, often __main__, and the name in it. torch.load() looks the class up there, in
whatever that module is in the script that loads (pytorch#7812). A meter or a config that
was saved along has the same effect (zengqunzhao/MA-Net#5).

A state_dict holds no class. weights_only=False is what torch 2.6 and newer need to get as
far as this error.
"""

import io
import sys
import types

import torch


def load(device, part):
    sys.modules["train"] = train = types.ModuleType("train")  # the script that trained
    try:
        train.Net = type("Net", (torch.nn.Linear,), {"__module__": "train"})
        file = io.BytesIO()
        torch.save(part(train.Net(2, 2).to(device)), file)
        file.seek(0)
        del train.Net  # another script has no such class
        torch.load(file, weights_only=False)
    except AttributeError as error:
        return str(error)
    finally:
        del sys.modules["train"]


def reproduce(device):
    return load(device, lambda model: model)


def control(device):
    return load(device, lambda model: model.state_dict())


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
