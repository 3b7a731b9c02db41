"""ACC436 parameter-by-parameter, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.analysis.project import analyze
from accel_advisor.project.target import Target, Versions
from accel_advisor.rule import registry
from accel_advisor.source.document import Document

from ..checks import Pair, check_one, check_pair, check_since, findings_of
from ..programs import IMPORTS

BEGIN = (
    IMPORTS
    + """
import copy, conf
net = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2)).cuda()
ema = copy.deepcopy(net)
o = torch.optim.SGD(net.parameters(), lr=0.1)
loader = DataLoader(TensorDataset(torch.zeros(64, 8)), batch_size=16)
"""
)
STEP = """
for step, (x,) in enumerate(loader):
    o.zero_grad()
    net(x.cuda()).sum().backward()
"""
AVERAGE = "for a, b in zip(ema.parameters(), net.parameters()):"
BLEND = "a.data.mul_(0.9).add_(b.data, alpha=0.1)"


def program(*lines: str, before: str = "") -> str:
    """A training whose steps end with these lines."""
    return BEGIN + before + STEP + "".join(f"    {line}\n" for line in (*lines, "o.step()"))


def looped(body: str, head: str = AVERAGE, before: str = "") -> str:
    """A training with one loop in each step."""
    return program(head, f"    {body}", before=before)


AGES = looped(BLEND)
OPTIMIZER = """
class Mine(torch.optim.Optimizer):
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                p.data.mul_(0.9).add_(p.grad, alpha=0.1)
mine = Mine(net.parameters(), {})
"""
TOLD = f"""{BEGIN}
def made(train):
    def after(x):
        if train:
            net(x).sum().backward()
            o.step()
        else:
            {AVERAGE}
                {BLEND}
    return after
after = made(True)
for x, in loader:
    after(x.cuda())
