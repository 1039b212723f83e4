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


def tries_half_outside(step, batch):
    try:
        return step(batch)
    except torch.cuda.OutOfMemoryError:  # finds library_texts_are_missed
        torch.cuda.empty_cache()
    return step(batch[::2])


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
