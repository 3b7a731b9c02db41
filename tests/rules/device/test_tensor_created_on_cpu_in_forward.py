"""ACC304 tensor-created-on-cpu-in-forward, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.analysis.project import analyze
from accel_advisor.rule import registry
from accel_advisor.source.document import Document

from ..checks import Pair, check, check_one, check_pair, findings_of, fixed
from ..programs import IMPORTS, NET
from .programs import net, net_pair

SILENT_PROGRAMS = {
    "number input": """
class Net(nn.Module):
    def forward(self, x, scale):
        return scale * torch.ones(3)
""",
    "list input": """
class Net(nn.Module):
    def forward(self, xs):
        total = torch.zeros(3)
        for x in xs:
            total = total + x
        return total
""",
    "dict": """
class Net(nn.Module):
    def forward(self, batch):
        return torch.zeros(3) + batch["bias"]
""",
    "temperature number": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
    def forward(self, x, t):
        w = torch.linspace(0, 1, 3) / t
        return self.fc(x) * w.to(x.device)
""",
    "numpy-like then moved": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
    def forward(self, x):
        m = torch.zeros(3)
        m = m.cuda() if x.is_cuda else m
        return self.fc(x) + m
""",
    "loss module on cpu": """
class Loss(nn.Module):
    def forward(self, x, n):
        idx = torch.arange(n)
        return x[idx].sum() + n
""",
    "new device via get_device": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
    def forward(self, x):
        m = torch.zeros(3, dtype=torch.bool)
        y = self.fc(x)
        y[:, m] = 0
        return y
""",
    "under no model: default device context": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
    def forward(self, x):
        with torch.device(x.device):
            m = torch.zeros(3)
        return self.fc(x) + m
