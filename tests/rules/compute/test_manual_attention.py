"""ACC430 manual-attention, silent cases first."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from ..checks import check_one, findings_of

HEAD = """
import math
import torch
import torch.nn.functional as F
from einops import rearrange
from torch import nn

class Attention(nn.Module):
    def __init__(self, dim, heads, temperature):
        super().__init__()
        self.heads, self.temperature = heads, temperature
        self.bias = nn.Parameter(torch.zeros(heads, 1, 1))
        self.head_dim = dim // heads
        self.scale = self.head_dim ** -0.5
        self.qkv = nn.Linear(dim, dim * 3)
        self.softmax = nn.Softmax(dim=-1)
        self.over_heads = nn.Softmax(dim=1)
        self.drop = nn.Dropout(0.1) if dim > 9 else nn.Identity()
        self.watch = temperature
    def forward(self, x, mask=None, past=None):
        B, N, C = x.shape
        qkv = self.qkv(x).reshape(B, N, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
"""
SILENT = {
    "the weights are kept": "self.w = w = (q @ k.transpose(-2, -1)).softmax(-1)\nreturn w @ v",
    "the weights are kept later": "w = (q @ k.transpose(-2, -1)).softmax(-1)\nout = w @ v\nself.w = w\nreturn out",
    "the weights are shown": "w = (q @ k.transpose(-2, -1)).softmax(-1)\nprint(w.mean())\nreturn w @ v",
    "the weights go through an unknown module": ("w = self.watch((q @ k.transpose(-2, -1)).softmax(-1))\nreturn w @ v"),
    "the weights are used twice": "w = (q @ k.transpose(-2, -1)).softmax(-1)\nreturn w @ v + w @ q",
    "the weights are captured": (
        "w = (q @ k.transpose(-2, -1)).softmax(-1)\nself.hook = lambda: w.mean()\nreturn w @ v"
    ),
    "the weights are changed": "w = (q @ k.transpose(-2, -1)).softmax(-1)\nw[0] = 0\nreturn w @ v",
    "the weights are changed in place": "w = (q @ k.transpose(-2, -1)).softmax(-1)\nw *= 2\nreturn w @ v",
    "the weights are multiplied by themselves": "w = (q @ k.transpose(-2, -1)).softmax(-1)\nreturn w @ w",
    "the weights are returned, and used by default": (
        "w = (q @ k.transpose(-2, -1)).softmax(-1)\ny = w @ v\nif self.heads is not None:\n    y = y + self.watch(w)\n"
        "return y, w"
    ),
    "the scores are kept": "s = q @ k.transpose(-2, -1)\nself.s = s\nreturn s.softmax(-1) @ v",
    "the scores are returned": "s = q @ k.transpose(-2, -1)\nreturn s.softmax(-1) @ v, s",
    "the scores in a mask": (
        "s = q @ k.transpose(-2, -1)\ns.masked_fill_((mask == 0).mul(s), -math.inf)\n"
        "return F.softmax(s.float(), dim=-1).type_as(s) @ v"
    ),
    "the scores in a list": "s = q @ k.transpose(-2, -1)\nkept = [s]\nreturn s.softmax(-1) @ v, kept",
    "something else that is added": "return (q @ k.transpose(-2, -1) + self.watch).softmax(-1) @ v",
    "a scale that is learnt": "return (q @ k.transpose(-2, -1) * self.bias).softmax(-1) @ v",
    "a change in place": "s = q @ k.mT\ns.clamp_(max=50)\nreturn self.softmax(s) @ v",
    "one query": (
        "q = self.qkv(x[:, 0]).reshape(B, 1, self.heads, -1).permute(0, 2, 1, 3)\nq = q * self.scale\n"
        "return (q @ k.transpose(-2, -1)).softmax(-1) @ v"
    ),
    "three factors in a list": "return torch.einsum('bhid,bhjd,bhj->bhij', [q, k, mask]).softmax(-1) @ v",
    "products of elements": "return torch.einsum('bhid,bhjd->bhd', q, k).softmax(-1) @ v",
    "keys that are summed up": "return torch.einsum('bhid,bhjd->bhij', k, q).softmax(1) @ v",
    "a product of two dimensions": "return torch.einsum('bhid,hid->bh', q, k).softmax(-1) @ v",
    "what something asks for": "w = (q @ k.mT).softmax(-1)\ny = w @ v\nif past > 3:\n    return y, w\nreturn y",
    "scores that are clipped": "return (q @ k.transpose(-2, -1)).clamp(max=50).softmax(-1) @ v",
    "another dimension": "return (q @ k.transpose(-2, -1)).softmax(1) @ v",
    "another dimension by keyword": "return F.softmax(q @ k.transpose(-2, -1), dim=1) @ v",
    "another dimension in a module": "return self.over_heads(q @ k.transpose(-2, -1)) @ v",
    "keys as they are": "return (q @ k).softmax(-1) @ v",
    "channels": "q = q.transpose(-2, -1)\nreturn (q @ k.transpose(-2, -1)).softmax(-1) @ v",
    "no values": "return (q @ k.transpose(-2, -1)).softmax(-1)",
    "no softmax": "return (q @ k.transpose(-2, -1)) @ v",
    "dropout before the softmax": "return self.drop(q @ k.transpose(-2, -1)).softmax(-1) @ v",
    "a softmax of somebody else": "return self.watch.softmax(q @ k.transpose(-2, -1), -1) @ v",
    "fused where it can be": (
        "if mask is None:\n    return F.scaled_dot_product_attention(q, k, v)\n"
        "return (q @ k.transpose(-2, -1)).softmax(-1) @ v"
    ),
    "the weights are global": "global w\nw = (q @ k.transpose(-2, -1)).softmax(-1)\nreturn w @ v",
    "the weights of a function within": (
        "def show():\n    print(w)\nw = (q @ k.transpose(-2, -1)).softmax(-1)\nreturn w @ v"
    ),
    "in a try": "try:\n    s = q @ k.transpose(-2, -1)\nexcept RuntimeError:\n    s = past\nreturn s.softmax(-1) @ v",
}


@pytest.mark.parametrize("body", SILENT.values(), ids=SILENT.keys())
def test_silent(body: str, tmp_path: Path) -> None:
    check_one("ACC430", HEAD + textwrap.indent(body, " " * 8) + "\n", tmp_path)


GIVEN_OUT = {
    "weights that an option changes": (
        "w = (q @ k.transpose(-2, -1)).softmax(-1)\nif mask is not None:\n    w = w * mask\nreturn w @ v, w"
    ),
    "the weights are returned": "w = (q @ k.transpose(-2, -1)).softmax(-1)\nreturn w @ v, w",
    "the weights are returned on either way": (
        "w = None\nif mask is None:\n    w = (q @ k.transpose(-2, -1)).softmax(-1)\n    x = w @ v\nreturn x, w"
    ),
    "the weights are returned after a loop": (
        "for k in past:\n    w = (q @ k.transpose(2, 3)).softmax(-1)\n    x = w @ v\nreturn x, w"
    ),
    "the weights are returned after a loop is left": (
        "for k in past:\n    if k is v:\n        w = (q @ k.transpose(2, 3)).softmax(-1)\n        x = w @ v\n"
        "        break\nreturn x, w"
    ),
}


@pytest.mark.parametrize("body", GIVEN_OUT.values(), ids=GIVEN_OUT.keys())
def test_minor_where_the_weights_are_returned(body: str, tmp_path: Path) -> None:
    (found,) = findings_of("ACC430", HEAD + textwrap.indent(body, " " * 8) + "\n", tmp_path)
    assert found.minor
    assert "where no caller needs them" in found.message


MARK = "  # -> info none"


@pytest.mark.parametrize(("stated", "barred"), [("torch~=1.13", True), ("torch>=1.13", False)])
def test_says_where_torch_has_to_be_newer(stated: str, barred: bool, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(f'[project]\nname = "p"\ndependencies = ["{stated}"]\n')
    body = f"        return (q @ k.transpose(-2, -1)).softmax(-1) @ v{MARK}\n"
    (found,) = check_one("ACC430", HEAD + body, tmp_path)
    assert found.message.endswith("(torch 2.0 or later, which this project rules out)") == barred


WATCHED = "w = (q @ k.transpose(-2, -1)).softmax(-1){mark}\nif {test}:\n    self.watch(w)\nreturn w @ v"


@pytest.mark.parametrize(
    ("test", "option"),
    [("mask is not None", True), ("self.watch and not past", True), ("past == 'all'", True), ("past > 3", False)],
)
def test_what_an_option_does_with_the_weights(test: str, option: bool, tmp_path: Path) -> None:
    body = WATCHED.format(test=test, mark=MARK if option else "")
    check_one("ACC430", HEAD + textwrap.indent(body, " " * 8) + "\n", tmp_path)


BRANCHES = """
w = q @ k.transpose(-2, -1){mark}
if mask is not None:
    w = self.watch(w, mask)
    w = self.softmax(w)
else:
    w = {other}(w)
return self.drop(w) @ v
"""


@pytest.mark.parametrize(("other", "is_attention"), [("self.softmax", True), ("self.over_heads", False)])
def test_follows_each_branch_by_itself(other: str, is_attention: bool, tmp_path: Path) -> None:
    body = BRANCHES.format(other=other, mark=MARK if is_attention else "")
    check_one("ACC430", HEAD + textwrap.indent(body, " " * 8) + "\n", tmp_path)


@pytest.mark.parametrize(("equation", "plain"), [("f'bhid,bhjd->bhij'", True), ("f'bhid,bhjd->{past}'", False)])
def test_an_equation_that_is_written_as_a_formatted_text(equation: str, plain: bool, tmp_path: Path) -> None:
    body = f"        return torch.einsum({equation}, q, k).softmax(-1) @ v{MARK if plain else ''}\n"
    check_one("ACC430", HEAD + body, tmp_path)


REPORTED = {
    "one expression": f"return torch.softmax(q @ k.transpose(-2, -1) * self.scale, -1) @ v{MARK}",
    "step by step": f"""
att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1))){MARK}
att = att.masked_fill(past[:, :, :N, :N] == 0, float('-inf'))
att = F.softmax(att, dim=-1)
att = self.drop(att)
y = att @ v
return y.transpose(1, 2).contiguous().view(B, N, C)
""",
    "queries scaled before": f"q = q * self.scale\nx = (q @ k.transpose(-2, -1)).softmax(dim=-1) @ v{MARK}\nreturn x",
    "queries scaled in place": f"q *= self.scale\nreturn (q @ k.transpose(-2, -1)).softmax(dim=-1) @ v{MARK}",
    "scores scaled in place": f"s = q @ k.transpose(-2, -1){MARK}\ns /= self.head_dim ** 0.5\nreturn s.softmax(-1) @ v",
    "a mask on a condition": f"""
