from layers import functional
from torch.nn.utils import weight_norm


class Net:
    def forward(self, x):
        return self.head.forward(x)  # finds forward_called_by_name

    def again(self, x):
        return self.forward(x)


class Wide(Net):
    def forward(self, x):
        return super().forward(x) + Net.forward(self, x)


def predicts(model, x):
    model = weight_norm(model)
    return model.forward(x)  # finds forward_called_by_name


def calls(model, x):
    return model(x) + functional.forward(x)


class Fused:
    @staticmethod
    def forward(ctx, x):
        global extension
        extension = load("extension")
        return extension.forward(x)


def predicts_on_a_device(model, x):
    model = model.to("cuda")
    return model.forward(x)  # finds forward_called_by_name
