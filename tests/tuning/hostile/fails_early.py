"""Ends in an error of its own."""


def prepare(path):
    with open(path) as file:
        return file.read()


prepare("missing.json")
