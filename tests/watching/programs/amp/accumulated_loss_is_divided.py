import torch

WINDOW = 4


def run(device, reports_the_divided):
    model, total = torch.nn.Linear(4, 2).to(device), 0.0
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for number in range(1, 13):
        x, y = torch.randn(8, 4, device=device), torch.randint(2, (8,), device=device)
        loss = torch.nn.functional.cross_entropy(model(x), y)
        divided = loss / WINDOW
        divided.backward()
        if number % WINDOW == 0:
            optimizer.step()
            optimizer.zero_grad()
        total += (divided if reports_the_divided else loss).item()


def reproduce(device):
    run(device, reports_the_divided=True)


def control(device):
    run(device, reports_the_divided=False)