d = q.size(-1)
scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(d){MARK}
if mask is not None:
    scores = scores.masked_fill(mask == 0, -1e9)
p = F.softmax(scores, dim=-1)
if self.training:
    p = F.dropout(p, 0.1)
return torch.matmul(p, v)
""",
    "heads by view": f"""
q = self.qkv(x).view(B, N, self.heads, -1).transpose(1, 2)
k = self.qkv(x).view(B, -1, self.heads, self.head_dim).transpose(1, 2)
return (q @ k.transpose(2, 3)).softmax(-1).matmul(v){MARK}
""",
    "heads by einops": f"""
q, k, v = map(lambda t: rearrange(t, 'b n (h d) -> b h n d', h=self.heads), self.qkv(x).chunk(3, dim=-1))
out = torch.matmul(self.drop(self.softmax(torch.matmul(q, k.transpose(-1, -2)) * self.scale)), v){MARK}
return rearrange(out, 'b h n d -> b n (h d)')
""",
    "heads by unbind": f"q, k, v = qkv.unbind(0)\nreturn (q @ k.transpose(-2, -1)).softmax(-1) @ v{MARK}",
    "the name of the weights is used again": f"x = (q @ k.transpose(-2, -1)).softmax(-1){MARK}\nx = x @ v\nreturn x, x.shape",
    "a mask in place": f"s = q @ k.mT{MARK}\ns.masked_fill_(mask, float('-inf'))\nreturn self.softmax(s) @ v",
    "a bias": f"s = q @ k.mT{MARK}\nreturn self.softmax(s + self.bias) @ v",
    "a bias in place": f"s = q @ k.mT{MARK}\ns += self.bias\nreturn self.softmax(s) @ v",
    "a bias on a condition": (
        f"s = q @ k.mT{MARK}\nif mask is not None:\n    s = s + self.position_bias\nreturn self.softmax(s) @ v"
    ),
    "a mask that is added": f"s = q @ k.mT{MARK}\ns = s + mask\nreturn self.softmax(s) @ v",
    "a mask by where": f"s = q @ k.mT{MARK}\ns = torch.where(mask, s, -1e9)\nreturn self.softmax(s) @ v",
    "by equations": f"""
