from torch import nn
from transformers import AutoModelForCausalLM


def accumulates(model, loader, optimizer, accumulation_steps):
    criterion = nn.CrossEntropyLoss(ignore_index=0)
    other = nn.CrossEntropyLoss()
    for number, (x, y) in enumerate(loader, 1):
        loss = criterion(model(x).flatten(0, 1), y.flatten())
        loss = loss / accumulation_steps  # finds accumulation_averages_unequal_means
        loss.backward()
        image_loss = other(model(x), y) / accumulation_steps
        image_loss.backward()
        if number % accumulation_steps == 0 or number == len(loader):
            optimizer.step()
            optimizer.zero_grad()


def accumulates_in_place(loader, optimizer, args):
    model = AutoModelForCausalLM.from_pretrained("name")
    for number, (ids, labels) in enumerate(loader, 1):
        outputs = model(ids, labels=labels)
        loss = outputs.loss
        loss /= args.gradient_accumulation_steps  # finds accumulation_averages_unequal_means
        loss.backward()
        if number % args.gradient_accumulation_steps == 0 or number == len(loader):
            optimizer.step()
            optimizer.zero_grad()


def halves(model, loader, optimizer):
    criterion = nn.CrossEntropyLoss(ignore_index=0)
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y) / 2
        loss.backward()
        optimizer.step()
