import torch
from torch.utils.data import DataLoader


def trains(model, loader, device):
    for images, labels in loader:
        images.to(device)  # finds to_without_assignment
        labels.cuda()  # finds to_without_assignment
        model(images)


def numbers_its_batches(model, train_loader, device):
    for i, (images, labels) in enumerate(train_loader):
        images.to(device)  # finds to_without_assignment
        labels = labels.to(device)


def makes_its_own(device):
    noise = torch.randn(3, 4)
    noise.to(device)  # finds to_without_assignment
    return noise


def assigns(model, loader, device):
    for images, labels in loader:
        images = images.to(device)
        model.to(device)


def keeps_the_batch_whole(loader, device):
    for batch in loader:
        batch.to(device)
    for i, batch in enumerate(loader):
        batch.to(device)


def moves_modules(model, tokenizer, device):
    for name, layer in model.named_children():
        layer.to(device)
    inputs = tokenizer("a text")
    inputs.to(device)


def moves_what_it_is_given(data, device):
    data.to(device)


class Layer(torch.nn.Module):
    def forward(self, x, adjacency, scores, encoding):
        assert adjacency.shape[0] == x.shape[0]
        x.to(self.device)  # finds to_without_assignment
        adjacency.float()  # finds to_without_assignment
        encoding.to(self.device)
        self.layer.to(self.device)
        scores = scores.float()
        return self.layer(x, adjacency) + self.text(**encoding) + scores.mean()


def moves_parts_of_a_batch(model, train_loader, table):
    for i, batch in enumerate(train_loader):
        batch["image"].to("cuda")  # finds to_without_assignment
        table["model"].to("cuda")
        model(batch["image"])
