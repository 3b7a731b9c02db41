"""What a rule's page recommends runs with real torch, and where a page says that the Example fails, it fails.

A pretended accelerator stands in for a real one (``accelerator.py``): it knows where the program believes each tensor
to lie and lets calls that mix devices fail, but computes, loads, pins and pickles on the host.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from accel_advisor.rule import Rule, registry
from accel_advisor.rule_page import rule_page

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the programs run in forks of one interpreter")

RULES = [pytest.param(rule, id=code) for code, rule in registry().items()]
# Too heavy for the environment of the tests: pages about them run wherever they are installed. All of them ran on
# 2026-11-21 with accelerate 1.15.0, lightning 2.6.6, tensorboard 2.21.0, timm 1.0.31, transformers 5.23.0 and
# torch 2.13.0.
FRAMEWORKS = {"torchvision", "accelerate", "lightning", "mlflow", "timm", "transformers"}

# Rules whose Example ends in an exception, and a part of it.
BROKEN_EXAMPLES = {
    "ACC104": "persistent_workers option needs num_workers > 0",
    "ACC105": "sampler option is mutually exclusive with shuffle",
    "ACC114": "exited unexpectedly",
    "ACC302": "Expected all tensors to be on the same device",
    "ACC303": "Expected all tensors to be on the same device",
    "ACC304": "Expected all tensors to be on the same device",
    "ACC305": "Expected all tensors to be on the same device",
    "ACC306": "Expected all tensors to be on the same device",
    "ACC307": "Expected all tensors to be on the same device",
    "ACC403": "Expected `device_type` of type `str`",
    "ACC409": "you have used mix of the legacy and",
    "ACC425": "Expected more than 1 value per channel when training",
    "ACC603": "can only be set when data is loaded in a different process",
}

# Programs about the pretended accelerator itself, each with a part of the exception that ends it.
PROGRAMS = {
    "values survive the way there and back": (
        "import torch\nx = torch.arange(4.0).cuda(non_blocking=True)\nassert (x * 2).cpu().tolist() == [0, 2, 4, 6]",
        None,
    ),
    "a scalar of the host meets any device": ("import torch\ntorch.ones(2, device='cuda') + torch.tensor(1.0)", None),
    "an index may come from the host": ("import torch\ntorch.ones(2, device=0)[torch.tensor([0])]", None),
    "a moved module takes its parameters along": (
        "import torch\nm = torch.nn.Linear(2, 2)\nw = m.weight\nm.to('cuda:0')\nassert m.weight is w\nassert w.is_cuda",
        None,
    ),
    "gradients and the state of optimizers lie beside their parameters": (
        "import torch\nm = torch.nn.Linear(2, 2).cuda()\no = torch.optim.Adam(m.parameters())\n"
        "m(torch.ones(1, 2).to('cuda')).sum().backward()\no.step()\nassert m.weight.grad.device.type == 'cuda'\n"
        "assert o.state[m.weight]['exp_avg'].is_cuda",
        None,
    ),
    "a deep copy lies where its model does": (
        "import copy, torch\nm = copy.deepcopy(torch.nn.Linear(2, 2).cuda())\nassert m.weight.is_cuda\n"
        "m(torch.ones(1, 2))",
        "Expected all tensors to be on the same device",
    ),
    "a copy to the device is no leaf": (
        "import torch\nw = torch.ones(2, requires_grad=True).cuda()\nassert not w.is_leaf",
        None,
    ),
    "devices do not mix": (
        "import torch\ntorch.ones(2, device='cuda') + torch.ones(2)",
        "Expected all tensors to be on the same device",
    ),
    "NumPy takes nothing from the device": ("import torch\ntorch.ones(2).cuda().numpy()", "can't convert a tensor"),
    "what is on the device cannot be pinned": ("import torch\ntorch.ones(2).cuda().pin_memory()", "cannot pin"),
    "an unused module is used": (
        "from torch import nn\nclass Net(nn.Module):\n    def forward(self, x):\n        raise ValueError(x.device)",
        "ValueError: cuda:0",
    ),
    "an unused loader is used": (
        "from torch.utils.data import DataLoader\nloader = DataLoader([object()])",
        "default_collate",
    ),
    "an unused function is used": ("def evaluate():\n    raise ValueError('here')", "ValueError: here"),
}


def missing(text: str) -> set[str]:
    """The frameworks that a file imports and that are not installed."""
    imported = {
        part
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([one.name for one in node.names] if isinstance(node, ast.Import) else [str(node.module)])
        for part in name.split(".")
    }
    return {name for name in imported & FRAMEWORKS if importlib.util.find_spec(name) is None}


@pytest.fixture(scope="module")
def ran() -> dict[str, tuple[int, str]]:
    """The exit status and the output of every program, run by one interpreter."""
    texts = {code: rule_page(rule).use_instead for code, rule in registry().items()}
    texts |= {f"{code} example": rule_page(registry()[code]).example for code in BROKEN_EXAMPLES}
    texts |= {name: text for name, (text, _) in PROGRAMS.items()}
    texts = {name: text for name, text in texts.items() if not missing(text)}
    runner = Path(__file__).with_name("run.py")
    done = subprocess.run([sys.executable, str(runner)], input=json.dumps(texts), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    results = {name: (status, output) for name, status, output in map(json.loads, done.stdout.splitlines())}
    assert results.keys() == texts.keys()
    return results


def outcome(ran: dict[str, tuple[int, str]], name: str, text: str) -> tuple[int, str]:
    if absent := missing(text):
        pytest.skip(f"needs {', '.join(sorted(absent))}, which the tests do not install")
    return ran[name]


@pytest.mark.parametrize("rule", RULES)
def test_the_remedy_runs(rule: Rule, ran: dict[str, tuple[int, str]]) -> None:
    status, output = outcome(ran, rule.code, rule_page(rule).use_instead)
    assert status == 0, output


@pytest.mark.parametrize("code", BROKEN_EXAMPLES)
def test_the_broken_example_fails(code: str, ran: dict[str, tuple[int, str]]) -> None:
    status, output = outcome(ran, f"{code} example", rule_page(registry()[code]).example)
    assert status == 1
    assert BROKEN_EXAMPLES[code] in output


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_pretended_accelerator(name: str, ran: dict[str, tuple[int, str]]) -> None:
    status, output = ran[name]
    error = PROGRAMS[name][1]
    assert status == (error is not None), output
    assert error is None or error in output