""",
}


@pytest.mark.parametrize("case", SILENT_PROGRAMS)
def test_silent_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC304", IMPORTS + SILENT_PROGRAMS[case], tmp_path)


SILENT = {
    "no dimensions": "return x + torch.tensor(1.0)",
    "an index": "return x[torch.arange(x.size(0)), 0]",
    "only its shape": "h = torch.zeros(x.size(0), 8)\nreturn x * h.size(1)",
    "moved": "return x + torch.zeros(8).to(x)",
    "moved to its type": "return x + torch.zeros(8).type_as(x)",
    "like it": "return x + torch.zeros_like(x)",
    "made by it": "return x + x.new_zeros(8)",
    "made there": "return x + torch.zeros(8, device=x.device)",
    "of arguments unseen": "import conf\nreturn x + torch.zeros(8, **conf.kw)",
    "never combined": "h = torch.zeros(8)\nprint(h)\nreturn x",
    "with a number": "h = torch.zeros(8)\nreturn h + 1",
}


@pytest.mark.parametrize("forward", SILENT.values(), ids=SILENT.keys())
def test_silent_about_tensors_that_may_stay(forward: str, tmp_path: Path) -> None:
    check_one("ACC304", net("pass", forward), tmp_path)


def test_silent_in_a_program_that_stays_on_the_host(tmp_path: Path) -> None:
    source = net("self.s = torch.ones(8)", "return x * self.s + torch.zeros(8)") + (
        "model = Net()\nfor x, y in DataLoader(TensorDataset(torch.zeros(4, 8), torch.zeros(4))):\n"
        "    model(x).sum().backward()\n"
    )
    check_one("ACC304", source, tmp_path)


def test_silent_under_a_default_device(tmp_path: Path) -> None:
    source = net("self.s = torch.ones(8)", "return x * self.s + torch.zeros(8)")
    source = source.replace("class Net", "torch.set_default_device('cuda')\nclass Net")
    check_one("ACC304", source, tmp_path)


ADD = "return self.fc(x) + m"
PAIRS = {
    "no dimensions": net_pair("", f"m = torch.tensor(2.0)\n{ADD}", "torch.tensor(2.0)", "torch.ones(8)"),
    "none of its own size": net_pair("", f"m = torch.zeros(())\n{ADD}", "torch.zeros(())", "torch.zeros(8)"),
    "full without dimensions": net_pair(
        "", f"m = torch.full((), 2.0)\n{ADD}", "torch.full((), 2.0)", "torch.full((8,), 2.0)"
    ),
    "a number that is not known": net_pair(
        "self.n = conf.n", f"m = torch.tensor(self.n)\n{ADD}", "torch.tensor(self.n)", "torch.tensor([self.n])"
    ),
    "what those without a GPU do": net_pair(
        "",
        "y = self.fc(x)\nif torch.cuda.is_available():\n    y = y + torch.ones(8).cuda()\nelse:\n"
        "    y = y + torch.ones(8)\nreturn y",
        "if torch.cuda.is_available()",
        "if conf.wide",
    ),
    "what those do who did not ask for a GPU": net_pair(
        "",
        "y = self.fc(x)\nif not conf.use_cuda:\n    y = y + torch.ones(8)\nreturn y",
        "not conf.use_cuda",
        "conf.use_cuda",
    ),
    "its shape": net_pair("", "m = torch.ones(8)\nreturn self.fc(x) + m.size(0)", "m.size(0)", "m"),
    "its length": net_pair("", "m = torch.ones(8)\nreturn self.fc(x) + len(m)", "len(m)", "m"),
    "its value": net_pair("", "m = torch.ones(8)\nreturn self.fc(x) + m.sum().item()", "m.sum().item()", "m"),
    "its values": net_pair("", "m = torch.arange(8)\nreturn self.fc(x) + sum(m.tolist())", "sum(m.tolist())", "m"),
    "an index": net_pair("", "m = torch.arange(8)\nreturn self.fc(x)[m]", "[m]", " + m"),
    "an index among others": net_pair("", "m = torch.arange(8)\nreturn self.fc(x)[:, m]", "[:, m]", " + m"),
    "moved to a device": net_pair("", f"m = torch.ones(8).to(x.device)\n{ADD}", ".to(x.device)"),
    "moved to another": net_pair("", f"m = torch.ones(8).to(x)\n{ADD}", ".to(x)"),
    "of the type of another": net_pair("", f"m = torch.ones(8).type_as(x)\n{ADD}", ".type_as(x)"),
    "moved by cuda": net_pair("", f"m = torch.ones(8).cuda()\n{ADD}", ".cuda()"),
    "moved by name later": net_pair(
        "", f"m = torch.ones(8)\nm = m.to(x.device)\n{ADD}", "m = m.to(x.device)\n        "
    ),
    "like another": net_pair("", f"m = torch.ones_like(x)\n{ADD}", "torch.ones_like(x)", "torch.ones(8)"),
    "made by another": net_pair("", f"m = x.new_zeros(8)\n{ADD}", "x.new_zeros(8)", "torch.zeros(8)"),
    "made by another from data": net_pair("", f"m = x.new_tensor([1.0])\n{ADD}", "x.new_tensor", "torch.tensor"),
    "made there": net_pair("", f"m = torch.zeros(8, device=x.device)\n{ADD}", ", device=x.device"),
    "made in a device's context": net_pair(
        "", f"with x.device:\n    m = torch.zeros(8)\n{ADD}", "with x.device:", "if True:"
    ),
    "the default device": net_pair(
        "",
        f"m = torch.zeros(8)\n{ADD}",
        "torch.set_default_device('cuda')\n",
        after="torch.set_default_device('cuda')\n",
    ),
    "only on the host": Pair(
        NET.replace("self.fc(x)", "self.fc(x) + torch.ones(2)")
        + "model = Net()\nfor x, y in loader:\n    model(x).sum().backward()\n",
        "model = Net()\n",
        "model = Net().cuda()\n",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC304", PAIRS[case], tmp_path)


REPORTED_PROGRAMS = {
    "masks in LSTM init hidden": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(3, 3)
        self.fc = nn.Linear(3, 3)
    def forward(self, x):
        h0 = torch.zeros(1, x.size(0), 3)  # -> warning none
        c0 = torch.zeros(1, x.size(0), 3)  # -> warning none
        out, _ = self.rnn(x, (h0, c0))
        return self.fc(out)
""",
    "helper method init_hidden": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(3, 3)
    def init_hidden(self, n):
        return torch.zeros(1, n, 3)  # -> warning none
    def forward(self, x):
        h = self.init_hidden(x.size(1))
        out, _ = self.rnn(x, h)
        return out
""",
    "annotated tensor": """
class Net(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.randn(3)  # -> warning unsafe
""",
    "shape evidence": """
class Net(nn.Module):
    def forward(self, x):
        b = x.shape[0]
        return x + torch.randn(b, 3)  # -> warning unsafe
""",
    "positions embedding": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.pos = nn.Embedding(10, 3)
        self.fc = nn.Linear(3, 3)
    def forward(self, x):
        p = self.pos(torch.arange(x.size(1)))  # -> warning none
        return self.fc(x) + p
""",
}


@pytest.mark.parametrize("case", REPORTED_PROGRAMS)
def test_reported_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC304", IMPORTS + REPORTED_PROGRAMS[case], tmp_path)


