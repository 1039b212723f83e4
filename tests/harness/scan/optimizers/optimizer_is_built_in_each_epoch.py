import torch


def trains(model, loader, criterion):
    for epoch in range(3):
        optimizer = torch.optim.Adam(model.parameters())  # finds optimizer_is_built_in_each_epoch
        for x, y in loader:
            loss = criterion(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def trains_with_sgd(model, loader, criterion, args):
    for epoch in range(args.epochs):
        opt = torch.optim.SGD(  # finds optimizer_is_built_in_each_epoch
            model.parameters(), lr=0.1, momentum=0.9
        )
        for x, y in loader:
            loss = criterion(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()


def has_nothing_to_lose(model, loader, criterion):
    for epoch in range(3):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x, y in loader:
            criterion(model(x), y).backward()
            optimizer.step()
            optimizer.zero_grad()


def begins_anew(build, loader, criterion):
    for epoch in range(3):
        model = build()
        optimizer = torch.optim.Adam(model.parameters())
        for x, y in loader:
            criterion(model(x), y).backward()
            optimizer.step()
            optimizer.zero_grad()


def changes_at_a_milestone(model, loader, criterion):
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(30):
        if epoch == 10:
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        for x, y in loader:
            criterion(model(x), y).backward()
            optimizer.step()
            optimizer.zero_grad()


def train_critic(gan, loader):
    critic = gan.critic
    optimizer = torch.optim.Adam(critic.parameters())  # finds optimizer_is_built_in_each_epoch
    for x in loader:
        optimizer.zero_grad()
        critic(x).mean().backward()
        optimizer.step()


def train_once(model, loader):
    optimizer = torch.optim.Adam(model.parameters())
    for x in loader:
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()


def alternate(gan, loader, build):
    for epoch in range(9):
        train_critic(gan, loader)
        model = build()
        train_once(model, loader)


class Trainer:
    def train(self, loader, epochs):
        optimizer = torch.optim.Adam(self.model.parameters())
        for epoch in range(epochs):
            self.model.train()
            for x in loader:
                optimizer.zero_grad()
                self.model(x).mean().backward()
                optimizer.step()


def from_an_epoch_on(model, loader, train_one, train_two, args):
    optimizer = torch.optim.Adam(model.parameters())
    for i in range(args.epochs):
        if i + 1 >= args.second_stage:
            optimizer = torch.optim.Adam([{"params": model.head_params(), "lr": 0.1}])  # finds optimizer_is_built_in_each_epoch
        train_one(model, loader, optimizer)
    optimizer = torch.optim.Adam(model.parameters())
    for i in range(args.epochs):
        if i + 1 == args.second_stage:
            optimizer = torch.optim.Adam(model.head.parameters())
        train_two(model, loader, optimizer)
