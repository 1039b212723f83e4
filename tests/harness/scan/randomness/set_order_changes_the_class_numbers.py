import json
import torch


def classes_of(labels, model):
    torch.save(model.state_dict(), "model.pt")
    return {k: i for i, k in enumerate(set(labels))}  # finds set_order_changes_the_class_numbers


def words_of(text):
    words = list(set(text.split()))
    return {word: i for i, word in enumerate(words)}  # finds set_order_changes_the_class_numbers


def numbers_of_ids(user_ids):
    return {user: i for i, user in enumerate(set(user_ids))}


def sorted_words(text):
    return {word: i for i, word in enumerate(sorted(set(text.split())))}


def sorted_in_place(text):
    vocabulary = list(set(text.split()))
    vocabulary.sort()
    return {word: i for i, word in enumerate(vocabulary)}


def written_out(labels, file):
    numbers = {name: i for i, name in enumerate(set(labels))}
    json.dump(numbers, file)
    return numbers


def tags_of(labels):
    return {tag: i for i, tag in enumerate(set(labels))}


def saved_by_the_caller(labels, model):
    tags = tags_of(labels)
    torch.save({"tags": tags, "model": model.state_dict()}, "tagger.pt")


def no_numbers(labels):
    return {name: len(name) for i, name in enumerate(set(labels))}