def test_reported(tmp_path: Path) -> None:
    source = f"""{IMPORTS}
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(8, 8)
        self.places = nn.Embedding(9, 8)
        self.scale = nn.Parameter(torch.ones(8))
    def noise(self, x):
        n = torch.randn(x.size(0), 8)  # -> ACC304 warning unsafe
        return x + n
    def forward(self, x):
        h = torch.zeros(1, x.size(1), 8)  # -> ACC304 warning none
        p = self.places(torch.arange(x.size(0)))  # -> ACC304 warning none
        m = torch.zeros(8)  # -> ACC304 warning none
        s = torch.ones(8)  # -> ACC304 warning none
        s = s * self.scale
        out, h = self.rnn(x, h)
        return self.noise(x) + torch.cat([x, m])
"""
    source = source.replace("noise(self, x):\n        n", "noise(self, x):\n        # made by forward\n        n")
    found = check(source.replace("def noise", "def _noise").replace("self.noise", "self._noise"), tmp_path)
    assert found


def test_error_where_the_program_moves_things(tmp_path: Path) -> None:
    source = net("pass", "n = x.size(0)\nreturn x + torch.zeros(8)  # -> ACC304 error safe") + "model = Net().cuda()\n"
    check(source, tmp_path)
    assert "x + torch.zeros(8, device=x.device)" in fixed("ACC304", source, tmp_path)


UNUSED = """
model = nn.Linear(3, 3).cuda()
class First(nn.Module):
    def __init__(self):
        super(First, self).__init__()
    def forward(self, x):
        return x + torch.zeros(x.size(0), 3)  # -> {first} safe
class Second(nn.Module):
    def forward(self, x):
        return x * torch.ones(x.size(0), 3)  # -> {second} safe
"""


def test_classes_that_nothing_uses(tmp_path: Path) -> None:
    check_one("ACC304", IMPORTS + UNUSED.format(first="info", second="info"), tmp_path)
    groups = {one.group for one in findings_of("ACC304", IMPORTS + UNUSED, tmp_path)}
    assert len(groups) == 1
    assert "" not in groups


def test_classes_that_something_uses(tmp_path: Path) -> None:
    source = UNUSED.format(first="error", second="info") + "print(First())\n"
    check_one("ACC304", IMPORTS + source, tmp_path)


@pytest.mark.parametrize(
    "line",
    ["# First comes later", 'print("First")', '"""Not First."""', "FirstOne = None", "first = None"],
    ids=["comment", "string", "docstring", "longer name", "other case"],
)
def test_text_that_looks_like_its_name_is_no_use_of_a_class(line: str, tmp_path: Path) -> None:
    source = UNUSED.format(first="info", second="info") + f"{line}\n"
    check_one("ACC304", IMPORTS + source, tmp_path)


def test_a_class_whose_name_may_be_read_by_its_text_may_be_used(tmp_path: Path) -> None:
    source = UNUSED.format(first="error", second="error") + 'print(globals()["Fir" + "st"]())\n'
    check_one("ACC304", IMPORTS + source, tmp_path)


def in_package(home: str, other: str, folder: Path) -> list[str]:
    """How severe the findings in a file of a package are, where another file imports it."""
    (folder / "nets").mkdir()
    (folder / "nets" / "__init__.py").touch()
    (folder / home).write_text(IMPORTS + UNUSED)
    (folder / "use.py").write_text(other)
    documents = [Document.read(one) for one in sorted(folder.rglob("*.py"))]
    facts = analyze(documents, folder).facts[str(folder / home)]
    return [str(one.severity) for one in registry()["ACC304"].check(facts)]


@pytest.mark.parametrize(
    ("other", "first"),
    [
        ("import nets.small  # nets.small.First\nprint('First')\n", "info"),
        ("import nets.small\nclass Other:\n    def run(self):\n        return self.First()\n", "info"),
        ("from nets.small import First\nFirst()\n", "error"),
        ("from nets.small import First as Net\nNet()\n", "error"),
        ("from nets import small\nsmall.First()\n", "error"),
        ("import nets.small\nnets.small.First()\n", "error"),
        ("import nets.small as models\nmodels.First()\n", "error"),
    ],
    ids=["text", "another attribute", "imported", "renamed", "of a module", "of a package", "of a renamed module"],
)
def test_a_class_that_another_file_may_use(other: str, first: str, tmp_path: Path) -> None:
    assert in_package("nets/small.py", other, tmp_path) == [first, "info"]


@pytest.mark.parametrize(
    ("other", "first"), [("import nets\n", "info"), ("from nets import First\nFirst()\n", "error")]
)
def test_a_class_of_a_package_that_another_file_may_use(other: str, first: str, tmp_path: Path) -> None:
    assert in_package("nets/__init__.py", other, tmp_path) == [first, "info"]
