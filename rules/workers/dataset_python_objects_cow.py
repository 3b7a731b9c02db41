"""Python objects that forked workers copy page by page."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.loaders.start_method import start_methods
from accel_advisor.rule import Rule, also_at


class DatasetPythonObjectsCow(Rule):
    """Forked workers copy a long list of Python objects, page by page, until each has one of its own.

    What it does
        Finds a data set that keeps a list or dict of Python objects, in a DataLoader with forked worker processes.

    Why it costs time
        Forked workers share the memory of the main process until one of them writes to it, and looking at a Python
        object writes its reference count. In the course of an epoch every worker gets a copy of the whole list: memory
        grows with the number of workers, and copying pages takes time. How long the list is, a linter cannot know.

    Example
        from pathlib import Path
        from torch.utils.data import DataLoader, Dataset

        class Texts(Dataset):
            def __init__(self, root):
                self.files = sorted(Path(root).glob("*.txt"))
            def __len__(self):
                return len(self.files)
            def __getitem__(self, index):
                return self.files[index].read_text()

        loader = DataLoader(Texts("texts"), batch_size=64, num_workers=2)

    Use instead
        from pathlib import Path
        import numpy as np
        from torch.utils.data import DataLoader, Dataset

        class Texts(Dataset):
            def __init__(self, root):
                self.files = np.array([str(path) for path in Path(root).glob("*.txt")])
            def __len__(self):
                return len(self.files)
            def __getitem__(self, index):
                return Path(self.files[index]).read_text()

        loader = DataLoader(Texts("texts"), batch_size=64, num_workers=2)

    When to ignore it
        Where the list has some thousand entries. The rule is silent where workers are not forked.

    References
        - https://docs.pytorch.org/docs/stable/data.html#multi-process-data-loading
        - https://github.com/pytorch/pytorch/issues/13246
    """

    code = "ACC121"
    name = "dataset-python-objects-cow"
    severity = Severity.INFO
    enabled = False

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each loader once, at the first attribute of its data set."""
        for loader in facts.loaders:
            objects = loader.dataset.objects if loader.dataset is not None else ()
            if not objects or not (loader.fixed_workers or 0) > 0 or not start_methods(facts, loader).forks:
                continue
            held = objects[0]
            claim = (
                f"the workers of `{loader.label}` copy the Python objects in `self.{held.name}` of `{held.cls.name}`, "
                "one page after the other"
            )
            remedy = "keep them in an array of numpy or arrow if they are many"
            document = held.cls.document
            related = [also_at(document, held.node, "kept here")]
            yield self.finding(facts, loader.node, claim, remedy, related=related)
