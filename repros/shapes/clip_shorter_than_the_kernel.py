# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A convolution fails for a recording that is shorter than its kernel"
# kind = "error"
# symptom = "Calculated padded input size per channel: \\(2\\). Kernel size: \\(3\\). Kernel size can't be"
# messages = ["Kernel size: \\(.{1,40}?\\)\\. Kernel size can.t be greater than actual input size"]
# elsewhere = ["Kernel size can.t be greater than actual input size at "]
# origin = "usage"
# reports = [
#     "https://github.com/ksanjeevan/crnn-audio-classification/issues/15",
#     "https://github.com/pyannote/pyannote-audio/issues/1260",
# ]
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.nn.Conv1d.html"]
# wrong = '''
# features = convolutions(clip)
# '''
# right = '''
# shortest = 7  # the first length for which convolutions() does not raise
# missing = max(0, shortest - clip.shape[-1])
# features = convolutions(torch.nn.functional.pad(clip, (0, missing)))
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The model works for most recordings but fails for the shortest, or for the remainder that a
sliding window leaves at the end of a file (pyannote/pyannote-audio#1260).

Without padding, a convolution with a kernel larger than 1 shortens its input, and a stride divides
its length (docs: torch.nn.Conv1d). A later layer may get fewer samples than its kernel needs, and
then raises the error (aten/src/ATen/native/Convolution.cpp). The message therefore names the length
of this layer's padded input, not that of the recording. For example, two convolutions with kernel 3
and stride 2 need 7 samples.

Fill the end with silence (ksanjeevan/crnn-audio-classification#15). In a waveform, silence is
zeros. In a spectrogram in decibels, zeros are loud: pass its lowest value to pad() as value=.
Recordings that are long enough remain unchanged. If every recording fails, a dimension is in the
wrong place, or the model was made for a higher sampling rate.
"""

import torch
from torch.nn import Conv1d, Sequential


def start(device):
    convolutions = Sequential(Conv1d(1, 2, 3, stride=2), Conv1d(2, 1, 3, stride=2))
    return convolutions.to(device)  # 7 samples leave (7 - 1) // 2 = 3 for the second kernel


def as_it_is(convolutions, clip):
    features = convolutions(clip)
    return features


def with_silence(convolutions, clip):
    shortest = 7  # the first length for which convolutions() does not raise
    missing = max(0, shortest - clip.shape[-1])
    features = convolutions(torch.nn.functional.pad(clip, (0, missing)))
    return features


def check(device, run):
    convolutions = start(device)
    for length in (7, 12, 5):
        clip = torch.arange(1.0, length + 1, device=device).view(1, 1, length)
        try:
            features = run(convolutions, clip)
        except RuntimeError as error:
            return str(error)
        canvas = torch.zeros(1, 1, max(length, 7), device=device)
        canvas[..., :length] = clip
        if not torch.allclose(features, convolutions(canvas), atol=1e-4):
            return "the features are not those of the clip with silence behind it"


def reproduce(device):
    return check(device, as_it_is)


def control(device):
    return check(device, with_silence)


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
