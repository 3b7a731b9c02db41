"""ACC205 create-on-cpu-then-move, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.finding import Frequency

from ..checks import Pair, check, check_one, check_pair, findings_of, fixed
from ..programs import IMPORTS

SILENT = {
    "made there": "x = torch.zeros(4, device='cuda')",
    "made from data": "x = torch.tensor([1.0]).to('cuda')",
    "from numpy": "import numpy as np\nx = torch.from_numpy(np.zeros(4)).to('cuda')",
    "only a cast": "x = torch.zeros(4).to(torch.float16)",
    "maybe only a cast": "import conf\nx = torch.zeros(4).to(conf.what)",
    "to another tensor": "y = torch.zeros(4)\nx = torch.zeros(4).to(y)",
    "to the host": "x = torch.zeros(4).to('cpu')",
    "pinned": "x = torch.zeros(4, pin_memory=True).to('cuda', non_blocking=True)",
    "into another tensor": "y = torch.zeros(4)\nx = torch.zeros(4, out=y).to('cuda')",
    "with a generator": "g = torch.Generator()\nx = torch.randn(4, generator=g).to('cuda')",
    "of arguments unseen": "import conf\nx = torch.zeros(4, **conf.kw).to('cuda')",
    "to start CUDA": "torch.zeros(1).cuda()",
    "later": "x = torch.zeros(4)\nx = x.to('cuda')",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent_about_factories_that_have_to_be_moved(source: str, tmp_path: Path) -> None:
    check(IMPORTS + source + "\n", tmp_path)


PAIRS: dict[str, tuple[str, ...]] = {
    "made there": ("x = torch.zeros(4, device='cuda').to('cuda')", ", device='cuda'"),
    "made from data": ("x = torch.tensor([1.0]).to('cuda')", "torch.tensor([1.0])", "torch.ones(1)"),
    "made by as_tensor": ("x = torch.as_tensor([1.0]).to('cuda')", "torch.as_tensor([1.0])", "torch.ones(1)"),
    "from numpy": (
        "import numpy as np\nx = torch.from_numpy(np.zeros(4)).to('cuda')",
        "torch.from_numpy(np.zeros(4))",
        "torch.zeros(4)",
    ),
    "with what is not known": ("x = torch.cat([torch.zeros(4), conf.x]).to('cuda')", "conf.x", "torch.ones(4)"),
    "with data": ("x = (torch.zeros(4) + torch.tensor(conf.x)).to('cuda')", "torch.tensor(conf.x)", "torch.ones(4)"),
    "with an array": (
        "import numpy as np\nx = (torch.zeros(4) + np.zeros(4)).to('cuda')",
        "np.zeros(4)",
        "torch.ones(4)",
    ),
    "an old constructor of data": (
        "for y in DataLoader([1]):\n    x = torch.FloatTensor(conf.x).cuda()",
        "(conf.x)",
        "(conf.x, 2)",
    ),
    "for a function that writes into it": (
        "import ext\nfor y in DataLoader([1]):\n    x = torch.zeros(4)\n    n = ext.choose(y, x)\n    x = x[:n].cuda()",
        "choose(y, x)",
        "choose(y)",
    ),
    "for a function of the program that gives how much of it there is": (
        "def choose(y, into): return into.fill_(y)\nfor y in DataLoader([1]):\n    x = torch.zeros(4)\n"
        "    n = choose(y, x)\n    x = x[:n].cuda()",
        "choose(y, x)",
        "choose(y, y)",
    ),
    "without elements": ("x = torch.empty(0).to('cuda')", "(0)", "(1)"),
    "without rows": ("x = torch.zeros((0, 4)).to('cuda')", "(0, 4)", "(1, 4)"),
    "without columns": ("x = torch.ones(4, 0).to('cuda')", "4, 0", "4, 1"),
    "project function": (
        "def zeros(n): return torch.ones(n)\nx = zeros(4).to('cuda')",
        "x = zeros",
        "x = torch.zeros",
    ),
    "other library": ("import numpy as np\nx = np.zeros(4).to('cuda')", "np.zeros", "torch.zeros"),
    "only a cast": ("x = torch.zeros(4).to(torch.float16)", "torch.float16", "'cuda'"),
    "maybe only a cast": ("x = torch.zeros(4).to(conf.what)", "conf.what", "'cuda'"),
    "to another tensor": ("y = torch.zeros(4)\nx = torch.zeros(4).to(y)", "to(y)", "to('cuda')"),
    "to the host": ("x = torch.zeros(4).to('cpu')", "cpu", "cuda"),
    "pinned": ("x = torch.zeros(4, pin_memory=True).to('cuda')", ", pin_memory=True"),
    "into another tensor": ("y = torch.zeros(4)\nx = torch.zeros(4, out=y).to('cuda')", ", out=y"),
    "with a generator": (
        "for y in DataLoader([1]):\n    g = torch.Generator()\n    x = torch.randn(4, generator=g).to('cuda')",
        ", generator=g",
    ),
    "through numpy": ("x = torch.zeros(4).numpy().to('cuda')", ".numpy()"),
    "through numpy and back": (
        "x = torch.from_numpy(torch.zeros(4).numpy()).to('cuda')",
        "torch.from_numpy(torch.zeros(4).numpy())",
        "torch.zeros(4)",
    ),
    "computed with in between": ("x = torch.zeros(4).sum().to('cuda')", ".sum()"),
    "made of a comprehension": (
        "for y in DataLoader([1]):\n    x = torch.cat([conf.x for i in range(conf.n)]).cuda()",
        "[conf.x for",
        "[torch.zeros(4) for",
    ),
    "a window": ("for y in DataLoader([1]):\n    x = torch.hann_window(9, **conf.kw).to('cuda')", ", **conf.kw"),
    "a list in an old constructor": (
        "for y in DataLoader([1]):\n    x = torch.LongTensor(list(y)).cuda()",
        "list(y)",
        "range(len(y))",
    ),
    "changed on the way in a script": (
        "for y in DataLoader([1]):\n    x = torch.zeros(4)\n    x[0] = y\n    if conf.gpu:\n        x = x.cuda()",
        "    x[0] = y\n",
    ),
    "mentioned on the way in a script": (
        "for y in DataLoader([1]):\n    x = torch.zeros(len(y))\n    y = torch.add(y, x)\n    x = x.cuda()",
        "    y = torch.add(y, x)\n    x = x.cuda()",
        "    x = x.cuda()\n    y = torch.add(y, x)",
    ),
    "to a device that is a type by default": (
        "def f(d=torch.half):\n    return torch.zeros(4).to(torch.device('cuda') if conf.d else d)\nf()",
        "=torch.half",
        "=conf.d",
    ),
    "requires_grad": ("x = torch.zeros(4, requires_grad=True).to('cuda')", ", requires_grad=True"),
    "wrapped to ask for a gradient, and written into": (
        "x = torch.autograd.Variable(torch.zeros(4), requires_grad=conf.grad).to('cuda')\nx[0] = 1",
        ", requires_grad=conf.grad",
        ", requires_grad=False",
    ),
    "wrapped to ask for a gradient, and not only read": (
        "x = torch.autograd.Variable(torch.zeros(4), requires_grad=conf.grad).to('cuda')\nx[0] = 1",
        "x[0] = 1",
        "y = torch.cat([x, x])",
    ),
    "arguments unseen": ("x = torch.zeros(4, **conf.kw).to('cuda')", ", **conf.kw"),
    "to start CUDA": ("torch.zeros(1).cuda()", "torch.zeros", "x = torch.zeros"),
    "later": ("x = torch.zeros(4)\nx = x.to('cuda')", "\nx = x.to", ".to"),
    "under a device": (
        "with torch.device('cuda'):\n    x = torch.zeros(4).to('cuda')",
        "with torch.device('cuda'):",
        "if 1:",
    ),
    "a default device": (
        "torch.set_default_device('cuda')\nx = torch.zeros(4).to('cuda')",
        "torch.set_default_device('cuda')\n",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    source, *change = PAIRS[case]
    check_pair("ACC205", Pair(IMPORTS + "import conf\n" + source, *change), tmp_path)


EVERY_STEP = """
class Net(nn.Module):
    def forward(self, x):
        return x + torch.zeros(40, 40).cuda()  # -> ACC205 warning safe
