# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A layer with float32 weights fails for a uint8 image"
# kind = "error"
# symptom = 'Input type \(unsigned char\) and bias type \(float\) should be the same'
# messages = [
#     'Input type \(unsigned char\) and bias type \(float\) should be the same',
#     "expected scalar type Byte but found Float",
#     "mat1 and mat2 must have the same dtype, but got Byte and Float",
# ]
# elsewhere = [
#     'Input type \(unsigned char\) and bias type \((?:c10::Half|c10::BFloat16|double)\) should be the same',
#     "expected scalar type Byte but found (?:Half|BFloat16|Double)",
#     "mat1 and mat2 must have the same dtype, but got Byte and (?:Half|BFloat16|Double)",
#     "expected m1 and m2 to have the same dtype, but got: unsigned char",
#     '"batch_norm" not implemented for .Byte.',
#     'Input type \(torch\.(?:cuda\.|mps\.)?ByteTensor\) and (?:weight|bias) type \(torch\.(?:cuda\.|mps\.)?FloatTensor\) should be the same',
#     'Input type \(unsigned char\) and weight type \(float\) should be the same',
#     'Input type \((?:CPU|CUDA|MPS)ByteType\) and (?:weight|bias) type \((?:CPU|CUDA|MPS)FloatType\) should be the same',
# ]
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/64145"]
# documents = [
#     "https://docs.pytorch.org/vision/stable/generated/torchvision.io.read_image.html",
#     "https://docs.pytorch.org/vision/stable/generated/torchvision.transforms.ToTensor.html",
#     "https://tbr8.org/pytorch%E6%8A%A5%E9%94%99torch-nn-modules-conv-pyline-456-in-_conv_forward-return-f-conv2dinputweightbiasself-stride-runtimeerror-expected-scalar-type-byte-but-found-float/",
# ]
# wrong = '''
# output = model(image)  # of read_image(), or torch.from_numpy(array)
# '''
# right = '''
# output = model(image.float() / 255)  # then Normalize() as in training, if there is one
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The data was read without ToTensor(), for example by torchvision.io.read_image(), which returns
uint8 (docs: torchvision.io.read_image).

The weights are float32, and no layer converts its input. The message depends on the layer. On the
CPU, a convolution without a bias expects Byte but finds Float (pytorch#64145). A Linear reports the
same or, in newer releases, that mat1 and mat2 are Byte and Float. Autocast does not convert
integers either. Under autocast, the message names BFloat16 or Half instead of Float, and the
corrected line is still right. For a model in another dtype, convert the quotient to that dtype.

The common advice is to call only float(). This removes the error, but the values are then between 0
and 255. A model that was trained on ToTensor() images has seen values between 0 and 1 (docs:
torchvision.transforms.ToTensor). Here the convolution's output is 255 times too large. Divide only
once: ToTensor() divides a uint8 image, but not a float image. Arrays from PIL or cv2 also need
permute(2, 0, 1), and cv2's channels are blue, green and red.
"""

import torch


def start(device):
    model = torch.nn.Conv2d(3, 2, 1).to(device)
    torch.nn.init.zeros_(model.bias)
    image = torch.arange(48, dtype=torch.uint8, device=device).view(1, 3, 4, 4)
    return model, image


def check(output, model, image):
    expected = torch.einsum("oc,bchw->bohw", model.weight[:, :, 0, 0], image / 255)
    if not torch.allclose(output, expected, atol=0.01):
        return f"the output is {output.norm() / expected.norm():.0f} times too large"


def reproduce(device):
    model, image = start(device)
    try:
        output = model(image)  # of read_image(), or torch.from_numpy(array)
    except RuntimeError as error:
        return str(error)
    return check(output, model, image)


def control(device):
    model, image = start(device)
    output = model(image.float() / 255)  # then Normalize() as in training, if there is one
    return check(output, model, image)


def messages(device):
    texts = []
    for layer in (torch.nn.Conv2d(3, 2, 1, bias=False), torch.nn.Linear(4, 2)):
        try:
            layer.to(device)(start(device)[1])
        except RuntimeError as error:
            texts.append(str(error))
    return "\n".join(texts)


def popular_fix(device):
    model, image = start(device)
    return check(model(image.float()), model, image)


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
