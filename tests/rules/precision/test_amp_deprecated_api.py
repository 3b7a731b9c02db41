"""ACC402 amp-deprecated-api, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor import lint
from accel_advisor.analysis.project import analyze
from accel_advisor.finding import Applicability
from accel_advisor.project.target import Target, Versions
from accel_advisor.rule import registry
from accel_advisor.source.document import Document

from ..checks import Pair, check_one, check_pair, check_since, findings_of, fixed
from ..programs import IMPORTS

SILENT = {
    "new names": "s = torch.amp.GradScaler('cuda')\nwith torch.autocast('cuda'):\n    pass",
    "a choice between both": (
        "s = torch.amp.GradScaler('cuda') if hasattr(torch.amp, 'GradScaler') else torch.cuda.amp.GradScaler()"
    ),
    "torch_xla": "import torch_xla.core.xla_model as xm\nd = xm.xla_device()\ns = torch.cuda.amp.GradScaler()",
    "somebody else's": "from apex.amp import autocast\nwith autocast():\n    pass",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC402", IMPORTS + source + "\n", tmp_path)


def test_silent_for_a_project_that_pins_an_older_torch(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text("import torch\ns = torch.cuda.amp.GradScaler()\nwith torch.cuda.amp.autocast():\n    pass\n")
    facts = analyze([Document.read(path)], tmp_path).facts[str(path)]
    for versions, rows in ((Versions((2, 1), (2, 2)), []), (Versions((2, 4), (2, 6)), [2, 3])):
        facts.target = Target(torch=versions)
        found = list(registry()["ACC402"].check(facts))
        assert [one.span.start.row for one in found] == rows, "torch 2.4 began to warn"


@pytest.mark.parametrize(
    ("line", "minor"),
    [
        ("MAJOR = int(torch.__version__.split('.')[0])", True),
        ("print(f'{torch . __version__}')", True),
        ("from torch import __version__ as found\nOLD = found < '2'", True),
        ("import torch as th\nOLD = th.__version__ < '2'", True),
        ("try:\n    import torch\nexcept ImportError:\n    torch = None\nOLD = torch.__version__ < '2'", True),
        ("MAJOR = int(torch.__name__.split('.')[0])", False),
        ("# torch.__version__ is 2.4", False),
        ("WORDS = 'torch.__version__'", False),
        ('def main():\n    """Prints torch.__version__."""', False),
        ("import mytorch\nOLD = mytorch.__version__ < '2'", False),
        ("import other\nOLD = other.torch.__version__ < '2'", False),
    ],
)
def test_minor_where_the_program_asks_for_the_version_of_torch(line: str, minor: bool, tmp_path: Path) -> None:
    source = f"import torch\n{line}\ns = torch.cuda.amp.GradScaler()\n"
    assert [one.minor for one in findings_of("ACC402", source, tmp_path)] == [minor]


SILENT_PROGRAMS = {
    "old torch alias": """
from torch.cuda.amp import autocast, GradScaler
try:
    from torch.amp import GradScaler as G2
except ImportError:
    G2 = None
scaler = G2("cuda") if G2 is not None else GradScaler()
""",
    "user named autocast": """
def autocast(x):
    return x
autocast(False)
""",
    "try import fallback": """
try:
    from torch.amp import autocast
except ImportError:
    from torch.cuda.amp import autocast
with autocast("cuda"):
    pass