net = Net()
a = torch.zeros(4, device="cuda")
for x in DataLoader(TensorDataset(a)):
    b = torch.ones(4).to("cuda")  # -> ACC205 info safe
    c = torch.arange(0, 4).to("cuda")  # -> ACC205 info safe
    d = torch.arange(0, 4, 0.5).to("cuda")  # -> ACC205 info unsafe
    e = torch.randn(40, 40).to("cuda")  # -> ACC205 warning unsafe
    for part in x.split(2):
        net(part).sum().backward()
for epoch in range(9):
    for i in range(9):
        g = torch.zeros(40, 40).to("cuda")  # -> ACC205 warning safe
        net(g).sum().backward()
"""
NOW_AND_THEN = """
a = torch.zeros(4).cuda()  # -> ACC205 info safe
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        for i in range(3):
            self.z = torch.zeros(4).cuda()  # -> ACC205 info safe
for i in range(9):
    b = torch.ones(4).to("cuda")  # -> ACC205 info safe
for epoch in range(9):
    f = torch.arange(4).to("cuda")  # -> ACC205 info safe
    for i in range(9):
        Net()(f).sum().backward()
def mask(x):
    return torch.ones(4).to(x.device)  # -> ACC205 info safe
"""


def test_each_place_is_reported_that_every_step_comes_to(tmp_path: Path) -> None:
    found = check(IMPORTS + EVERY_STEP, tmp_path)
    assert {one.frequency for one in found} == {Frequency.STEP}


HANDED = """
def to_gpu(x, grad=False):
    if torch.cuda.is_available():
        x = x.cuda()
    return torch.autograd.Variable(x, requires_grad=grad)
