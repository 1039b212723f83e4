# Read as text by the tests of the rules, never run: it does not run where there is no GPU.
import torch
from models import Net


def resume(args):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = Net().to(device)
    model.load_state_dict(torch.load(args.resume))
    torch.save(model.state_dict(), args.out)


if __name__ == "__main__":
    torch.set_default_tensor_type("torch.cuda.FloatTensor")