s = torch.einsum("bhld,bhsd->bhls", q, k){MARK}
w = self.drop(torch.softmax((self.scale or 1.0 / math.sqrt(C)) * s, dim=-1))
return torch.einsum("bhls,bhsd->bhld", w, v)
""",
    "in half precision": f"""
w = q @ k.transpose(-2, -1) * self.scale{MARK}
w = F.softmax(w.float(), dim=-1).type(w.dtype)
return w @ v
""",
    "in three dimensions": f"""
w = torch.bmm(q, k.transpose(1, 2)) * self.scale{MARK}
return torch.bmm(F.softmax(w, dim=2), v)
""",
    "weights that an option asks for": f"""
w = (q @ k.transpose(-2, -1)).softmax(-1){MARK}
y = w @ v
if self.heads:
    return y, w
return y, None
""",
    "weights that are shown to those who ask": f"""
w = (q @ k.transpose(-2, -1)).softmax(-1){MARK}
return w @ v, w if self.heads else None
""",
    "a dropout of its own": f"return self.my_dropout((q @ k.mT).softmax(-1)) @ v{MARK}",
    "in a loop": f"for k in past:\n    w = (q @ k.transpose(2, 3)).softmax(-1){MARK}\n    x = w @ v\nreturn x",
    "keys that are transposed": f"k = k.mT\ns = torch.matmul(q, k){MARK}\nreturn self.softmax(s) @ v",
    "queries of their own": f"""
