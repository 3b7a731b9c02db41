"""Files that are opened before the workers start."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Related, Severity
from accel_advisor.records.dataset_facts import VetoKind
from accel_advisor.records.facts import Facts, LoaderCall
from accel_advisor.records.queries.loaders.start_method import start_methods
from accel_advisor.rule import Rule, also_at


class DatasetHandleOpenedBeforeWorkers(Rule):
    """A data set opens a file in `__init__` and reads from it in workers, which then share one handle.

    What it does
        Finds an open file, HDF5 file, archive or database connection that a data set keeps from `__init__` on and reads
        in `__getitem__`, at a DataLoader with worker processes.

    Why it costs time
        Forked workers share the handle and its position: reads of one move it under the others, and samples come out
        wrong without an error, or archives fail to decompress. Workers that are spawned cannot be started at all,
        because a handle cannot be pickled.

    Example
        import zipfile
        from torch.utils.data import DataLoader, Dataset

        class Texts(Dataset):
            def __init__(self, path, names):
                self.names = names
                self.archive = zipfile.ZipFile(path)
            def __len__(self):
                return len(self.names)
            def __getitem__(self, index):
                return self.archive.read(self.names[index])

        loader = DataLoader(Texts("texts.zip", ["a", "b"]), num_workers=2)

    Use instead
        import zipfile
        from torch.utils.data import DataLoader, Dataset

        class Texts(Dataset):
            def __init__(self, path, names):
                self.names = names
                self.path = path
                self.archive = None
            def __len__(self):
                return len(self.names)
            def __getitem__(self, index):
                if self.archive is None:
                    self.archive = zipfile.ZipFile(self.path)
                return self.archive.read(self.names[index])

        loader = DataLoader(Texts("texts.zip", ["a", "b"]), num_workers=2)

    When to ignore it
        Where the handle is safe to share, such as an unshared memory map. The rule is silent where the class opens the
        handle again, has a `__getstate__`, or the loader has a `worker_init_fn`.

    References
        - https://github.com/pytorch/pytorch/issues/11929
    """

    code = "ACC110"
    name = "dataset-handle-opened-before-workers"
    severity = Severity.ERROR

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each loader once for each handle."""
        for loader in facts.loaders:
            if not (loader.fixed_workers or 0) > 0 or not loader.initializes_nothing:
                continue
            for veto, document, node in loader.certain_vetoes(VetoKind.HANDLE):
                handle = f"`self.{veto.attribute} = {document.code(node)}`"
                yield self._report(facts, loader, handle, also_at(document, node, "opened here"))

    def _report(self, facts: Facts, loader: LoaderCall, handle: str, place: Related) -> Finding:
        starts = start_methods(facts, loader)
        consequences = {
            "which share its position and read each other's data": starts.forks or not starts.fresh,
            "and a handle cannot be pickled for them": bool(starts.fresh),
        }
        consequence = ", ".join(clause for clause, happens in consequences.items() if happens)
        claim = f"{handle} is opened before the workers of `{loader.label}` start, {consequence}"
        remedy = "open it in the worker, when the first sample is read"
        return self.finding(facts, loader.node, claim, remedy, related=[place])
