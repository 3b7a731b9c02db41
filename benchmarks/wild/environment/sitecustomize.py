"""Makes an environment without network access and without a CPU build of torchvision fit to run scripts unmodified.

Python imports this module by itself at startup where its folder stands in ``PYTHONPATH``. Nothing is imported before
a script asks for torchvision, so that the script's own startup stays as it is. Then

- the operators of torchvision's compiled part are declared before it is imported: torchvision from PyPI is built for
  the CUDA build of torch, and next to the CPU build its import fails with "operator torchvision::nms does not exist".
  No script here calls one of them;
- checksums of data files are not compared once it is imported: files that were made cannot have the published ones.
"""

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

OPERATORS = {
    "nms": "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    **dict.fromkeys(
        (
            "qnms",
            "roi_align",
            "_roi_align_backward",
            "roi_pool",
            "_roi_pool_backward",
            "ps_roi_align",
            "_ps_roi_align_backward",
            "ps_roi_pool",
            "_ps_roi_pool_backward",
            "deform_conv2d",
            "_deform_conv2d_backward",
        ),
        "(Tensor input) -> Tensor",
    ),
}


class Torchvision(importlib.abc.MetaPathFinder):
    """Stands before the other finders until torchvision was asked for."""

    declared: Any = None
    """Keeps the operators alive."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name == "torchvision":
            import torch

            if not torch.cuda.is_available():
                Torchvision.declared = torch.library.Library("torchvision", "DEF")
                for operator, schema in OPERATORS.items():
                    Torchvision.declared.define(operator + schema)
        elif name == "torchvision.datasets.utils":
            sys.meta_path.remove(self)
            spec = importlib.machinery.PathFinder.find_spec(name, path)
            if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
                spec.loader = Trusting(spec.loader.name, spec.loader.path)
            return spec
        return None


class Trusting(importlib.machinery.SourceFileLoader):
    """Loads torchvision.datasets.utils, and lets every checksum pass."""

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        module.check_md5 = lambda *_, **__: True  # type: ignore[attr-defined]


sys.meta_path.insert(0, Torchvision())
