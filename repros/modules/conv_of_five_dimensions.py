# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A convolution fails on inputs with one dimension too many, such as a batch of video clips"
# kind = "error"
# symptom = "input to conv2d, but got input of size: \\[1, 2, 3, 8, 8\\]"
# messages = ['Expected \d{1,2}D \(unbatched\) or \d{1,2}D \(batched\) input to conv']
# elsewhere = [
#     'Expected \d-dimensional input for \d-dimensional weight .{1,60}?, but got \d-dimensional input of size',
#     "3D or 4D input tensor expected but got",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/VisionRush/DeepFakeDefenders/issues/30",
#     "https://github.com/RaivoKoot/Video-Dataset-Loading-Pytorch/issues/22",
# ]
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.flatten.html"]
# wrong = '''
# output = convolution(clips)  # [batch, frames, channels, height, width]
# '''
# right = '''
# output = convolution(clips.flatten(0, 1))
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The size in the message has five numbers instead of four. Either video frames add a dimension
(RaivoKoot/Video-Dataset-Loading-Pytorch#22), or unsqueeze(0) adds a batch dimension to an existing
batch (VisionRush/DeepFakeDefenders#30).

A convolution accepts one image or one batch of images (docs: torch.nn.Conv2d), and flatten(0, 1)
turns all frames into one batch. The outputs are then per frame, whereas the labels are per video
(RaivoKoot/Video-Dataset-Loading-Pytorch#22). To get scores per video, use scores.unflatten(0,
clips.shape[:2]).mean(1). If the channels come before the frames, call clips.transpose(1, 2) first,
because three frames would silently pass as colors. If the size in conv2d's message has only two
numbers, the input lacks a dimension.
"""

import torch


def start(device):
    clips = torch.arange(2 * 3 * 8 * 8.0, device=device).view(1, 2, 3, 8, 8)
    return clips, torch.nn.Conv2d(3, 16, 3).to(device)


def reproduce(device):
    clips, convolution = start(device)
    try:
        output = convolution(clips)  # [batch, frames, channels, height, width]
    except RuntimeError as error:
        return str(error)
    return f"an output of {tuple(output.shape)}"


def control(device):
    clips, convolution = start(device)
    output = convolution(clips.flatten(0, 1))
    expected = torch.cat([convolution(frame[None]) for frame in clips[0]])
    if not torch.allclose(output, expected, atol=0.05):
        return "the output is not that of the frames"


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
