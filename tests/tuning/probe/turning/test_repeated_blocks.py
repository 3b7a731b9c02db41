"""Which parts of a model are its repeated blocks, and how a source reaches them."""

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from accel_advisor.tuning.probe.turning.repeated_blocks import Recomputing  # noqa: E402


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner, self.outer = nn.Linear(4, 8), nn.Linear(8, 4)

    def forward(self, inputs: Any) -> Any:
        return inputs + self.outer(torch.tanh(self.inner(inputs)))


class Model(nn.Module):
    def __init__(self, **parts: nn.Module) -> None:
        super().__init__()
        for name, part in parts.items():
            self.add_module(name, part)


def row(count: int) -> nn.ModuleList:
    return nn.ModuleList(Block() for _ in range(count))


def transformer() -> nn.Module:
    return nn.Transformer(8, 2, 2, 2, 16, batch_first=True)


SHARED = Block()
NONE = {
    "one block": lambda: Model(layers=row(1)),
    "layers of torch alone": lambda: nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4), nn.ReLU()),
    "recurrent layers": lambda: Model(one=nn.LSTM(4, 4), other=nn.LSTM(4, 4)),
    "one block several times": lambda: Model(layers=nn.ModuleList([SHARED, SHARED, SHARED])),
}
REACHED = {
    "the model itself": (lambda: nn.Sequential(Block(), Block()), "{}"),
    "a list": (lambda: Model(layers=row(3)), "{}.layers"),
    "between other layers": (lambda: nn.Sequential(nn.Linear(4, 4), *row(3), nn.ReLU()), "{}[1:4]"),
    "a list within": (lambda: nn.Sequential(nn.Linear(4, 4), Model(layers=row(2))), "{}[1].layers"),
    "by key": (lambda: Model(parts=nn.ModuleDict({"a b": row(2)})), "{}.parts['a b']"),
    "by attribute": (lambda: Model(first=Block(), norm=nn.LayerNorm(4), second=Block()), "({}.first, {}.second)"),
    "stages": (lambda: Model(one=nn.Sequential(*row(2)), two=nn.Sequential(*row(2))), "(*{}.one, *{}.two)"),
    "stages in a row": (lambda: nn.Sequential(nn.Sequential(*row(2)), nn.Sequential(*row(2))), "(*{}[0], *{}[1])"),
    "encoder and decoder": (transformer, "(*{}.encoder.layers, *{}.decoder.layers)"),
}


def refuse(reason: str) -> None:
    raise AssertionError(reason)


@pytest.fixture(autouse=True)
def checkpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is turned wraps it."""
    monkeypatch.setattr(torch.utils.checkpoint, "checkpoint", torch.utils.checkpoint.checkpoint)


@pytest.mark.parametrize("name", NONE)
def test_what_has_no_repeated_blocks_is_left_alone(name: str) -> None:
    recomputing = Recomputing(refuse)
    model = NONE[name]()
    assert not recomputing.turn(model)
    assert recomputing.blocks == []
    assert not any("forward" in vars(module) for module in model.modules())


@pytest.mark.parametrize("name", REACHED)
def test_blocks_are_turned_where_they_are_reached(name: str) -> None:
    make, blocks = REACHED[name]
    recomputing, model = Recomputing(refuse), make()
    assert recomputing.turn(model)
    assert recomputing.blocks == [blocks]
    reached = list(eval(blocks.replace("{}", "model")))
    assert [module for module in model.modules() if "forward" in vars(module)] == reached


def test_gradients_are_the_same_and_less_is_kept() -> None:
    torch.manual_seed(0)
    model, inputs = nn.Sequential(*row(4)), torch.randn(2, 4)
    sizes: list[int] = []
    kept, gradients = [], []
    for turned in (False, True):
        if turned:
            assert Recomputing(refuse).turn(model)
        for _ in range(2):  # the first call goes another way
            sizes.clear()
            model.zero_grad()
            with torch.autograd.graph.saved_tensors_hooks(
                lambda one: sizes.append(one.numel()) or one, lambda one: one
            ):
                loss = model(inputs).square().sum()
            loss.backward()
            kept.append(sum(sizes))
            gradients.append([one.grad.clone() for one in model.parameters()])
    assert kept[0] == kept[1] > kept[2] == kept[3]
    assert all(torch.equal(*pair) for other in gradients[1:] for pair in zip(gradients[0], other, strict=True))


def test_a_model_of_transformers_has_a_method_of_its_own() -> None:
    transformers = pytest.importorskip("transformers")
    config = transformers.GPT2Config(n_layer=2, n_head=2, n_embd=8, vocab_size=16, n_positions=8)
    model = Model(backbone=transformers.GPT2LMHeadModel(config))
    recomputing = Recomputing(refuse)
    assert recomputing.turn(model)
    assert recomputing.blocks == ["{}.backbone.gradient_checkpointing_enable"]
    ids = torch.zeros(1, 4, dtype=torch.long)
    model.backbone(input_ids=ids, labels=ids).loss.backward()
    assert not recomputing.own
    with pytest.raises(AssertionError, match="checkpoints its activations itself"):
        Recomputing(refuse).turn(model)