net = nn.Linear(4, 2).cuda()
for x in DataLoader(TensorDataset(torch.zeros(8, 4)), 4):
    noise = torch.randn(4)
    net(noise).sum().backward()
"""


@pytest.mark.parametrize("to", ["to_gpu(torch.randn(4))", "torch.randn(4)\n    noise = to_gpu(noise)"])
def test_what_a_function_moves_for_its_callers_is_reported_where_it_is_made(to: str, tmp_path: Path) -> None:
    (found,) = findings_of("ACC205", IMPORTS + HANDED.replace("torch.randn(4)", to), tmp_path)
    assert "fills on the host" in found.message
    assert found.related[-1].message == "a function moves it to the device here"


@pytest.mark.parametrize(
    ("moves", "leaves"),
    [
        ("x = x.cuda()", "x = (x + 1).cuda()"),
        ("x = x.cuda()", "x = x.cpu()"),
        ("noise = to_gpu(noise)", "print(noise)\n    noise = to_gpu(noise)"),
    ],
)
def test_silent_where_a_function_does_more_or_no_move(moves: str, leaves: str, tmp_path: Path) -> None:
    code = IMPORTS + HANDED.replace("torch.randn(4)", "torch.randn(4)\n    noise = to_gpu(noise)")
    check_pair("ACC205", Pair(code.replace(moves, leaves), leaves, moves), tmp_path)


def test_what_is_made_now_and_then_is_advice(tmp_path: Path) -> None:
    found = check(IMPORTS + NOW_AND_THEN, tmp_path)
    assert {one.frequency for one in found} == {Frequency.ONCE}
    text = fixed("ACC205", IMPORTS + NOW_AND_THEN, tmp_path)
    assert 'a = torch.zeros(4, device="cuda")  #' in text
    assert "return torch.ones(4, device=x.device)  #" in text


RARE = {
    "random numbers": "x = torch.randn(4).cuda()",
    "a range of floats": "x = torch.arange(0, 4, 0.5).cuda()",
    "a range of floats, by its nature": "x = torch.linspace(0, 1, 4).cuda()",
}


@pytest.mark.parametrize("source", RARE.values(), ids=RARE.keys())
def test_other_numbers_are_worth_it_at_every_step_only(source: str, tmp_path: Path) -> None:
    check_one("ACC205", f"{IMPORTS}{source}\n", tmp_path)
    check_one("ACC205", f"{IMPORTS}for y in DataLoader([1]):\n    {source}  # -> info unsafe\n", tmp_path)


NET = """
class Net(nn.Module):
    def __init__(self, mask):
        super().__init__()
        self.mask, self.masks = mask, conf.masks
    def forward(self, x, y=None):
        %s
