import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Pipeline:
    def __init__(self, first, second, use_cuda):
        if use_cuda:
            self.encoder = torch.load(first).cuda()
            self.decoder = torch.load(second)
        else:
            self.encoder = torch.load(first)  # finds cuda_checkpoint_needs_map_location
            self.decoder = torch.load(second)  # finds cuda_checkpoint_needs_map_location


def load_net(path):
    return torch.load(path)  # finds cuda_checkpoint_needs_map_location


def load_internet_pages(path):
    return torch.load(path)


def only_on_a_gpu(model, name, path):
    if name == "large":
        model.cuda()
    model.load_state_dict(torch.load(path))
    return model


def on_both(model, use_gpu, path):
    if not use_gpu:
        model.load_state_dict(torch.load(path, map_location="cpu"))
    else:
        model.load_state_dict(torch.load(path))
    return model


def moves_if_it_can(model, use_gpu, path):
    if use_gpu:
        model.cuda()
    model.load_state_dict(torch.load(path))  # finds cuda_checkpoint_needs_map_location
    return model