"""
CENTERS = """
class Centers(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size
        self.centers = nn.Parameter(torch.randn(size, 2).cuda())
    def forward(self, x):
        return ((x - self.centers) ** 2).sum()
centers = Centers(conf.size)
"""
MORE = ("self.size = size", "self.net = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 2))")
GIVEN = (
    CENTERS.replace("size", "net")
    .replace("randn(net, 2)", "randn(4, 2)")
    .replace("(x - self.centers)", "(self.centers * self.net(x))")
)
PAIRS = {
    "every tenth step": Pair(
        looped(BLEND)
        .replace(AVERAGE, f"if step % 10 == 0:\n      {AVERAGE}")
        .replace(f"        {BLEND}", f"          {BLEND}"),
        "if step % 10 == 0:",
        "if True:",
    ),
    "once an epoch": Pair(
        BEGIN
        + "for epoch in range(3):"
        + STEP.replace("\n", "\n    ")
        + "    o.step()\n    ZZ\n".replace("ZZ", f"{AVERAGE}\n        {BLEND}"),
        f"    {AVERAGE}\n        {BLEND}",
        f"        {AVERAGE}\n            {BLEND}",
    ),
    "a single layer": Pair(
        AGES.replace("nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))", "nn.Linear(8, 2)"),
        "nn.Linear(8, 2).cuda()",
        "nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 2)).cuda()",
    ),
    "the centers of a loss": Pair(
        looped("p.grad.mul_(2)", "for p in centers.parameters():", CENTERS), CENTERS, CENTERS.replace(*MORE)
    ),
    "a loss that may be given a model": Pair(
        looped("p.grad.mul_(2)", "for p in centers.parameters():", GIVEN.replace("self.net(x)", "x")),
        "self.centers * x",
        "self.centers * self.net(x)",
    ),
    "sharded": Pair(
        AGES.replace("import copy", "from torch.distributed.fsdp import fully_shard\nimport copy").replace(
            "ema =", "fully_shard(net)\nema ="
        ),
        "fully_shard(net)\n",
    ),
    "moved to the host": Pair(looped("a.data.mul_(0.9).add_(b.data.cpu(), alpha=0.1)"), ".cpu()"),
    "some are treated differently": Pair(
        looped("if 'bias' in n: p.grad.mul_(2)", "for n, p in net.named_parameters():"), "if 'bias' in n: "
    ),
    "by their dimensions": Pair(
        looped("if p.dim() > 1: p.grad.mul_(2)", "for p in net.parameters():"), "if p.dim() > 1: "
    ),
    "something else as well": Pair(looped(f"{BLEND}; conf.log(a)"), "; conf.log(a)"),
    "no parameters": Pair(
        looped(BLEND, "for a, b in conf.pairs:"), "conf.pairs", "zip(ema.parameters(), net.parameters())"
    ),
    "what has no call over lists": Pair(
        looped("p.grad.add_(torch.mm(p, p))", "for p in net.parameters():"), "torch.mm(p, p)", "p"
    ),
    "new tensors beside the parameters": Pair(
        looped("p.fast = p - 0.1 * p.grad", "for p in net.parameters():"), "p.fast = p", "p.data = p"
    ),
    "new tensors that autograd follows": Pair(
        looped("fast[n] = p - 0.1 * grads[n]", "for n, p in net.named_parameters():"), "= p -", "= p.data -"
    ),
    "what the step is told not to do": Pair(TOLD, "        else:", "        if True:"),
    "gradients that are dropped": Pair(
        looped("p.grad = None", "for p in net.parameters():"), "p.grad = None", "p.grad.zero_()"
    ),
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())
def test_silent_for_one_reason(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC436", pair, tmp_path)


def test_silent_on_the_host(tmp_path: Path) -> None:
    check_pair("ACC436", Pair(AGES.replace(".cuda()", ""), "nn.Linear(8, 2))\n", "nn.Linear(8, 2)).cuda()\n"), tmp_path)


def test_silent_where_nothing_learns(tmp_path: Path) -> None:
    check_pair(
        "ACC436",
        Pair(
            AGES.replace("    o.zero_grad()\n", "").replace(".backward()", "").replace("    o.step()\n", ""),
            "net(x.cuda()).sum()",
            "net(x.cuda()).sum().backward(); o.step()",
        ),
        tmp_path,
    )


def test_silent_about_an_optimizer_of_the_project(tmp_path: Path) -> None:
    source = program("mine.step()", before=OPTIMIZER)
    pair = Pair(source, "class Mine(torch.optim.Optimizer)", "class Mine(conf.Base)")
    assert not findings_of("ACC436", pair.source, tmp_path)


@pytest.mark.parametrize(
    ("head", "body", "remedy"),
    [
        (AVERAGE, BLEND, "_foreach_lerp_"),
        (AVERAGE, "a.data = b.data * 0.1 + a.data * 0.9", "_foreach_lerp_"),
        (AVERAGE, "a.data.copy_(0.1 * b.data + (1 - 0.1) * a.data)", "_foreach_lerp_"),
        (AVERAGE, "a.data = torch.lerp(a.data, b.data, 0.1)", "_foreach_lerp_"),
        (AVERAGE, "a.data.lerp_(b.data, 0.1)", "_foreach_lerp_"),
        (AVERAGE, "a *= 0.9; a += 0.1 * b.detach()", "_foreach_lerp_"),
        (AVERAGE, "a.data.copy_(b.data)", "_foreach_copy_"),
        ("for p in net.parameters():", "if p.grad is not None: p.grad.data.clamp_(-1, 1)", "clip_grad_value_"),
        ("for p in net.parameters():", "p.grad.div_(4)", "_foreach_mul_"),
        ("for p in net.parameters():", "p.grad = p.grad / 4", "_foreach_mul_"),
        ("for p in net.parameters():", "p.grad.zero_()", "zero_grad(set_to_none=True)"),
        ("for p in net.parameters():", "p.grad.add_(p, alpha=0.1)", "_foreach_add_"),
        ("for p in net.parameters():", "total += p.grad.norm(2) ** 2", "get_total_norm"),
        ("for g in o.param_groups:\n      for p in g['params']:", "      p.grad.mul_(2)", "_foreach_mul_"),
    ],
)
def test_reported_with_what_replaces_it(head: str, body: str, remedy: str, tmp_path: Path) -> None:
    (found,) = findings_of("ACC436", looped(body, head, before="total = 0\n"), tmp_path)
    assert remedy in found.message
    assert head.splitlines()[-1].strip().rstrip(":") in found.message


ENTRIES = {
    "names": "w, m = dict(net.named_parameters()), dict(ema.named_parameters())\nfor k in w.keys():\n    m[k].data.mul_(0.9).add_(w[k].data)",
    "states": "w, m = net.state_dict(), ema.state_dict()\nfor k in w:\n    if k in m:\n        m[k].copy_(m[k] * 0.9 + w[k] * 0.1)",
    "places": "w, m = list(net.parameters()), list(ema.parameters())\nfor i in range(len(w)):\n    m[i].data.mul_(0.9).add_(w[i].data)",
}


@pytest.mark.parametrize(("kind", "lines"), ENTRIES.items(), ids=ENTRIES.keys())
def test_reported_by_name_and_place(kind: str, lines: str, tmp_path: Path) -> None:
    (found,) = findings_of("ACC436", program(*lines.splitlines()), tmp_path)
    assert "_foreach_lerp_" in found.message
    assert ("lists of floating-point tensors" in found.message) == (kind == "states")


SHADOW = """
class Shadow:
    def __init__(self, net):
        self.keys = [k for k, _ in net.named_parameters()]
        self.kept = {k: v.clone() for k, v in net.state_dict().items()}
    def update(self, net):
        now = net.state_dict()
        for k in self.keys:  # -> info none
            self.kept[k].copy_(self.kept[k] * 0.9 + now[k] * 0.1)
shadow = Shadow(net)
"""
GIVEN = """
def update_ema(target_params, source_params):
    for a, b in zip(target_params, source_params):  # -> info none
        a.detach().mul_(0.9).add_(b, alpha=0.1)
"""


def test_reported_in_a_class_and_a_function(tmp_path: Path) -> None:
    check_one("ACC436", program("shadow.update(net)", before=SHADOW), tmp_path)
    source = program("update_ema(ema.parameters(), net.parameters())", before=GIVEN)
    (found,) = check_one("ACC436", source, tmp_path)
    assert "get_ema_multi_avg_fn" in found.message


def test_a_target_that_is_no_average_has_no_class(tmp_path: Path) -> None:
    source = AGES.replace("ema", "target")
    (found,) = findings_of("ACC436", source, tmp_path)
    assert "get_ema_multi_avg_fn" not in found.message


def test_reported_beside_the_steps_of_the_optimizer(tmp_path: Path) -> None:
    """What happens every fourth batch, as the optimizer's step does, happens in each of its steps."""
    rare = (
        BEGIN
        + STEP
        + f"    if step % 4 == 0:\n        o.step()\n        {AVERAGE}  # -> info none\n            {BLEND}\n"
    )
    check_one("ACC436", rare, tmp_path)


SCALES = {
    "p.grad.mul_(0.1)": False,
    "p.grad *= 1 / total": False,
    "p.grad.mul_(most / (total + 1e-6))": True,
    "p.grad.mul_(min(1, 1 / total))": True,
    "p.grad.mul_(share)": True,
}


@pytest.mark.parametrize(("scale", "clips"), SCALES.items(), ids=SCALES.keys())
def test_norms_and_scales_by_hand_are_one_finding(scale: str, clips: bool, tmp_path: Path) -> None:
    norm, share = "total += p.grad.data.norm() ** 2", "share = most / total"
    head = "for p in net.parameters():"
    source = program(f"{head}  # -> info none", f"    {norm}", share, head, f"    {scale}", before="total = 0\n")
    (found,) = check_one("ACC436", source, tmp_path)
    assert ("clip_grad_norm_" in found.message) == clips
    assert ("call `torch._foreach_norm` and `torch._foreach_mul_`" in found.message) == (not clips)
    assert len(found.related) == 1


def test_norms_in_a_comprehension(tmp_path: Path) -> None:
    line = "n = torch.norm(torch.stack([torch.norm(p.grad.detach(), 2) for p in net.parameters()]), 2)"
    (found,) = findings_of("ACC436", program(line), tmp_path)
    assert "get_total_norm" in found.message
    rare = program(f"if step % 50 == 0: {line}")
    assert not findings_of("ACC436", rare, tmp_path)


def test_the_average_of_timm(tmp_path: Path) -> None:
    before = "from timm.utils import ModelEma\nkept = ModelEma(net, 0.99)\n"
    (found,) = findings_of("ACC436", program("kept.update(net)", before=before), tmp_path)
    assert "ModelEmaV3" in found.message
    check_pair(
        "ACC436",
        Pair(program("if step % 10 == 0: kept.update(net)", before=before), "if step % 10 == 0: "),
        tmp_path / "pair" if (tmp_path / "pair").mkdir() is None else tmp_path,
    )


def test_the_average_of_timm_where_it_has_no_other(tmp_path: Path) -> None:
    source = program("kept.update(net)", before="from timm.utils import ModelEma\nkept = ModelEma(net, 0.99)\n")
    path = tmp_path / "train.py"
    path.write_text(source)
    facts = analyze([Document.read(path)], tmp_path).facts[str(path)]
    for stated, count in ((Versions((0, 4), (0, 5)), 0), (Versions((0, 4)), 1), (Versions((1, 0), (1, 1)), 1)):
        facts.target = Target(libraries=(("timm", stated),))
        found = list(registry()["ACC436"].check(facts))
        assert len(found) == count
        assert ["(timm 1.0 or later)" in one.message for one in found] == [stated.oldest == (0, 4)] * count


@pytest.mark.parametrize(("version", "minor"), [("0.3.2", True), ("1.0.9", False)])
def test_the_average_of_timm_is_minor_where_the_readme_installs_one_long_before(
    version: str, minor: bool, tmp_path: Path
) -> None:
    before = "from timm.utils import ModelEma\nkept = ModelEma(net, 0.99)\n"
    (tmp_path / "README.md").write_text(f"Run `pip install timm=={version}` first.\n")
    (found,) = findings_of("ACC436", program("kept.update(net)", before=before), tmp_path)
    assert found.minor is minor


GROUPS = """
groups = []
for name, p in net.named_parameters():
    if "bias" in name:
        groups += [{"params": [p], "weight_decay": 0}]  # -> info none
    else:
        groups.append({"params": p, "weight_decay": 0.1})
o = torch.optim.SGD(groups, lr=0.1)
"""


def test_a_group_for_each_parameter(tmp_path: Path) -> None:
    (found,) = check_one("ACC436", program(before=GROUPS), tmp_path)
    assert len(found.related) == 1
    check_one(
        "ACC436",
        program(before="o = torch.optim.SGD([{'params': [p]} for p in net.parameters()], lr=1)  # -> info none\n"),
        tmp_path,
    )


@pytest.mark.parametrize(
    "groups",
    [
        "[{'params': [p for p in net.parameters()]}]",
        "[{'params': part.parameters()} for part in net.children()]",
        "[{'params': [p]} for p in conf.parts]",
    ],
)
def test_silent_about_groups_of_several(groups: str, tmp_path: Path) -> None:
    check_one("ACC436", program(before=f"o = torch.optim.SGD({groups}, lr=0.1)\n"), tmp_path)


def test_older_torch(tmp_path: Path) -> None:
    check_since("ACC436", AGES, (2, 0), tmp_path)


ROUNDS = """
for step, (x,) in enumerate(loader):
    for _ in range(3):
        o.zero_grad()
        net(x.cuda()).sum().backward()
        o.step()
    for a, b in zip(ema.parameters(), net.parameters()):  # -> info none
        a.data.mul_(0.9).add_(b.data, alpha=0.1)
"""


def test_reported_after_the_rounds_of_each_batch(tmp_path: Path) -> None:
    check_one("ACC436", BEGIN + ROUNDS, tmp_path)
    epochs = ROUNDS.replace("for step, (x,) in enumerate(loader)", "for step in range(3)")
    epochs = epochs.replace("for _ in range(3)", "for (x,) in loader").replace("  # -> info none", "")
    check_one("ACC436", BEGIN + epochs, tmp_path)


NORMS = """
def norm_of(parameters, kind=2.0, step=0):
    given = [p for p in parameters if p.grad is not None]
    if kind == 2.0:
        return torch.norm(torch.stack([torch.norm(p.grad, kind) for p in given]), kind)
    return 0
"""


def test_a_condition_on_what_the_function_is_given_changes_nothing(tmp_path: Path) -> None:
    source = program("n = norm_of(net.parameters(), step=step)", before=NORMS)
    check_pair(
        "ACC436", Pair(source.replace("kind == 2.0", "step % 50 == 0"), "step % 50 == 0", "kind == 2.0"), tmp_path
    )


MOMENTUM = (
    IMPORTS
    + """
import copy
class Pair(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder, self.momentum = encoder, copy.deepcopy(encoder)
    def forward(self, x):
        self.follow()
        return self.encoder(x.cuda())
    @torch.no_grad()
    def follow(self):
        for a, b in zip(self.momentum.parameters(), self.encoder.parameters()):
            a.data = a.data * 0.9 + b.data * 0.1
"""
)


def test_reported_in_the_forward_of_a_model_whose_training_is_elsewhere(tmp_path: Path) -> None:
    check_pair("ACC436", Pair(MOMENTUM.replace("def forward", "def once"), "def once", "def forward"), tmp_path)
