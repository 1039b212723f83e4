# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "output[:, -1] of a bidirectional LSTM holds the first step of the backward direction"
# kind = "silent"
# symptom = "the backward half has seen 1 of 4 steps"
# origin = "usage"
# reports = ["https://github.com/yunjey/pytorch-tutorial/issues/149"]
# documents = [
#     "https://github.com/yunjey/pytorch-tutorial/pull/174",
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.LSTM.html",
# ]
# wrong = '''
# output, _ = lstm(x)
# features = output[:, -1]  # x: [batch, time, features]
# '''
# right = '''
# _, (h, _) = lstm(x)
# features = torch.cat([h[-2], h[-1]], 1)
# '''
# rule = "warning"
# when = "the layer is bidirectional"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""With one layer, half of the features depend only on the last step, so the backward direction adds
almost nothing. With several layers, the other steps reach this half only through the layers below.

The backward direction starts at the last step, and output is in the order of the input, so its
final state is at output[:, 0] (docs: torch.nn.LSTM). In the state h, the last two entries are the
final states of the last layer, the forward and then the backward direction. For a GRU, write _, h =
gru(x). With padding at the end, the backward direction starts in the padding: pass the result of
pack_padded_sequence(), so that h holds the states at the real ends (see rnn/last_step_is_padding).
"""

import torch


def last_output(lstm, x):
    output, _ = lstm(x)
    features = output[:, -1]  # x: [batch, time, features]
    return features


def final_states(lstm, x):
    _, (h, _) = lstm(x)
    features = torch.cat([h[-2], h[-1]], 1)
    return features


def check(device, features_of):
    lstm = torch.nn.LSTM(2, 3, bidirectional=True, batch_first=True).to(device)
    ways = [torch.nn.LSTM(2, 3, batch_first=True).to(device) for _ in range(2)]
    for name in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"):
        for way, suffix in zip(ways, ("", "_reverse")):
            getattr(way, name).data.copy_(getattr(lstm, name + suffix))
    x = torch.arange(24.0, device=device).view(3, 4, 2) / 24
    features = features_of(lstm, x)
    if torch.allclose(features[:, 3:], ways[1](x[:, -1:])[0][:, -1], atol=1e-6):
        return "the backward half has seen 1 of 4 steps"
    expected = torch.cat([ways[0](x)[0][:, -1], ways[1](x.flip(1))[0][:, -1]], 1)
    if not torch.allclose(features, expected, atol=1e-6):
        return "the features differ from those of two LSTMs"


def reproduce(device):
    return check(device, last_output)


def control(device):
    return check(device, final_states)


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