"""
NAMED = (
    "mask = torch.ones(x.size(0), 1)\n        if x.is_cuda:\n            mask = mask.cuda()\n        return mask * x"
)
FORWARD: dict[str, tuple[str, ...]] = {
    "written to before it is moved": (
        NAMED.replace("\n        if x", "\n        mask[0] = conf.first(y)\n        if x"),
        "\n        mask[0] = conf.first(y)",
    ),
    "kept": (
        "if self.mask is None:\n            self.mask = torch.ones(4).to(x.device)\n        return x * self.mask",
        "if self.mask is None",
        "if self.masks",
    ),
    "kept behind an exit": (
        "if self.mask is not None:\n            return self.mask\n        mask = torch.ones(4).to(x.device)\n"
        + "        return mask",
        "            return self.mask",
        "            x = x * self.mask",
    ),
    "behind an exit with what the model holds": (
        "if not self.training:\n            return self.mask[:4]\n        return x * torch.ones(4).to(x.device)",
        "return self.mask[:4]",
        "return x",
    ),
    "something else of its name": (
        NAMED.replace("\n        if x", "\n        mask = conf.first(mask)\n        if x"),
        "\n        mask = conf.first(mask)",
    ),
    "as a tensor on the host": (
        "return x * torch.zeros(4).fill_(self.mask).type_as(torch.ones(2))",
        "type_as(torch.ones(2))",
        "type_as(x)",
    ),
    "computed with data": (
        "return x * torch.zeros(4, 4).matmul(y).type_as(x)",
        ".matmul(y)",
        ".matmul(torch.ones(4, 4))",
    ),
    "indexed by data": (
        "return x * torch.arange(4)[torch.tensor(conf.ids)].to(x.device)",
        "[torch.tensor(conf.ids)]",
        "[None, 1:]",
    ),
    "read on the host, too": (
        "a = torch.rand(4)\n        conf.log(a)\n        b = a.expand_as(x)\n        return b.to(x.device)",
        "\n        conf.log(a)",
    ),
    "data in one branch": (
        "if conf.a:\n            a = torch.rand(1)\n        else:\n            a = torch.tensor(conf.b)\n"
        + "        return a.to(x.device)",
        "torch.tensor(conf.b)",
        "torch.FloatTensor([0.5])",
    ),
    "an attribute that is filled by and by": (
        "self.a = torch.zeros(4, 4)\n        self.a[0] = self.masks\n        return self.a.to(x.device)",
        "self.a = torch.zeros(4, 4)\n        self.a[0] = self.masks\n        return self.a.to",
        "a = torch.zeros(4, 4)\n        return a.to",
    ),
    "kept in an attribute": (
        "if self.a is None:\n            self.a = torch.ones(4).to(x.device)\n        return self.a",
        "self.a",
        "y",
    ),
    "kept in a global": (
        "global a\n        if a is None:\n            a = torch.ones(4).to(x.device)\n        return a",
        "global a\n        if a is None",
        "if y is None",
    ),
}


@pytest.mark.parametrize("case", FORWARD)
def test_silent_about_a_forward_for_one_reason(case: str, tmp_path: Path) -> None:
    source, *change = FORWARD[case]
    net = IMPORTS + "import conf\n" + NET % source
    found = {one.frequency for one in findings_of("ACC205", net, tmp_path)}
    assert Frequency.STEP not in found
    net = net.replace(*(change if len(change) > 1 else (change[0], "")))
    assert {one.frequency for one in findings_of("ACC205", net, tmp_path)} == {Frequency.STEP}


PICKED = """
import conf

