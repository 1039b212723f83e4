import torch


def trains(model, train_loader, val_loader, criterion, optimizer):
    for x, y in train_loader:
        criterion(model(x), y).backward()
        optimizer.step()
        optimizer.zero_grad()
        with torch.no_grad():
            for x, y in val_loader:
                criterion(model(x), y)  # finds eval_is_forgotten


@torch.no_grad()
def tests(net, test_loader):
    return [net(x).argmax(1) for x, _ in test_loader] + [
        net(x) for x in test_loader
    ]


class Learner:
    @torch.no_grad()
    def validate(self, data):
        for i, (x, y) in enumerate(self.valid_loader):
            output = self.model(x)  # finds eval_is_forgotten
        return output

    @torch.no_grad()
    def measure_the_training_set(self):
        for x, y in self.train_loader:
            self.model(x)


class Encoder(nn.Module):
    def forward(self, x):
        self.train()  # finds eval_is_forgotten
        return self.net(x)

    def fit(self, x):
        self.train()
        return self(x)


@torch.no_grad()
def asks_a_detector_for_its_losses(model, val_loader):
    for images, targets in val_loader:
        loss_dict = model(images, targets)
    for images, targets in val_loader:
        loss_dict: dict = model(images, targets)
    return loss_dict


def measures(model, test_loader, criterion):
    total = 0.0
    for x, y in test_loader:
        total += criterion(model(x), y).item()  # finds eval_is_forgotten
    return total


def adapts(model, test_loader, criterion, optimizer):
    for x, y in test_loader:
        criterion(model(x), y).backward()
        optimizer.step()