""",
}


@pytest.mark.parametrize("case", SILENT_PROGRAMS)
def test_silent_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC402", IMPORTS + SILENT_PROGRAMS[case], tmp_path)


SCALER = "s = torch.cuda.amp.GradScaler()\n"


def beside(line: str, others: dict[str, str] | None = None) -> Pair:
    """The old name in a program with one more line."""
    return Pair(IMPORTS + line + SCALER, line, "", others or {})


PAIRS = {
    "torch_xla": beside("import torch_xla.core.xla_model as xm\n"),
    "torch_npu": beside("import torch_npu\n"),
    "torch_npu for everything": beside("from torch_npu.contrib import transfer_to_npu\n"),
    "torch_npu where it is there": beside("try:\n    import torch_npu\nexcept ImportError:\n    pass\n"),
    "torch_npu in another file": beside("import place\n", {"place.py": "import torch\nimport torch_npu\n"}),
    "the program's own": beside("torch.cuda.amp.GradScaler = print\n"),
    "both names": beside("n = torch.amp.GradScaler('cuda')\n"),
    "both names of a decorator": Pair(
        IMPORTS
        + "from torch.cuda.amp import custom_fwd as old\n"
        + "try:\n    from torch.amp import custom_fwd\nexcept ImportError:\n    custom_fwd = old\n"
        + "class Mine(torch.autograd.Function):\n    @staticmethod\n    @custom_fwd\n    def forward(ctx, x):\n        return x\n",
        "try:\n    from torch.amp import custom_fwd\nexcept ImportError:\n    custom_fwd = old\n",
        "custom_fwd = old\n",
    ),
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())
def test_silent_for_one_reason(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC402", pair, tmp_path)


@pytest.mark.parametrize(
    ("call", "since"),
    [
        ("torch.cuda.amp.autocast()", (1, 10)),
        ("torch.cuda.amp.GradScaler()", (2, 3)),
        ("torch.cuda.amp.custom_fwd(cast_inputs=torch.half)", (2, 4)),
        ("torch.cuda.amp.custom_bwd(print)", (2, 4)),
    ],
)
def test_silent_before_the_torch_that_has_the_new_ones(call: str, since: tuple[int, int], tmp_path: Path) -> None:
    check_since("ACC402", f"import torch\nx = {call}\n", since, tmp_path)


@pytest.mark.parametrize(
    ("beside", "remedy"),
    [
        ("", 'use `torch.autocast("cuda", ...)` (torch 1.10 or later)'),
        (
            "s = torch.cuda.amp.GradScaler()\n",
            'use `torch.autocast("cuda", ...)`, and `torch.amp.GradScaler("cuda", ...)` beside it (torch 2.3 or later)',
        ),
    ],
)
def test_names_what_else_of_a_file_needs_a_later_torch(beside: str, remedy: str, tmp_path: Path) -> None:
    """They are changed together, and said in one remark."""
    source = f"import torch\nwith torch.cuda.amp.autocast():\n    pass\n{beside}"
    first, *others = findings_of("ACC402", source, tmp_path, {"requirements.txt": "torch>=1.8\n"})
    assert first.advice == remedy
    assert [one.advice for one in others] == ['use `torch.amp.GradScaler("cuda", ...)` (torch 2.3 or later)'] * bool(
        beside
    )


@pytest.mark.parametrize(
    ("call", "since"),
    [("autocast()", None), ("GradScaler()", (2, 3)), ("custom_fwd(cast_inputs=torch.half)", (2, 4))],
)
def test_a_name_that_came_lately_is_safe_only_where_older_versions_are_ruled_out(
    call: str, since: tuple[int, int] | None, tmp_path: Path
) -> None:
    path = tmp_path / "train.py"
    path.write_text(f"import torch\nx = torch.cuda.amp.{call}\n")
    facts = analyze([Document.read(path)], tmp_path).facts[str(path)]
    for stated in (Versions(), Versions(None, (4, 0)), Versions(since or (1, 10))):
        facts.target = Target(torch=stated)
        (found,) = registry()["ACC402"].check(facts)
        assert found.minor is (stated.oldest is not None and stated.oldest < (2, 4))
        sure = since is None or stated.oldest == since
        assert found.fix is not None
        assert found.fix.applicability is (Applicability.SAFE if sure else Applicability.UNSAFE)
        named = "" if sure or since is None else f" (torch {since[0]}.{since[1]} or later)"
        assert found.advice.rpartition("`")[2] == named


@pytest.mark.parametrize("stated", [Versions((1, 11)), Versions((2, 3))])
@pytest.mark.parametrize("call", ["autocast()", "GradScaler()"])
def test_minor_where_the_project_names_a_version_that_does_not_warn(
    call: str, stated: Versions, tmp_path: Path
) -> None:
    path = tmp_path / "train.py"
    path.write_text(f"import torch\nx = torch.cuda.amp.{call}\n")
    facts = analyze([Document.read(path)], tmp_path).facts[str(path)]
    for target in (Target(torch=stated), Target(advised=(("torch", stated),))):
        facts.target = target
        assert [one.minor for one in registry()["ACC402"].check(facts)] == [True]
    facts.target = Target(torch=Versions((2, 4)))
    assert [one.minor for one in registry()["ACC402"].check(facts)] == [False]


@pytest.mark.filterwarnings("ignore")  # autocast and GradScaler say that there is no GPU
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("torch.cuda.amp.autocast()", 'torch.autocast("cuda")'),
        ("torch.cuda.amp.autocast(False)", 'torch.autocast("cuda", enabled=False)'),
        ("torch.cuda.amp.autocast(True, torch.half)", 'torch.autocast("cuda", enabled=True, dtype=torch.half)'),
        ("torch.cuda.amp.autocast(dtype=torch.half)", 'torch.autocast("cuda", dtype=torch.half)'),
        ("torch.cpu.amp.autocast(False)", 'torch.autocast("cpu", enabled=False)'),
        ("torch.cuda.amp.GradScaler()", 'torch.amp.GradScaler("cuda")'),
        ("torch.cuda.amp.GradScaler(2.0)", 'torch.amp.GradScaler("cuda", 2.0)'),
        ("torch.cuda.amp.GradScaler(enabled=False)", 'torch.amp.GradScaler("cuda", enabled=False)'),
        (
            "torch.cuda.amp.custom_fwd(cast_inputs=torch.half)",
            'torch.amp.custom_fwd(cast_inputs=torch.half, device_type="cuda")',
        ),
    ],
)
def test_names_are_replaced_by_what_does_the_same(before: str, after: str, tmp_path: Path) -> None:
    fix = "safe" if "autocast" in before else "unsafe"  # torch 1.10 has it, the others came with 2.3 and 2.4
    check_one("ACC402", IMPORTS + f"x = {before}  # -> info {fix}\n", tmp_path)
    text = fixed("ACC402", IMPORTS + f"x = {before}\n", tmp_path)
    assert text.endswith(f"x = {after}\n")
    exec(f"x = {after}", {"torch": pytest.importorskip("torch")})  # the recommended call exists


CAST = "with cast():\n    pass\n"
FUNCTION = """class F(torch.autograd.Function):
    @staticmethod
    @custom_fwd
    def forward(ctx, x):
        return x