def pick(x):
    \"\"\"
    Parameters
    ----------
    x : Tensor, shape (n, 8)
    \"\"\"
    return x[conf.order]

model = nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for step in range(999):
    x = pick(torch.stack([torch.zeros(8)[conf.i[at]] + conf.noise[at] for at in range(4)]).float())
    t = torch.rand(x.shape[0], 1).type_as(x)
    optimizer.zero_grad()
    model(x * t).sum().backward()
    optimizer.step()
"""


def test_silent_where_all_that_is_seen_to_run_it_is_on_the_host(tmp_path: Path) -> None:
    here = "model = nn.Linear(8, 8)"
    check_pair("ACC205", Pair(IMPORTS + PICKED, here, f"{here}.to(conf.device)"), tmp_path)


@pytest.mark.parametrize("source", [NAMED, NAMED.replace("torch.ones(x.size(0), 1)", "Variable(torch.ones(4))")])
def test_a_tensor_that_is_moved_by_its_name_is_reported_where_it_is_moved(source: str, tmp_path: Path) -> None:
    head = IMPORTS + "import conf\nfrom torch.autograd import Variable\n"
    (found,) = findings_of("ACC205", head + NET % source, tmp_path)
    assert "`mask.cuda()` waits at every step" in found.message
    assert found.fix is None


COMPUTED = """
import math
class Mask:
    def __init__(self, n, device):
        self.mask = torch.triu(torch.ones(n, n, dtype=torch.bool), diagonal=1).to(device)  # -> warning
