from torch.optim.lr_scheduler import ExponentialLR, MultiStepLR, StepLR


def step_in_the_batch_loop(model, train_loader, optimizer, epochs):
    scheduler = StepLR(optimizer, step_size=30, gamma=0.1)
    for epoch in range(epochs):
        for x in train_loader:
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
            scheduler.step()  # finds step_lr_counts_batches


def milestones_in_the_batch_loop(model, train_loader, optimizer, epochs):
    scheduler = MultiStepLR(optimizer, milestones=[30, 60, 80])
    for epoch in range(epochs):
        for i, x in enumerate(train_loader):
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
            scheduler.step()  # finds step_lr_counts_batches


def one_epoch(model, train_loader, optimizer, scheduler):
    for x in train_loader:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
        scheduler.step()  # finds step_lr_counts_batches


def several_epochs(model, train_loader, optimizer, args):
    scheduler = ExponentialLR(optimizer, gamma=0.9)
    for epoch in range(args.epochs):
        one_epoch(model, train_loader, optimizer, scheduler)


def right_per_epoch(model, train_loader, optimizer, epochs):
    scheduler = StepLR(optimizer, step_size=30)
    for epoch in range(epochs):
        for x in train_loader:
            optimizer.step()
        scheduler.step()


def right_in_batches(model, train_loader, optimizer, epochs):
    scheduler = StepLR(optimizer, step_size=30 * len(train_loader))
    for epoch in range(epochs):
        for x in train_loader:
            optimizer.step()
            scheduler.step()


def many_batches(model, train_loader, optimizer, epochs):
    scheduler = StepLR(optimizer, step_size=5000)
    slow = ExponentialLR(optimizer, gamma=0.9999)
    for epoch in range(epochs):
        for x in train_loader:
            optimizer.step()
            scheduler.step()
            slow.step()


def after_the_last_batch(model, train_loader, optimizer, epochs):
    scheduler = StepLR(optimizer, step_size=30)
    for epoch in range(epochs):
        for i, x in enumerate(train_loader):
            optimizer.step()
            if i == len(train_loader) - 1:
                scheduler.step()


def without_epochs(model, train_loader, optimizer):
    scheduler = StepLR(optimizer, step_size=30)
    for x in train_loader:
        optimizer.step()
        scheduler.step()