"""
IMPORTED = "from torch.cuda.amp import autocast as cast, custom_fwd\n"


def test_an_import_moves_with_all_that_is_called_of_it(tmp_path: Path) -> None:
    text = fixed("ACC402", IMPORTS + IMPORTED + FUNCTION + CAST, tmp_path)
    assert "from torch.amp import autocast as cast, custom_fwd\n" in text
    assert '    @custom_fwd(device_type="cuda")\n' in text
    assert 'with cast("cuda"):' in text
    pytest.importorskip("torch")
    exec(text, {})


STAYS = {
    "a name that is used otherwise": IMPORTED + FUNCTION + CAST + "print(cast)\n",
    "a name that is not used": IMPORTED + CAST + "import conf\ncast = conf.cast\n",
    "splatted arguments": IMPORTED + FUNCTION + CAST + "import conf\nwith cast(**conf.kw):\n    pass\n",
    "everything": "from torch.cuda.amp import *\nwith autocast():\n    pass\n",
}


@pytest.mark.parametrize("source", STAYS.values(), ids=STAYS.keys())
def test_an_import_stays_where_something_else_needs_it(source: str, tmp_path: Path) -> None:
    text = fixed("ACC402", IMPORTS + source, tmp_path)
    assert source.splitlines()[0].removesuffix(", custom_fwd") in text
    assert "torch.amp import" not in text


def test_what_is_called_by_its_new_name_is_imported_no_more(tmp_path: Path) -> None:
    text = fixed("ACC402", IMPORTS + STAYS["splatted arguments"], tmp_path)
    assert "from torch.cuda.amp import autocast as cast\n" in text
    assert '@torch.amp.custom_fwd(device_type="cuda")' in text


@pytest.mark.parametrize(("oldest", "moves"), [((2, 3), True), ((2, 1), False)])
def test_an_import_moves_where_all_its_names_are_there(oldest: tuple[int, int], moves: bool, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text("import torch\nfrom torch.cuda.amp import autocast, GradScaler\ns = GradScaler()\nautocast()\n")
    facts = analyze([Document.read(path)], tmp_path).facts[str(path)]
    facts.target = Target(torch=Versions(oldest, None))
    for one in registry()["ACC402"].check(facts):
        assert one.fix is not None
        assert any(edit.content == "torch.amp" for edit in one.fix.edits) is moves


def test_names_have_no_fix_where_torch_is_not_imported_or_arguments_are_splatted(tmp_path: Path) -> None:
    twice = "from torch.cuda.amp import GradScaler\ns = GradScaler()  # -> info {}\n"
    check_one("ACC402", twice.format("none") + "print(GradScaler)\n", tmp_path)
    check_one("ACC402", twice.format("unsafe"), tmp_path)
    check_one("ACC402", IMPORTS + "import conf\ns = torch.cuda.amp.GradScaler(**conf.kw)  # -> info none\n", tmp_path)


REPORTED_PROGRAMS = {
    "old amp": """