q = self.qkv(x[:, 1:]).reshape(B, N - 1, self.heads, -1).permute(0, 2, 1, 3)
q = q * self.scale
return (q @ k.transpose(-2, -1)).softmax(-1) @ v{MARK}
""",
    "factors in a list": f"""
w = torch.einsum('bhid,bhjd->bhij', [q, k]) * self.scale{MARK}
return torch.einsum('bhij,bhjd->bhid', (self.drop(self.softmax(w)), v))
""",
    "a mask that is computed where it is applied": f"""
s = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.head_dim){MARK}
if mask is not None:
    s.masked_fill_(mask == torch.tensor(False), float("-inf"))
return torch.matmul(self.softmax(s), v)
""",
    "one on either way": f"""
if mask is None:
    return (q @ k.transpose(-2, -1)).softmax(-1) @ v{MARK}
w = (q @ k.transpose(-2, -1)).masked_fill(mask, -1e9).softmax(-1){MARK}
return w @ v
""",
    "a mask of the size of the scores": f"""
s = q @ k.transpose(-2, -1){MARK}
s.masked_fill_((mask == 0).expand_as(s), -math.inf)
return F.softmax(s.float(), dim=-1).type_as(s) @ v
""",
}


@pytest.mark.parametrize("body", REPORTED.values(), ids=REPORTED.keys())
def test_reported(body: str, tmp_path: Path) -> None:
    check_one("ACC430", HEAD + textwrap.indent(body, " " * 8) + "\n", tmp_path)


@pytest.mark.parametrize(
    "deep",
    [
        "x = " + " + ".join(["x"] * 90),
        "x = x" + ".abs()" * 90,
        "if N == 0:\n    pass\n" + "".join(f"elif N == {i}:\n    x = {i}\n" for i in range(90)),
    ],
    ids=["a sum", "a chain", "branches"],
)
def test_follows_deep_code(deep: str, tmp_path: Path) -> None:
    body = f"{deep}\nreturn (q @ k.transpose(-2, -1)).softmax(-1) @ v{MARK}"
    check_one("ACC430", HEAD + textwrap.indent(body, " " * 8) + "\n", tmp_path)


def test_ends_where_attributes_are_made_from_each_other(tmp_path: Path) -> None:
    names = [f"a{i}" for i in range(30)]
    made = "".join(f"        self.{name} = {' * '.join(f'self.{one}' for one in names)}\n" for name in names)
    body = f"        return ((q @ k.transpose(-2, -1)) * self.a0).softmax(-1) @ v\n\n    def make(self):\n{made}"
    check_one("ACC430", HEAD + body, tmp_path)


def test_names_the_mask(tmp_path: Path) -> None:
    body = f"return (q @ k.transpose(-2, -1)).masked_fill(mask, -1e9).softmax(-1) @ v{MARK}\n"
    (found,) = check_one("ACC430", HEAD + "        " + body, tmp_path)
    assert "`q @ k.transpose(-2, -1)`" in found.message
    assert "(q, k, v, attn_mask)" in found.message


EQUATIONS = {
    ("bhid,bhjd->bhij", "bhij,bhjd->bhid"): "(q, k, v)`",
    ("bct,bcs->bts", "bts,bcs->bct"): (
        "(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)).transpose(1, 2)` with a dimension of heads, which its "
        "kernels ask for"
    ),
    ("bihd,bjhd->bhij", "bhij,bjhd->bihd"): (
        "(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)).transpose(1, 2)`"
    ),
    ("bhdi,bhdj->bhij", "bhij,bhdj->bhid"): "(q.transpose(2, 3), k.transpose(2, 3), v.transpose(2, 3))`",
    ("ibhd,jbhd->bhij", "bhij,jbhd->ibhd"): (
        "(q.permute(1, 2, 0, 3), k.permute(1, 2, 0, 3), v.permute(1, 2, 0, 3)).permute(2, 0, 1, 3)`"
    ),
    ("bhid,bjd->bhij", "bhij,bjd->bhid"): "(q, k, v)` with q, k and v brought to (batch, heads, length, channels)",
    ("...id,...jd->...ij", "...ij,...jd->...id"): "(q, k, v)`",
}


@pytest.mark.parametrize(("equations", "said"), EQUATIONS.items(), ids=["/".join(one) for one in EQUATIONS])
def test_says_how_the_factors_of_an_equation_are_moved(equations: tuple[str, str], said: str, tmp_path: Path) -> None:
    scores, values = equations
    body = f"w = torch.einsum('{scores}', q, k).softmax(-1){MARK}\nreturn torch.einsum('{values}', w, v)\n"
    (found,) = check_one("ACC430", HEAD + textwrap.indent(body, " " * 8), tmp_path)
    assert found.message.endswith(f"`F.scaled_dot_product_attention{said}")


@pytest.mark.parametrize("reshaped", [True, False])
def test_says_that_the_factors_are_those_that_an_equation_reshapes(reshaped: bool, tmp_path: Path) -> None:
    given = "q.view(-1, 16, N), k.view(-1, 16, N)" if reshaped else "q, k"
    body = f"w = torch.einsum('bct,bcs->bts', {given}).softmax(-1){MARK}\nreturn torch.einsum('bts,bcs->bct', w, v)\n"
    (found,) = check_one("ACC430", HEAD + textwrap.indent(body, " " * 8), tmp_path)
    assert (".transpose(1, 2)` of q, k and v as they are reshaped there, with a dimension" in found.message) is reshaped


def test_names_the_keys_that_lie_otherwise(tmp_path: Path) -> None:
    body = f"        keys = k.mT\n        return self.softmax(torch.matmul(q, keys){MARK}\n        ) @ v\n"
    (found,) = check_one("ACC430", HEAD + body, tmp_path)
    assert found.message.endswith(
        "`F.scaled_dot_product_attention(q, k, v)` with `keys` as they are before the transpose"
    )


def test_what_the_equations_are_told_computes_the_same() -> None:
    torch = pytest.importorskip("torch")
    for (scores, values), said in EQUATIONS.items():
        if "brought" in said:
            continue
        sizes = {"b": 2, "h": 3, "i": 4, "j": 5, "d": 8, "t": 4, "s": 5, "c": 8, ".": 2}
        q, k = (
            torch.randn([sizes[one] for one in part.replace("...", ".")])
            for part in scores[:-1].split("->")[0].split(",")
        )
        v = torch.randn([sizes[one] for one in values.split(",")[1].split("->")[0].replace("...", ".")])
        weights = torch.einsum(scores, q, k) / 8**0.5
        fused = eval(
            f"F.scaled_dot_product_attention{said.split('`')[0]}", {"F": torch.nn.functional, "q": q, "k": k, "v": v}
        )
        torch.testing.assert_close(fused, torch.einsum(values, weights.softmax(-1), v))


@pytest.mark.parametrize("given", ["mask: torch.Tensor", "F"])
def test_names_of_a_function_hide_those_around_it(given: str, tmp_path: Path) -> None:
    mark = "" if given == "F" else MARK
    function = (
        f"def attend(q, k, v, {given}):\n    return F.softmax(torch.matmul(q, k.transpose(2, 3)), -1) @ v{mark}\n"
    )
    check_one("ACC430", HEAD + "        return x\n" + function, tmp_path)


RETURNS = """
import torch
from torch import nn