class Net(nn.Module):
    def __init__(self, dim, scale):
        super().__init__()
        self.dim, self.scale = dim, scale
    def forward(self, x, mask=None):
        a = (torch.arange(x.size(1)) / x.size(1)).to(x.device)  # -> warning
        b = torch.exp(-math.log(10000) * torch.arange(0, self.dim // 2).float() / self.dim).to(x.device)  # -> warning
        c = torch.arange(0, x.size(0)) * x.size(1)
        d = c.view(-1, 1).type_as(x)  # -> warning
        e = torch.ones(x.size(0), 1) * self.scale
        e = e.long().to(x.device)  # -> warning
        f = torch.rand(x.size(0), 1)
        f = f.expand_as(x).to(x.device)  # -> warning
        g = torch.pow(self.scale * torch.ones(3), torch.arange(3).float()).to(x.device)  # -> warning
        h = torch.stack([torch.arange(3), torch.ones(3)])[:, None].to(x.device)  # -> warning
        i = (torch.rand(x.size(0)) < 0.5).to(x.device)  # -> warning
        j = torch.randn(*x.shape).cuda()  # -> warning
        k = torch.Tensor(x.size(0), 3).fill_(0).type_as(x)  # -> warning
        l = torch.FloatTensor(x.size(0)).uniform_(0, 1).cuda()  # -> warning
        if x.dim() > 2:
            m = torch.rand(1)
        else:
            m = torch.rand(x.size(0), 1)
        m = m.to(x.device)  # -> info
        if mask is None:
            mask = torch.zeros(40, 40).to(x.device)  # -> warning safe
        return Mask(4, x.device)
model = Net(8, 2).cuda()
for x in DataLoader([1]):
    if conf.noise:
        x = x + conf.std * torch.randn(40, 40).cuda()  # -> warning unsafe
    model(x).sum().backward()
"""


def test_what_is_computed_on_the_way_is_computed_on_the_device(tmp_path: Path) -> None:
    check_one("ACC205", f"{IMPORTS}import conf\n{COMPUTED}", tmp_path)


def test_the_place_where_a_tensor_is_filled_is_named(tmp_path: Path) -> None:
    head = "class Net(nn.Module):\n    def forward(self, x):\n        a = torch.rand(4)\n"
    (found,) = findings_of("ACC205", f"{IMPORTS}{head}        return (1 - a).to(x.device)\n", tmp_path)
    assert [one.message for one in found.related] == ["it is filled here"]
    assert found.related[0].span.start.row == found.span.start.row - 1


@pytest.mark.parametrize(
    ("constructor", "remedy"),
    [
        ("LongTensor", 'torch.empty(..., dtype=torch.long, device="cuda")`, and fill it there instead'),
        ("FloatTensor", 'torch.empty(..., device="cuda")`, and fill it there instead'),
    ],
)
def test_the_remedy_for_an_old_constructor_keeps_its_type(constructor: str, remedy: str, tmp_path: Path) -> None:
    loop = f"for y in DataLoader([1]):\n    x = torch.{constructor}(4, 8).fill_(0).cuda()\n"
    (found,) = findings_of("ACC205", IMPORTS + loop, tmp_path)
    assert remedy in found.message


def test_code_of_several_lines_is_quoted_as_on_one(tmp_path: Path) -> None:
    loop = "for y in DataLoader([1]):\n    x = (\n        torch.zeros(\n            4,\n            8,\n        )\n        .to('cuda')\n    )\n"
    (found,) = findings_of("ACC205", IMPORTS + loop, tmp_path)
    assert found.message.startswith("`torch.zeros(4, 8).to('cuda')` waits")


TYPED = "Float = torch.cuda.FloatTensor if x.is_cuda else torch.FloatTensor\n        "
MOVED = {
    "by the type of tensors": (TYPED + "return x * torch.linspace(0, 1, 4).repeat(2).type(Float)", "dtype=..."),
    "by the type of another tensor": ("return x * torch.zeros(4).type(x.type())", "dtype=..."),
    "as another tensor": ("return x * torch.zeros(4).to(x)", "device=x.device, dtype=x.dtype"),
    "as new data of another tensor": ("return x * x.new_tensor(torch.rand(4))", "device=x.device, dtype=x.dtype"),
    "with a cast": ("return x * torch.zeros(4).to(x.device, torch.float16)", "device=x.device, dtype=..."),
    "with a cast by keyword": ("return x * torch.zeros(4).to('cuda', dtype=torch.float16)", "device='cuda', dtype=..."),
}


@pytest.mark.parametrize("case", MOVED)
def test_a_type_goes_to_the_factory_too(case: str, tmp_path: Path) -> None:
    code, words = MOVED[case]
    net = IMPORTS + "import conf\n" + NET % code + "net = Net(1).cuda()\n"
    (found,) = findings_of("ACC205", net, tmp_path)
    assert (found.fix, found.frequency) == (None, Frequency.STEP)
    assert words in found.message


ON_HOST = {
    "of a type on the host": "return torch.zeros(4).type(torch.FloatTensor)",
    "of the type of a tensor on the host": "return torch.zeros(4).type(torch.ones(2).type())",
    "of another dtype": "return torch.zeros(4).type(torch.long)",
    "as new data of a tensor on the host": "return torch.ones(2).new_tensor(torch.rand(4))",
}


@pytest.mark.parametrize("code", ON_HOST.values(), ids=ON_HOST.keys())
def test_silent_about_what_stays_on_the_host(code: str, tmp_path: Path) -> None:
    assert findings_of("ACC205", IMPORTS + "import conf\n" + NET % code + "net = Net(1).cuda()\n", tmp_path) == []


LOSSES = """
import torch
def penalty(real, fake):
    alpha = torch.rand(real.size(0), 1).to(real.device)
    return alpha * real + (1 - alpha) * fake
LOSSES = {"penalty": penalty}
"""
NO_HELPER = {
    "what the program names nowhere": ('LOSSES = {"penalty": penalty}', ""),
    "what the program names nowhere, beside another of its name": (
        'LOSSES = {"penalty": penalty}',
        "class Other:\\n    def penalty(self, x): return x",
    ),
    "what only text names": (
        'LOSSES = {"penalty": penalty}',
        '# penalty\\n"""A penalty."""\\nprint("penalty", "def penalty")',
    ),
    "what nothing is given to": ("real.device", "LOSSES"),
    "what is called once, as its name says": ("penalty", "build_penalty"),
    "what the module runs": ('LOSSES = {"penalty": penalty}', "penalty(torch.ones(2), torch.ones(2))"),
    "what stands beside a training": (
        'LOSSES = {"penalty": penalty}',
        "model = torch.nn.Linear(2, 2).cuda()\\nfor x in range(9): model(x).backward()\\nLOSSES = [penalty]",
    ),
}


def test_a_function_that_is_chosen_may_run_in_each_step(tmp_path: Path) -> None:
    (found,) = findings_of("ACC205", LOSSES, tmp_path)
    assert (str(found.severity), found.frequency, found.minor) == ("info", Frequency.STEP, False)
    assert "assuming that the steps call this function" in found.message


@pytest.mark.parametrize("text", ["losses  # .penalty", "losses, 'penalty'"])
def test_another_file_names_a_function_in_code_and_in_no_text(text: str, tmp_path: Path) -> None:
    use = f"import train\n# the paper has: def penalty(real)\ndef choose(losses):\n    return {text}\n"
    source = LOSSES.replace('LOSSES = {"penalty": penalty}', "")
    check_pair("ACC205", Pair(source, text, "losses.penalty", {"use.py": use}), tmp_path)


@pytest.mark.parametrize("case", NO_HELPER)
def test_silent_about_functions(case: str, tmp_path: Path) -> None:
    before, after = NO_HELPER[case]
    source = LOSSES.replace(before, after.encode().decode("unicode_escape"))
    assert all(one.minor for one in findings_of("ACC205", source, tmp_path))


EXIT = "if not isinstance(x, tuple):\n            {}\n        return self.mask * torch.ones(4).to(x[0].device)"


def test_an_exit_that_hands_on_what_it_asks_for_keeps_nothing(tmp_path: Path) -> None:
    for code, often in {"return conf.loss(x)": True, "return x": False, "return x.cpu()": False}.items():
        found = findings_of("ACC205", IMPORTS + "import conf\n" + NET % EXIT.format(code), tmp_path)
        assert (Frequency.STEP in {one.frequency for one in found}) is often


@pytest.mark.parametrize(
    ("library", "base", "step"),
    [("transformers", "Trainer", "compute_loss"), ("lightning", "LightningModule", "training_step")],
)
def test_a_step_that_a_framework_calls_is_a_step(library: str, base: str, step: str, tmp_path: Path) -> None:
    source = (
        f"import conf\nfrom {library} import {base}\nclass Mine({base}):\n    def {step}(self, model, inputs):\n"
        "        out = model(inputs)\n        return (torch.rand(len(out)).to(out.device) * out).sum()\n"
    )
    check_pair("ACC205", Pair(IMPORTS + source.replace(step, "on_start"), "on_start", step), tmp_path)


@pytest.mark.parametrize("size", ["n", "(n,)", "x.size(0)", "x.shape[0], 1", "len(x)", "batch_size"])
def test_advice_where_there_is_one_number_for_each_sample(size: str, tmp_path: Path) -> None:
    loop = f"n = batch_size = 64\nfor x in DataLoader([1]):\n    y = torch.zeros({size}).cuda()  # -> info safe\n"
    check_one("ACC205", IMPORTS + loop, tmp_path)


@pytest.mark.parametrize("size", ["n, n", "(n, 300)", "x.size()", "x.shape", "*x.shape", "size", "n, 1, 28, 28"])
def test_a_warning_where_it_may_be_large(size: str, tmp_path: Path) -> None:
    loop = f"n = size = 64\nfor x in DataLoader([1]):\n    y = torch.zeros({size}).cuda()  # -> warning\n"
    check_one("ACC205", IMPORTS + loop, tmp_path)


@pytest.mark.parametrize(
    ("code", "severity"),
    [
        ("torch.randperm(n)", "info"),
        ("torch.full((n,), 0.5)", "info"),
        ("torch.full((n, n), 0.5)", "warning"),
        ("torch.randint(0, 1000, (n,))", "info"),
        ("torch.randint(0, 1000, (n, n))", "warning"),
    ],
)
def test_what_a_call_is_given_besides_a_size_makes_nothing_large(code: str, severity: str, tmp_path: Path) -> None:
    (found,) = findings_of("ACC205", f"{IMPORTS}n = 64\nfor x in DataLoader([1]):\n    y = {code}.cuda()\n", tmp_path)
    assert found.severity == severity
