# Read as text by the tests of the rules, never run.
import logging

import torch


def skips_the_batch(step, batch):
    try:
        return step(batch)
    except RuntimeError as error:
        if "out of memory" in str(error):  # finds library_texts_are_missed
            return None
        raise


def tries_the_cpu(step, batch):
    try:
        return step(batch)
    except torch.cuda.OutOfMemoryError:  # finds library_texts_are_missed
        return step(batch.to("cpu"))


def is_for_memory(error):
    text = error.args[0]
    return "CUDA out of memory" in text  # finds library_texts_are_missed


def knows_cublas(error):
    text = str(error)
    return "out of memory" in text or "CUBLAS_STATUS_ALLOC_FAILED" in text


def only_reports(step, batch):
    try:
        return step(batch)
    except RuntimeError as error:
        if "out of memory" in str(error):
            logging.error("a smaller batch may fit")
        raise


def catches_the_rest_too(step, batch):
    try:
        return step(batch)
    except torch.cuda.OutOfMemoryError:
        return None
    except RuntimeError:
        return None


def lets_it_through(step, batch):
    try:
        return step(batch)
    except torch.cuda.OutOfMemoryError:
        raise


def test_of_an_error(step, batch):
    try:
        step(batch)
    except RuntimeError as error:
        print("out of memory" in str(error))


def tries_half(step, batch):
    try:
        return step(batch)
    except torch.cuda.OutOfMemoryError:  # finds library_texts_are_missed
        return step(batch[::2])  # finds retry_inside_except


def tries_half_after_emptying(step, batch):
    try:
        loss = step(batch)
    except RuntimeError:
        torch.cuda.empty_cache()
        loss = step(batch[::2])  # finds retry_inside_except
    return loss


def tries_half_outside(step, batch):
    try:
        return step(batch)
    except torch.cuda.OutOfMemoryError:  # finds library_texts_are_missed
        torch.cuda.empty_cache()
    return step(batch[::2])


def tries_on_the_cpu(step, batch):
    try:
        return step(batch, "cuda")
    except RuntimeError:
        torch.cuda.empty_cache()
        return step(batch, "cpu")


def tries_after_another_error(step, batch):
    try:
        return step(batch)
    except RuntimeError:
        return step(batch[0])


def logs_again(say, batch, step):
    try:
        print_now(batch)
        step(batch)
    except RuntimeError:
        torch.cuda.empty_cache()
        print_now("out of memory")


def print_now(text):
    print(text, flush=True)


def tells_of_the_failure(results, report, step, batch):
    try:
        results.put(step(batch))
        report(step(batch))
    except torch.cuda.OutOfMemoryError:  # finds library_texts_are_missed
        results.put((None, batch))
        report("out of memory")


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
        model = torch.load(path)
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
