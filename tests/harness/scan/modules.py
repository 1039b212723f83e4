# ruff: noqa
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn import BatchNorm2d, Linear, ModuleList, Sequential
from torch.optim import SGD, Adam

from .blocks import Block, Identity, Mish, Rearrange

# --- functional_dropout_in_eval_mode --------------------------------------------------------------


class Drops(nn.Module):
    def __init__(self, p, rate=0.0):
        super().__init__()
        self.p = p
        self.rate = rate
        self.lin = nn.Linear(2, 2)

    def forward(self, x):
        x = F.dropout(x, p=self.p)  # finds functional_dropout_in_eval_mode
        x = F.dropout(x, self.p, self.training)
        x = torch.dropout(x, self.p, self.training)
        x = F.alpha_dropout(x, 0.1)
        x = F.dropout(x, p=0.0)
        x = F.dropout(x, p=self.rate)
        x = F.dropout(x, self.p, **self.options)
        if self.training and self.p:
            x = F.dropout(x, self.p)
        x = F.dropout(x, self.p) if self.training else x
        x = nn.Dropout(0.5)(x)  # finds functional_dropout_in_eval_mode
        return self.noisy(x)

    def pool(self, x):
        rate = self.p if self.training else 0.0
        x = F.dropout2d(x, rate)
        return torch.nn.functional.dropout2d(x)  # finds functional_dropout_in_eval_mode

    def late(self, x):
        if not self.training:
            return x
        return F.dropout(x, self.p)

    def noisy(self, x):
        return self.late(self.masked(x) if self.training else x)

    def attend(self, x, dropout):
        return F.dropout(x, dropout)

    def masked(self, x):
        return F.dropout(x, 0.1)

    @torch.no_grad()
    def sample(self, x):
        return F.dropout(x, 0.1)

    def training_step(self, x):
        return F.dropout(x, 0.1)


class Given(nn.Module):
    def __init__(self, rate=0.0):
        super().__init__()
        self.rate = rate
        self.inner = None if rate else Given(0.1)

    def forward(self, x):
        return F.dropout(x, self.rate)  # finds functional_dropout_in_eval_mode


class Renamed(nn.Module):
    def __init__(self):
        super(Original, self).__init__()

    def forward(self, x):
        return F.dropout(x, 0.5)


class Prenet(nn.Module):
    def forward(self, x):
        return F.dropout(x, 0.5)


class Uncertain(nn.Module):
    def forward(self, x, samples=8):
        return torch.stack([F.dropout(x, 0.1) for _ in range(samples)])

    def augmented(self, x):
        return F.dropout(x, 0.1)


class Views(nn.Module):
    def augmented(self, x):
        return F.dropout(x, 0.1), F.dropout(x, 0.1)


def augment(x):
    return F.dropout(x, 0.5)


# --- layers_in_a_list_never_train -----------------------------------------------------------------


