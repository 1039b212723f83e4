import torch


def resume(model, optimizer, args):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if args.resume:
        model.load_state_dict(torch.load(args.resume))  # finds cuda_checkpoint_needs_map_location
        saved = torch.load(args.state)  # finds cuda_checkpoint_needs_map_location
        optimizer.load_state_dict(saved["optimizer"])
        model.load_state_dict(torch.load(args.resume, map_location=device))
        model.load_state_dict(torch.load(args.resume, "cpu"))
        model.head.load_state_dict(torch.load(args.head))
        model.net.load_state_dict(torch.load(args.net))  # finds cuda_checkpoint_needs_map_location
    scores = torch.load(args.scores)
    if device == "cuda" and torch.cuda.is_available():
        optimizer.load_state_dict(torch.load(args.state))
    return scores


def train(model, loss, optimizer):
    loss.backward()
    torch.save(model.state_dict(), "best.pt")
    model.load_state_dict(torch.load("best.pt"))


def fit(model, args, optimizer):
    path = train(model, args.loss, optimizer)
    model.load_state_dict(torch.load(path))


def another_class_may_load_it_itself(predictor):
    predictor.load_state_dict("weights/predictor.pth")


def of_another_name(discriminator):
    discriminator.load_state_dict("discriminator.bin")  # finds load_state_dict_of_a_path


def nothing_in_the_other_branch(model, path):
    if os.path.isfile(path):
        state = torch.load(path, map_location="cpu")
    else:
        state = ""
    if state:
        model.load_state_dict(state)


def load_checkpoint(path):
    return torch.load(path)  # finds cuda_checkpoint_needs_map_location


def load_vectors(path):
    return torch.load(path)


def start(model, args):
    checkpoint = torch.load(args.start)  # finds cuda_checkpoint_needs_map_location
    vectors = torch.load(args.vectors)
    return checkpoint["epoch"], vectors
