import torch


def validates(model, batches):
    model.eval()
    outputs = []
    for batch in batches:
        outputs.append(model(batch))  # finds validation_keeps_its_graphs
    return torch.cat(outputs)


class Evaluation:
    def run(self, batches):
        self.model.eval()
        logits = []
        for batch in batches:
            output = self.model(batch)
            logits.append(output)  # finds validation_keeps_its_graphs
        return logits


def validates_without_grad(model, batches):
    model.eval()
    outputs = []
    with torch.no_grad():
        for batch in batches:
            outputs.append(model(batch))
    return torch.cat(outputs)


def validates_and_detaches(model, batches):
    model.eval()
    outputs = []
    for batch in batches:
        outputs.append(model(batch).detach())
    return torch.cat(outputs)


def attacks(model, batches):
    model.eval()
    outputs = []
    for batch in batches:
        output = model(batch)
        output.sum().backward()
        outputs.append(output)
    return outputs


def is_given_gradients_later(model, teacher, batches):
    teacher.eval()
    outputs = []
    for batch in batches:
        outputs.append(model(batch))
    return torch.cat(outputs)


class Detector:
    def prepare(self, pictures, preprocess):
        self.eval()
        prepared = []
        for picture in pictures:
            prepared.append(preprocess(picture))
        return prepared


def saliency(model, batches):
    model.eval()
    outputs = []
    for batch in batches:
        outputs.append(model(batch).sum())
        outputs.append(model(batch))
    return torch.autograd.grad(sum(one.sum() for one in outputs), batches)


def predicts(model, batches):
    model.eval()
    outputs = []
    for batch in batches:
        outputs.append(model(batch))
    return outputs


@torch.inference_mode()
def serves(model, batches):
    return predicts(model, batches)


def begins_with_an_empty_card(args):
    torch.cuda.empty_cache()
    gc.collect()
    train(args)


def emptied_again_in_the_next_pass(model, batches):
    for x in batches:
        y = model(x)
        del y
        torch.cuda.empty_cache()
        gc.collect()


def emptied_again_further_on(model, x):
    y = model(x)
    del y
    torch.cuda.empty_cache()
    gc.collect()
    if model.large:
        torch.cuda.empty_cache()


def makes_them_smaller(paths):
    models = []
    for path in paths:
        model = torch.load(path, weights_only=False)
        model.eval()
        models.append(model.half())
    return models


class Decodes(torch.nn.Module):
    def predict(self, batches):
        self.eval()
        texts = []
        for batch in batches:
            texts.append(self.tokenizer.decode(batch))
        return texts