class Listed(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.layers = [nn.Linear(2, 2) for _ in range(depth)]  # finds layers_in_a_list_never_train
        self.heads = {"a": Linear(2, 1)}  # finds layers_in_a_list_never_train
        self.late = []  # finds layers_in_a_list_never_train
        for _ in range(depth):
            layer = nn.Sequential(nn.Conv2d(2, 2, 3), nn.ReLU())
            self.late.append(layer)
        self.blocks = [Listed(0), Listed(0)]  # finds layers_in_a_list_never_train
        self.first = nn.Linear(2, 2)
        self.order = [self.first]
        self.functions = [nn.ReLU(), nn.Tanh()]
        self.unused = [nn.Linear(2, 2)]
        self.foreign = [Block(2)]

    def forward(self, x):
        for layer in self.layers + self.late + self.blocks + self.order + self.foreign:
            x = layer(x)
        for function in self.functions:
            x = function(x)
        return self.heads["a"](x)


class Kept(Listed):
    def __init__(self):
        super().__init__(1)
        layers = []
        layers.append(nn.Linear(2, 2))
        self.layers = layers  # finds layers_in_a_list_never_train

    def forward(self, x):
        return self.layers[0](x)


class Registered(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(2, 2), nn.Linear(2, 2)]
        self.net = nn.Sequential(*self.layers)
        parts = []
        parts.append(nn.Linear(2, 2))
        self.parts = nn.ModuleList(parts)

    def forward(self, x):
        return self.net(x) + self.layers[0](x) + self.parts[0](x)


class Added(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = []
        for number in range(3):
            layer = nn.Linear(2, 2)
            self.add_module(f"layer{number}", layer)
            self.layers.append(layer)

    def forward(self, x):
        return self.layers[0](x)


class InAContainerOfItsOwn(nn.Module):
    def __init__(self):
        super().__init__()
        layers = []
        layers.append(nn.Linear(2, 2))
        self.layers = layers
        self.block = Block(layers)

    def forward(self, x):
        return self.block(x) + self.layers[0](x)


class Student(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.teacher = [Listed(1)]

    def forward(self, x):
        with torch.no_grad():
            wanted = self.teacher[0](x)
        return self.layer(x), wanted


class Hidden(nn.Module):
    def __init__(self):
        super().__init__()
        self.filter = [nn.Conv1d(1, 1, 3)]
        self.filter[0].requires_grad_(False)

    def forward(self, x):
        return self.filter[0](x)


class Plain:
    def __init__(self):
        self.layers = [nn.Linear(2, 2)]

    def run(self, x):
        return self.layers[0](x)


# --- multiplied_list_shares_one_layer -------------------------------------------------------------


class Gate(nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(x)


def stacks(n, layer):
    ModuleList([nn.Linear(2, 2)] * n)  # finds multiplied_list_shares_one_layer
    Sequential(Block(1), *([Block(2)] * (n - 1)))  # finds multiplied_list_shares_one_layer
    layers = 3 * [nn.LSTM(2, 2), nn.ReLU()]  # finds multiplied_list_shares_one_layer
    nn.ModuleList(layers)
    share_layers = n > 3
    if share_layers:
        nn.ModuleList([nn.Linear(2, 2)] * n)
    nn.ModuleList([nn.ReLU()] * n)
    nn.ModuleList([Identity()] * n)
    nn.ModuleList([Gate()] * n)
    Sequential(*[Mish()] * n, *[Rearrange("b c -> c b")] * n)
    nn.ModuleList([nn.Linear(2, 2)] * 1)
    nn.ModuleList([layer] * n)
    nn.ModuleList([nn.Linear(2, 2) for _ in range(n)])
    return [nn.Linear(2, 2)] * n


# --- parameters_are_used_up -----------------------------------------------------------------------


def configure(model, kind):
    trainable = filter(lambda p: p.requires_grad, model.parameters())
    print(sum(p.numel() for p in trainable))
    return SGD(trainable, lr=0.1)  # finds parameters_are_used_up


def two(model):
    params = model.parameters()
    first = SGD(params, lr=0.1)
    second = Adam([{"params": params, "lr": 0.1}])  # finds parameters_are_used_up
    return first, second


def looked_at(model):
    params = (p for p in model.parameters() if p.requires_grad)
    for param in params:
        print(param.shape)
    return torch.optim.AdamW(params)  # finds parameters_are_used_up


def kept(model, kind):
    trainable = list(filter(lambda p: p.requires_grad, model.parameters()))
    print(len(trainable), sum(p.numel() for p in trainable))
    return SGD(trainable, lr=0.1)


def looks_at_the_first(model):
    params = model.parameters()
    for param in params:
        print(param.device)
        break
    return SGD(params, lr=0.1)


def branches(model, kind):
    params = model.parameters()
    if kind == "sgd":
        optimizer = SGD(params, lr=0.1)
    elif kind == "adam":
        optimizer = Adam(params)
    return optimizer


def returns(model, kind):
    params = model.parameters()
    if kind == "sgd":
        return SGD(params, lr=0.1)
    return Adam(params)


def again(model):
    params = model.parameters()
    print(sum(p.numel() for p in params))
    params = model.parameters()
    return SGD(params, lr=0.1)


# --- batchnorm_momentum_of_tensorflow, batchnorm_with_momentum_zero -------------------------------

DECAY = 0.997


def norms(momentum):
    nn.BatchNorm1d(2, eps=1e-3, momentum=0.99)  # finds batchnorm_momentum_of_tensorflow
    BatchNorm2d(2, 1e-3, DECAY)  # finds batchnorm_momentum_of_tensorflow
    nn.BatchNorm1d(2, momentum=0)  # finds batchnorm_with_momentum_zero
    nn.SyncBatchNorm(2, 1e-3, 0.0)  # finds batchnorm_with_momentum_zero
    nn.BatchNorm1d(2, momentum=0.01)
    nn.BatchNorm1d(2, momentum=1 - 0.99)
    nn.BatchNorm1d(2, momentum=None)
    nn.BatchNorm1d(2, momentum=momentum)
    nn.BatchNorm1d(2, momentum=1)
    nn.BatchNorm1d(2, momentum=0, track_running_stats=False)
    nn.BatchNorm1d(2, momentum=0.99, track_running_stats=False)
    nn.LazyBatchNorm1d(momentum=0.1)


# --- softmax_without_dim --------------------------------------------------------------------------


def attend(q, k, d):
    scores = torch.bmm(q, k.transpose(1, 2)) / d**0.5
    first = F.softmax(scores)  # finds softmax_without_dim
    second = nn.Softmax()(q.view(d, -1, 3))  # finds softmax_without_dim
    third = F.softmax(scores, dim=-1)
    fourth = F.log_softmax(q)
    fifth = F.softmax(q.view(d, -1))
    sixth = nn.Softmax(dim=1)(scores)
    return first, second, third, fourth, fifth, sixth


# --- layer_before_super_init ----------------------------------------------------------------------


class Late(nn.Module):
    def __init__(self, width):
        self.width = width
        self.layer = Linear(width, 2)  # finds layer_before_super_init
        super().__init__()


class Never(nn.Module):
    def __init__(self):
        self.scale = nn.Parameter(torch.ones(1))  # finds layer_before_super_init


class Early(nn.Module):
    def __init__(self, width):
        self.width = width
        nn.Module.__init__(self)
        self.layer = nn.Linear(width, 2)


class InAnotherMethod(nn.Module):
    def __init__(self):
        self.begin()
        self.layer = nn.Linear(2, 2)

    def begin(self):
        super().__init__()


class Mixed(Block):
    def __init__(self):
        self.layer = nn.Linear(2, 2)


class Trainer:
    def __init__(self):
        self.model = nn.Linear(2, 2)
        super().__init__()


# --- init_is_misspelt, forward_is_misspelt --------------------------------------------------------


class Misspelt(nn.Module):
    def _init_(self):  # finds init_is_misspelt
        super()._init_()
        self.layer = nn.Linear(2, 2)

    def foward(self, x):  # finds forward_is_misspelt
        return self.layer(x)


class Integer(nn.Module):
    def __int__(self):  # finds init_is_misspelt
        super().__int__()
        self.layer = nn.Linear(2, 2)

    def Forward(self, x):  # finds forward_is_misspelt
        return self.layer(x)


class Indented(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

        def forward(self, x):  # finds forward_is_misspelt
            return self.layer(x)


class Replaced(nn.Module):
    def __init__(self, old):
        super().__init__()

        def forward(x):
            return old(x)

        self.forward = forward


class Right(nn.Module):
    def __init__(self):
        super().__init__()
        self._init_()

    def _init_(self):
        self.layer = nn.Linear(2, 2)

    def __int__(self):
        return 3

    def forward(self, x):
        return self.forwards(x)

    def forwards(self, x):
        return self.layer(x)


class Rewarded(nn.Module):
    def reward(self, x):
        return x

    def forward_(self, x):
        return x


# --- module_list_is_called ------------------------------------------------------------------------


class Called(nn.Module):
    def __init__(self, deep):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 2)])
        self.net = nn.Sequential(nn.Linear(2, 2))
        self.mid = nn.ModuleList([nn.Linear(2, 2)])
        self.head = nn.ModuleList() if deep else nn.Linear(2, 2)
        self.tail = nn.Linear(2, 2)
        if deep:
            self.tail = nn.ModuleList([nn.Linear(2, 2)])

    def forward(self, x):
        x = self.layers(x)  # finds module_list_is_called
        x = self.layers[0](x)
        return self.tail(self.head(self.mid(self.net(x))))

    def inference(self, x):
        return self.layers(x)


def convert(model):
    model.mid = Block(2)
    layers = ModuleList([nn.Linear(2, 2)])
    print(len(layers))
    return layers(torch.ones(2))  # finds module_list_is_called


# --- view_of_a_permuted_tensor --------------------------------------------------------------------


def views(n, other):
    x = torch.zeros(n, n, n, n)
    x.transpose(1, 2).view(n, -1)  # finds view_of_a_permuted_tensor
    x.permute(0, 2, 3, 1).view(-1)  # finds view_of_a_permuted_tensor
    y = x.transpose(-1, -2)
    y.view(-1)  # finds view_of_a_permuted_tensor
    x.permute(0, 2, 3, 1).view(n, -1, 3)
    x.permute(0, 2, 1).view(n, 3, 4, 5)
    x.transpose(1, 2).contiguous().view(n, -1)
    x.transpose(1, 2).reshape(n, -1)
    x.transpose(1, 2).transpose(1, 2).view(n, -1)
    x.transpose(0, 1).view(torch.int32)
    x.permute(n, 1, 2).view(-1)
    x.transpose(0, 999999).view(1, 2)
    x.t().view(-1)
    other.transpose(1, 2).view(n, -1)
    total = (other.permute(0, 2, 1) + x).permute(0, 2, 1)
    total.view(n, -1)
    halves = x * 0.5
    halves.transpose(1, 2).view(n, -1)  # finds view_of_a_permuted_tensor


class RaisesBeforeItsLayer(nn.Module):
    def __init__(self):
        super().init()
        self.layer = nn.Linear(2, 2)
