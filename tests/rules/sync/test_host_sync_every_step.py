"""ACC208 host-sync-every-step, silent cases first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ..checks import Pair, check, check_one, check_pair, findings_of
from ..programs import REGRESSION, REGRESSION_STEP
from .programs import BATCH, CLASSIFIER

NO_WAITS = {
    "slices": "a, b, c = out[:2], out[-1], out[0, 0]",
    "indices": "picked = out[out.argmax(1)]\n    again = x[y]",
    "where with three arguments": "a = torch.where(y > 0, y, y)\n    b = torch.where(out > 0, out, 0)",
    "masked on the device": "a = out.masked_fill(y > 0, 0)\n    b = out * (y > 0)",
    "every hundredth": "if i % 100 == 0:\n        print(loss.item(), f'{loss}', float(out.max()))",
    "in the only step": "print(loss.item(), float(out.max()))\n    break",
    "whether there is one": "if loss is None or out is None or y is None:\n        pass",
    "a mask that became numbers": "a = out[(y > 0).long()]\n    b = out[(y > 0).int()]",
    "asynchronously": "a = out.to('cpu', non_blocking=True)\n    b = loss.to('cpu', non_blocking=True)",
}


@pytest.mark.parametrize("body", NO_WAITS.values(), ids=NO_WAITS.keys())
def test_silent_where_a_step_does_not_wait(body: str, tmp_path: Path) -> None:
    check_one("ACC208", f"{CLASSIFIER}{BATCH}    {body}\n", tmp_path)


ONE_WAIT = {
    "one f-string": "print(f'{loss:.3f}')",
    "a number in an f-string": "print(f'{loss.item():.3f}')",
    "one progress bar": "conf.bar.set_postfix(loss=loss.item())",
    "a chain": "a = out.detach().cpu().numpy().tolist()",
    "after the copy": "host = out.detach().cpu(); a, b, c = host.max().item(), host.min().item(), f'{host}'",
    "the same value again": "a = loss.item(); print(loss.item(), float(loss), loss.detach().cpu())",
    "behind an early end": "if i > 9: break\n    a = loss.item()",
    "behind an error": "if out is None: raise ValueError\n    a = loss.item()",
    "behind short batches": "if len(x) < 4: continue\n    a = loss.item()",
    "as an option says": "if conf.amp: a = loss.item()",
    "on one rank": "if conf.rank == 0: a = loss.item()",
    "in either branch": "a = loss.item() if i < 3 else 2 * loss.item()",
    "in a loop within": "for k in range(3): a = loss.item()",
    "a check": "if not math.isfinite(loss.item()): raise SystemExit",
}


@pytest.mark.parametrize("body", ONE_WAIT.values(), ids=ONE_WAIT.keys())
def test_reports_one_wait(body: str, tmp_path: Path) -> None:
    (found,) = findings_of("ACC208", f"{CLASSIFIER}{BATCH}    {body}\n", tmp_path)
    assert str(found.severity) == "info"
    assert "waits for the GPU at every step, at" in found.message
    assert not found.related or "2 *" in body or body.count("loss") > 3


REMEDIES = {
    "a = loss.item()": "keep the value as a tensor",
    "a = out[out > 0]": "keep the size fixed",
    "a = torch.nonzero(out)": "keep the size fixed",
    "a = out.repeat_interleave(out[:, 0].long(), 0)": "pass `output_size`",
    "a = 1 if loss > 3 else 2": "let the GPU decide",
    "a = torch.linalg.solve(out.T @ out, out.T)": "`solve_ex`",
}


@pytest.mark.parametrize("body", REMEDIES)
def test_the_remedy_fits_what_the_step_waits_for(body: str, tmp_path: Path) -> None:
    (found,) = findings_of("ACC208", f"{CLASSIFIER}{BATCH}    {body}\n", tmp_path)
    assert REMEDIES[body] in found.message


def test_a_remedy_that_the_torch_of_a_project_lacks_is_minor(tmp_path: Path) -> None:
    inverse = "a = torch.linalg.inv(out.T @ out)"
    for body, minor in ((inverse, True), ("a = loss.item()", False), (f"{inverse}; b = loss.item()", False)):
        (tmp_path / "requirements.txt").write_text("torch==1.9.0\n")
        (found,) = findings_of("ACC208", f"{CLASSIFIER}{BATCH}    {body}\n", tmp_path)
        assert (found.minor, "(torch 1.13 or later" in found.message) == (minor, minor)


@pytest.mark.parametrize(
    ("body", "times"),
    [
        ("a, b = torch.linalg.inv(out.T @ out), (out.T @ out).inverse()", 2),
        ("m = out.T @ out\n    a, b = torch.linalg.inv(m), m.inverse()", 2),
        ("m = out.sum()\n    a, b = m.item(), float(m)", 1),
    ],
)
def test_each_function_that_asks_whether_it_failed_waits_by_itself(body: str, times: int, tmp_path: Path) -> None:
    (found,) = findings_of("ACC208", f"{CLASSIFIER}{BATCH}    {body}\n", tmp_path)
    assert f"GPU {'2 times ' if times == 2 else ''}at every step" in found.message


def test_torch_reads_the_number_at_which_it_writes() -> None:
    """What the rule holds of indexing: a tensor without dimensions is read, a list of positions is not."""
    torch = pytest.importorskip("torch")
    from torch.utils._python_dispatch import TorchDispatchMode

    class Reads(TorchDispatchMode):
        count = 0

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            self.count += "_local_scalar_dense" in str(func)
            return func(*args, **(kwargs or {}))

    held, number, positions = torch.zeros(5, 5), torch.tensor(2), torch.tensor([1, 2])
    for at, reads in (((number,), 1), ((0, number), 1), ((0, slice(number)), 1), ((2,), 0), ((positions,), 0)):
        with Reads() as seen:
            held[at] = 1
        assert seen.count == reads, at


SILENT = {
    "now and then": REGRESSION_STEP.replace("for x, y in loader", "for i, (x, y) in enumerate(loader)")
    + "    if i % 100 == 0:\n        print(loss.item(), out.max().item(), out.min().item())\n",
    "once an epoch": REGRESSION_STEP + "print(loss.item(), out.max().item(), out.min().item())\n",
    "in evaluation": (
        "model.eval()\nwith torch.no_grad():\n    for x, y in loader:\n        out = model(x.cuda(non_blocking=True))\n"
        "        a, b, c = out.max().item(), out.min().item(), out.sum().item()\n"
    ),
    "on the host": (
        "net = nn.Linear(8, 2)\nfor x, y in loader:\n    loss = criterion(net(x), y)\n    loss.backward()\n"
        "    a, b, c = loss.item(), loss.item(), loss.item()\n"
    ),
    "LBFGS": "opt = torch.optim.LBFGS(model.parameters())\n"
    + REGRESSION_STEP
    + "    a, b = loss.item(), out.max().item()\n    def closure():\n        return loss\n    opt.step(closure)\n",
    "shapes": REGRESSION_STEP + "    a, b, c = out.size(), len(out), out.dim()\n",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent_about_what_does_not_wait(source: str, tmp_path: Path) -> None:
    check_one("ACC208", REGRESSION + source, tmp_path)


WAITS = "a, b = loss.item(), out.max().item()"
PAIRS: dict[str, tuple[str, ...]] = {
    "every hundredth": ("    if i % 100 == 0:\n        " + WAITS, "if i % 100 == 0", "with torch.enable_grad()"),
    "behind a modulus": (
        "    if i % 100 == 0 and loss.item() > 3 and out.max().item() > 3:\n        pass",
        "i % 100 == 0 and loss.item() > 3 and out.max().item() > 3:\n        pass",
        "loss.item() > 3 or out.max().item() > 3:\n        pass\n    a = out.sum().item()",
    ),
    "as a function decides": (
        "    if conf.should_log(i):\n        " + WAITS,
        "if conf.should_log(i",
        "with torch.enable_grad(",
    ),
    "early continue": ("    if i % 100:\n        continue\n    " + WAITS, "continue", "pass"),
    "the norm of the gradients": (
        "    norm = nn.utils.clip_grad_norm(model.parameters(), 1.0)\n    if conf.norm > 3:\n        print('large')",
        "conf.norm",
        "norm",
    ),
    "epoch level": (WAITS, "a, b", "    a, b"),
    "a copy that was there": (
        "    host = torch.zeros(3)\n    a = host.sum().item()",
        "host.",
        "out.",
    ),
    "sizes": (
        "    a, b, c = out.size(0), len(out), out.dim()",
        "out.size(0), len(out",
        "loss.item(), out.max().item(",
    ),
    "only its size": (
        "    a, b = out.shape[0], out.shape[-1]",
        "out.shape[0], out.shape[-1]",
        "loss.item(), out.max().item()",
    ),
    "printed shapes": (
        "    print(out.shape)\n    print(out.size())",
        "out.shape)\n    print(out.size()",
        "out)\n    print(loss",
    ),
    "numbers of elements": (
        "    a, b = int(out.numel()), float(out.size(0))",
        "out.numel()), float(out.size(0",
        "out.max()), float(out.sum(",
    ),
    "where with three arguments": ("    z = torch.where(y > 0, y, y)", ", y, y"),
    "repeated as often": ("    z = torch.repeat_interleave(out, 3)", ", 3", ", y"),
    "repeated to a known size": (
        "    z = torch.repeat_interleave(out, y, output_size=9)",
        ", output_size=9",
    ),
    "repeated to a known size, method": (
        "    z = out.repeat_interleave(y, output_size=9)",
        ", output_size=9",
    ),
    "a logged shape": (
        "    import logging\n    logging.info('%s', out.shape)",
        "out.shape",
        "out",
    ),
    "a logger's shape": (
        ("    import logging\n    log = logging.getLogger('a')\n    log.info('%s', out.shape)"),
        "out.shape",
        "out",
    ),
    "written up to a number": (
        "    z = torch.zeros(9).cuda()\n    n = out.argmax()\n    z[:2] = 1",
        "z[:2]",
        "z[:n]",
    ),
    "written at a number": (
        "    z = torch.zeros(9, 9).cuda()\n    n = out.argmax()\n    z[0, 2] = 1",
        "z[0, 2]",
        "z[0, n]",
    ),
    "written at numbers": (
        "    z = torch.zeros(9).cuda()\n    n = out.argmax(1)\n    z[n] = 1",
        "argmax(1)",
        "argmax()",
    ),
    "whether it failed": (
        "    z = torch.linalg.inv_ex(out.T @ out).inverse",
        "inv_ex(out.T @ out).inverse",
        "inv(out.T @ out)",
    ),
    "whether a method failed": ("    z = (out.T @ out).trace()", "trace", "inverse"),
    "whether it failed on the host": ("    z = torch.linalg.inv(torch.eye(2))", "torch.eye(2)", "out.T @ out"),
    "whether there is one": (
        "    if loss is None or out is None: pass",
        "is None or out is None",
        "> 3 or out.sum() > 3",
    ),
    "under debug": ("    if conf.debug:\n        " + WAITS, "if conf.debug", "with torch.enable_grad()"),
    "numpy of host": (
        "    a, b = torch.zeros(3).numpy(), torch.zeros(3).tolist()",
        "torch.zeros(3).numpy(), torch.zeros(3).tolist",
        "loss.item(), out.max().item",
    ),
    "non tensors": (
        "    d = {}\n    a, b = d.items(), d.copy()",
        "d.items(), d.copy",
        "loss.item(), out.max().item",
    ),
    "on a condition with a name": (
        "    log = i % 10 == 0\n    if log: " + WAITS,
        "log = i % 10 == 0\n    if log: ",
    ),
    "in a conditional expression": (
        "    a, b = (loss.item(), out.max().item()) if i % 10 == 0 else (0, 0)",
        "(loss.item(), out.max().item()) if i % 10 == 0 else (0, 0",
        "loss.item(), out.max().item(",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    source, *change = PAIRS[case]
    check_pair("ACC208", Pair(CLASSIFIER + BATCH + source, *change), tmp_path)


PAIRS_IN_OTHER_LOOPS: dict[str, tuple[str, ...]] = {
    "evaluation": (
        (
            "model.eval()\nwith torch.no_grad():\n    for x, y in loader:\n        out = model(x.cuda())\n"
            "        a, b, c = out.max().item(), out.min().item(), out.sum().item()\n"
        ),
        (
            "model.eval()\nwith torch.no_grad():\n    for x, y in loader:\n        out = model(x.cuda())\n"
            "        a, b, c = out.max().item(), out.min().item(), out.sum().item"
        ),
        (
            "if 1:\n    for x, y in loader:\n        out = model(x.cuda())\n"
            "        a, b, c = out.max().item(), out.min().item(), out.sum().item()\n        out.sum().backward"
        ),
    ),
    "LBFGS": (
        "o = torch.optim.LBFGS(model.parameters())\n"
        + BATCH
        + ("    " + WAITS + "\n    def closure():\n        return loss\n    o.step(closure)\n"),
        "o.step(closure)",
        "o.step()",
    ),
    "LBFGS where it is chosen": (
        "o = torch.optim.LBFGS(model.parameters())\n"
        + BATCH
        + ("    " + WAITS + "\n    def closure():\n        return loss\n    o.step(closure)\n    other.step()\n"),
        "other.step()",
        "if 1 > conf.n: o.step()",
    ),
    "an environment of gym": (
        "import gym\nenv = gym.make('a')\n"
        + BATCH
        + ("    action = out.argmax().item()\n    obs, reward, done, info = env.step(loss.item())\n"),
        "import gym\nenv = gym.make('a')\n"
        + BATCH
        + "    action = out.argmax().item()\n    obs, reward, done, info = env.step",
        BATCH + "    action = out.argmax().item()\n    b = ",
    ),
    "an environment of gymnasium": (
        "import gymnasium as gym\nenv = gym.make('a')\n"
        + BATCH
        + ("    action = out.argmax().item()\n    obs, reward, done, info = env.step(loss.item())\n"),
        "import gymnasium as gym\nenv = gym.make('a')\n"
        + BATCH
        + "    action = out.argmax().item()\n    obs, reward, done, info = env.step",
        BATCH + "    action = out.argmax().item()\n    b = ",
    ),
    "an unknown environment": (
        "env = conf.env()\n"
        + BATCH
        + ("    action = out.argmax().item()\n    obs, reward, done, info = env.step(loss.item())\n"),
        "env = conf.env()\n" + BATCH + "    action = out.argmax().item()\n    obs, reward, done, info = env.step",
        BATCH + "    action = out.argmax().item()\n    b = ",
    ),
    "lightning": (
        (
            "import lightning as L\nclass N(L.LightningModule):\n    def fit(self):\n"
            "        for x, y in loader:\n"
            "            x = x.to(device); out = model(x); loss = criterion(out, y.to(device)); loss.backward()\n"
            "            "
        )
        + WAITS
        + "\n",
        "import lightning as L\nclass N(L.LightningModule)",
        "class N",
    ),
}


@pytest.mark.parametrize("case", PAIRS_IN_OTHER_LOOPS)
def test_silent_for_one_reason_in_other_loops(case: str, tmp_path: Path) -> None:
    source, *change = PAIRS_IN_OTHER_LOOPS[case]
    check_pair("ACC208", Pair(CLASSIFIER + source, *change), tmp_path)


@pytest.mark.parametrize("device", ['torch.device("cpu")', 'torch.device("mps")'])
def test_silent_where_nothing_is_on_a_gpu(device: str, tmp_path: Path) -> None:
    cuda = 'torch.device("cuda" if torch.cuda.is_available() else "cpu")'
    source = CLASSIFIER.replace(cuda, device) + BATCH + "    " + WAITS
    check_pair("ACC208", Pair(source, f"device = {device}", f"device = {cuda}"), tmp_path)


@pytest.mark.parametrize(
    "wait",
    [
        "print(f'{loss:.3f}')",
        "print('%.3f' % loss)",
        "print('{:.3f}'.format(loss))",
        "if loss > 3:\n        pass",
        "assert not torch.isnan(loss)",
        "bad = torch.isnan(out).any() or conf.bad",
        "kept = out[y > 0]",
        "kept = out[y.eq(1)]",
        "kept = out[torch.isfinite(out)]",
        "kept = torch.masked_select(out, out > 0)",
        "kept = torch.where(y > 0)",
        "kept = y.unique()",
        "kept = torch.nonzero(y)",
        "bad = math.isnan(loss)",
        "_, best = out.data.max(1)\n    hits = best.eq(y).sum().item()",
        "_, best = torch.max(out.data, 1)\n    hits = (best == y).sum().item()",
        "host = out.detach().to('cpu')",
    ],
)
def test_reports_all_that_waits(wait: str, tmp_path: Path) -> None:
    (found,) = findings_of("ACC208", f"{CLASSIFIER}{BATCH}    {wait}\n", tmp_path)
    assert found.span.start.row > CLASSIFIER.count("\n")


def test_reports_the_waits_of_functions_that_the_loop_calls(tmp_path: Path) -> None:
    source = """
class Trainer:
    def __init__(self, net, batches):
        self.net, self.batches = net, batches
    def step(self, x, y):
        out = self.net(x.to(device, non_blocking=True))
        loss = criterion(out, y.to(device, non_blocking=True))
        loss.backward()
        return loss.item(), (out.argmax(1) == y.to(device)).float().mean().item()  # -> info none
    def fit(self):
        for x, y in self.batches:
            self.step(x, y)
Trainer(model, loader).fit()
"""
    check_one("ACC208", CLASSIFIER + source, tmp_path)


def test_waits_at_every_step(tmp_path: Path) -> None:
    source = REGRESSION + REGRESSION_STEP + "    a = loss.item()  # -> ACC208 info none\n    b = float(out.max())\n"
    found = check(source, tmp_path)
    assert len(found[0].related) == 1
    check(source + "    print(out.mean())\n", tmp_path)
    apart = "    c = out.detach().cpu()\n    d = out.max(1)[0].cpu()\n"
    check(source.replace("ACC208 info", "ACC208 warning") + apart, tmp_path)