from torch.cuda.amp import autocast, GradScaler
scaler = GradScaler()  # -> info unsafe
with autocast():  # -> info unsafe
    pass
""",
    "attribute module alias": """
import torch.cuda.amp as amp
with amp.autocast(enabled=True):  # -> info safe
    pass
""",
}


@pytest.mark.parametrize("case", REPORTED_PROGRAMS)
def test_reported_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC402", IMPORTS + REPORTED_PROGRAMS[case], tmp_path)


VARIABLES = {
    "switched on by a flag": (
        "def train(args):\n    cast = suppress\n    if args.amp:\n        cast = torch.cuda.amp.autocast\n"
        "    with cast():  # -> info none\n        pass"
    ),
    "one of two": ("cast = torch.cuda.amp.autocast if args.amp else suppress\nwith cast():  # -> info none\n    pass"),
    "a parameter": (
        "def step(cast=suppress):\n    with cast():  # -> info none\n        pass\nstep(torch.cuda.amp.autocast)\nstep()"
    ),
    "an attribute": (
        "class Trainer:\n    def __init__(self):\n        self.cast = torch.cuda.amp.autocast\n"
        "    def step(self):\n        with self.cast():  # -> info none\n            pass\nTrainer().step()"
    ),
    "set elsewhere": (
        "cast = suppress\ndef switch():\n    global cast\n    cast = torch.cuda.amp.autocast\nswitch()\n"
        "with cast():  # -> info none\n    pass"
    ),
    "an import": "from torch.cuda.amp import autocast as cast\nwith cast():  # -> info safe\n    pass",
    "a module": "import torch.cuda.amp as amp\nwith amp.autocast():  # -> info safe\n    pass",
    "a decorator that is a variable": (
        "cast = torch.cuda.amp.autocast\n@cast()  # -> info none\ndef step():\n    pass\nstep()"
    ),
}


@pytest.mark.parametrize("source", VARIABLES.values(), ids=VARIABLES.keys())
def test_a_call_through_a_variable_is_never_rewritten(source: str, tmp_path: Path) -> None:
    check_one("ACC402", f"import torch\nfrom contextlib import suppress\n{source}\n", tmp_path)


@pytest.mark.parametrize("source", ["from torch.cuda.amp import autocast", "autocast = torch.cuda.amp.autocast"])
def test_names_where_the_old_name_comes_from(source: str, tmp_path: Path) -> None:
    text = f"try:\n    {source}\nexcept Exception:\n    autocast = None\nwith autocast():  # -> info none\n    pass\n"
    (found,) = check_one("ACC402", IMPORTS + text, tmp_path)
    assert [(one.span.start.row, one.message) for one in found.related] == [(6, "the name comes from here")]


def test_names_nothing_beside_a_whole_name(tmp_path: Path) -> None:
    (found,) = check_one("ACC402", IMPORTS + "with torch.cuda.amp.autocast():  # -> info safe\n    pass\n", tmp_path)
    assert found.related == ()


APEX = """
from apex import amp
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
with amp.scale_loss(loss, optimizer) as scaled:
    scaled.backward()
