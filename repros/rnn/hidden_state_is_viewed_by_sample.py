# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "h.view(batch, -1) of a bidirectional LSTM mixes the states of different samples"
# kind = "silent"
# symptom = "sample 0 gets the state of sample 1"
# origin = "usage"
# reports = [
#     "https://github.com/timbmg/Sentence-VAE/issues/15",
#     "https://github.com/graykode/nlp-tutorial/issues/38",
# ]
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.nn.LSTM.html"]
# wrong = '''
# _, (h, _) = lstm(x)
# features = h.view(len(x), -1)  # x: [batch, time, features]
# '''
# right = '''
# _, (h, _) = lstm(x)
# features = h.transpose(0, 1).flatten(1)
# '''
# rule = "error"
# when = "the LSTM has several layers or directions"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The shape is right and training runs, but the features of most samples belong to other samples.

The state h has the shape (layers * directions, batch, hidden size), even with batch_first (docs:
torch.nn.LSTM), and view() does not move values. The first rows therefore hold the forward states of
several samples, and the last rows the backward states. The order is the same for an LSTM with
several layers and one direction, for a GRU and for the state c. With one layer and one direction,
both lines give the same result. The results are also the same for a batch of one sample, so
predictions for single samples differ from training. Weights that were trained like this have to be
trained again.
"""

import torch


def viewed(lstm, x):
    _, (h, _) = lstm(x)
    features = h.view(len(x), -1)  # x: [batch, time, features]
    return features


def transposed(lstm, x):
    _, (h, _) = lstm(x)
    features = h.transpose(0, 1).flatten(1)
    return features


def check(device, features_of):
    lstm = torch.nn.LSTM(2, 3, bidirectional=True, batch_first=True).to(device)
    x = torch.arange(24.0, device=device).view(3, 4, 2) / 24
    alone = torch.stack([lstm(sample[None])[1][0].flatten() for sample in x])
    features = features_of(lstm, x)
    if torch.allclose(features[0, 3:], alone[1, :3], atol=1e-6):
        return "sample 0 gets the state of sample 1"
    if not torch.allclose(features, alone, atol=1e-6):
        return "the features differ from those of single samples"


def reproduce(device):
    return check(device, viewed)


def control(device):
    return check(device, transposed)


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