class Attention(nn.Module):
    def forward(self, q, k, v, dropout=None):
        weights = torch.softmax(torch.matmul(q, k.transpose(-2, -1)) / 8, -1){mark}
        if dropout is not None:
            weights = dropout(weights)
        return torch.matmul(weights, v), weights

class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.1)
        self.attention = Attention()
        self.out = nn.Linear(8, 8)
    def forward(self, q, k, v):
        {call}
"""


@pytest.mark.parametrize("kept", ["", "if self.keeps:\n            self.weights = weights\n        "])
def test_weights_that_all_callers_drop_are_used_for_nothing(kept: str, tmp_path: Path) -> None:
    drops = f"x, weights = self.attention(q, k, v, self.drop)\n        {kept}return self.out(x)"
    (found,) = check_one("ACC430", RETURNS.format(mark="  # -> info none", call=drops), tmp_path)
    assert not found.minor


@pytest.mark.parametrize(
    "call",
    [
        "x, weights = self.attention(q, k, v)\n        return self.out(x), weights",
        "x, self.weights = self.attention(q, k, v)\n        return self.out(x)",
        "x, weights = self.attention(q, k, v)\n        if len(x) > 3:\n            print(weights)\n        return self.out(x)",
        "return self.attention(q, k, v)",
        "return self.out(q)",
    ],
)
def test_minor_where_a_caller_may_use_the_weights(call: str, tmp_path: Path) -> None:
    assert [one.minor for one in findings_of("ACC430", RETURNS.format(mark="", call=call), tmp_path)] == [True]