"""
LAYERS = (
    "from apex.optimizers import FusedAdam\nfrom apex.normalization import FusedLayerNorm\nlayer = FusedLayerNorm(8)\n"
)


@pytest.mark.parametrize(
    "line",
    [
        "with torch.autocast('cuda'):\n    pass\n",
        "scaler = torch.amp.GradScaler('cuda')\n",
        "from torch.cuda.amp import autocast\n",
    ],
)
def test_silent_about_apex_beside_mixed_precision_of_torch(line: str, tmp_path: Path) -> None:
    check_pair("ACC402", Pair(IMPORTS + APEX + line, line), tmp_path)


def test_silent_about_other_parts_of_apex(tmp_path: Path) -> None:
    check_one("ACC402", IMPORTS + LAYERS + "optimizer = FusedAdam(layer.parameters())\n", tmp_path)


def test_apex_is_reported_once_a_file(tmp_path: Path) -> None:
    (found,) = check_one("ACC402", IMPORTS + APEX.replace('"O1")', '"O1")  # -> info none'), tmp_path)
    assert found.message.startswith("`apex.amp.initialize` of apex is deprecated")
    assert "`torch.amp.GradScaler`" in found.message
    assert "DistributedDataParallel" not in found.message
    assert [one.span.start.row for one in found.related] == [8]


def test_the_wrapper_of_apex(tmp_path: Path) -> None:
    wrap = "from apex.parallel import DistributedDataParallel as DDP\nmodel = DDP(model)  # -> info none\n"
    (found,) = check_one("ACC402", IMPORTS + wrap, tmp_path)
    assert found.message.endswith("use `torch.nn.parallel.DistributedDataParallel`")


def test_apex_in_a_project_with_an_older_torch(tmp_path: Path) -> None:
    check_since("ACC402", IMPORTS + APEX, (2, 3), tmp_path)


def test_an_evaluation_is_a_place_of_the_remark_about_the_training(tmp_path: Path) -> None:
    autocast = "with torch.cuda.amp.autocast():\n    loss = nn.Linear(8, 2)(torch.zeros(2, 8)).sum()\n"
    (tmp_path / "train.py").write_text(IMPORTS + autocast + "for i in range(9):\n    loss.backward()\n")
    for name in ("eval.py", "demo.py"):
        (tmp_path / name).write_text(IMPORTS + autocast)
    (found,) = lint(tmp_path, select="ACC402", cache=False).findings
    assert Path(found.filename).name == "train.py"
    assert [Path(one.filename).name for one in found.related] == ["demo.py", "eval.py"]
    assert found.fix is not None
    assert found.fix.title.count("likewise") <= 1
