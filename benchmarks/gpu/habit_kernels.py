"""Steps whose kernels could be fewer or faster: optimizers, precision, cuDNN, layouts, what is written out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from .habit_variants import Step, Variant


class Kernels:
    """Makes the steps of each group on one device."""

    def __init__(self, device: torch.device, quick: bool) -> None:
        self.device = device
        self.quick = quick
        self.cuda = device.type == "cuda"

    def weights(self, layers: int, width: int, rows: int) -> list[Variant]:
        """What is done for each weight: steps of the optimizer, gradients set to zero, averages."""
        if self.quick:
            layers, width = 8, min(64, width)
        inputs = torch.randn(rows, width, device=self.device)
        found: list[Variant] = []

        def trained(*, set_to_none: bool = True, retain: bool = False, anomaly: bool = False, **how: bool) -> Step:
            model = nn.Sequential(*[nn.Linear(width, width) for _ in range(layers)]).to(self.device)
            optimizer = torch.optim.AdamW(model.parameters(), lr=1e-6, **how)

            def step() -> None:
                with torch.autograd.set_detect_anomaly(True) if anomaly else nullcontext():
                    loss = model(inputs).square().mean()
                    optimizer.zero_grad(set_to_none=set_to_none)
                    loss.backward(retain_graph=retain)
                    optimizer.step()

            return step

        def averaged(*, together: bool) -> Step:
            model = nn.Sequential(*[nn.Linear(width, width) for _ in range(layers)]).to(self.device)
            copies = [one.detach().clone() for one in model.parameters()]
            weights = [one.detach() for one in model.parameters()]
            step = trained()

            def one_by_one() -> None:
                step()
                with torch.no_grad():
                    for copy, weight in zip(copies, weights, strict=True):
                        copy.mul_(0.999).add_(weight, alpha=0.001)

            def all_at_once() -> None:
                step()
                torch._foreach_lerp_(copies, weights, 0.001)

            return all_at_once if together else one_by_one

        found += [
            Variant("fused", trained(fused=True)),
            Variant("foreach", trained(), "ACC415", "`AdamW(...)` without `fused=True`", "fused"),
            Variant(
                "loop",
                trained(foreach=False),
                "ACC416",
                "`AdamW(..., foreach=False)` beside its default",
                "foreach",
            ),
            Variant("zeros", trained(set_to_none=False), "ACC411", "`zero_grad(set_to_none=False)`", "foreach"),
            Variant("retained", trained(retain=True), "ACC414", "`backward(retain_graph=True)`", "foreach"),
            Variant("anomaly", trained(anomaly=True), "ACC412", "`detect_anomaly` left on", "foreach"),
            Variant("average", averaged(together=True)),
            Variant(
                "averages one by one",
                averaged(together=False),
                "ACC436",
                "an average of the weights, one parameter at a time",
                "average",
            ),
        ]
        return found

    def products(self) -> list[Variant]:
        """Matrix products in four precisions."""
        texts, words, width = (2, 16, 64) if self.quick else (32, 512, 1024)
        found = []

        def trained(dtype: torch.dtype, autocast: bool) -> Step:
            layer = nn.TransformerEncoderLayer(width, 8, 4 * width, dropout=0.0, batch_first=True)
            model = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False).to(self.device, dtype)
            optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
            inputs = torch.randn(texts, words, width, device=self.device, dtype=dtype)

            def step() -> None:
                with torch.autocast(self.device.type, torch.bfloat16) if autocast else nullcontext():
                    loss = model(inputs).float().square().mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()

            return step

        high = partial(torch.set_float32_matmul_precision, "high")
        highest = partial(torch.set_float32_matmul_precision, "highest")
        full = trained(torch.float32, False)
        found += [
            Variant("bfloat16", trained(torch.float32, True), prepare=high),
            Variant("tf32", full, "ACC417", "float32 with TF32 instead of `autocast` in bfloat16", "bfloat16", high),
            Variant("float32", full, "ACC408", "float32 without TF32", "tf32", highest),
            Variant(
                "float64", trained(torch.float64, False), "ACC418", "float64 instead of float32", "float32", highest
            ),
        ]
        return found

    def _images(self) -> torch.Tensor:
        shape = (2, 3, 64, 64) if self.quick else (256, 3, 224, 224)
        return torch.randn(*shape, device=self.device)

    def convolutions(self) -> list[Variant]:
        """A training of a ResNet under cuDNN's switches, layouts and with biases that batch norm removes."""
        images = self._images()
        labels = torch.zeros(len(images), dtype=torch.long, device=self.device)
        wide = images.to(memory_format=torch.channels_last)

        def trained(inputs: torch.Tensor, *, bias: bool = False, autocast: bool = False, layout: Any = None) -> Step:
            model = resnet(bias=bias).to(self.device, memory_format=layout or torch.contiguous_format)
            optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)

            def step() -> None:
                with torch.autocast(self.device.type, torch.bfloat16) if autocast else nullcontext():
                    loss = functional.cross_entropy(model(inputs).float(), labels)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()

            return step

        plain = trained(images)
        default, chosen = partial(_cudnn), partial(_cudnn, benchmark=True)
        return [
            Variant("default", plain, "ACC437", "`cudnn.benchmark` left off", "benchmark", default),
            Variant("benchmark", plain, prepare=chosen),
            Variant("off", plain, "ACC410", "`cudnn.enabled = False`", "default", partial(_cudnn, enabled=False)),
            Variant(
                "deterministic",
                plain,
                "ACC410",
                "`cudnn.deterministic = True`",
                "default",
                partial(_cudnn, deterministic=True),
            ),
            Variant("bias", trained(images, bias=True), "ACC424", "a bias before batch norm", "default", default),
            Variant(
                "half, channels last",
                trained(wide, autocast=True, layout=torch.channels_last),
                prepare=default,
            ),
            Variant(
                "half",
                trained(images, autocast=True),
                "ACC419",
                "images not in `channels_last`, under `autocast` in bfloat16",
                "half, channels last",
                default,
            ),
            Variant(
                "channels last",
                trained(wide, layout=torch.channels_last),
                prepare=default,
            ),
            Variant("first", plain, "ACC419", "images not in `channels_last`, with TF32", "channels last", default),
        ]

    def evaluation(self) -> list[Variant]:
        """Forward passes of a ResNet: with and without the graph, and with values that are read."""
        images, model = self._images(), resnet().to(self.device).eval()
        total = torch.zeros((), device=self.device)

        def kept() -> None:
            with torch.no_grad():
                total.add_(model(images).amax())

        def read() -> None:
            with torch.no_grad():
                model(images).amax().item()

        def recorded() -> None:
            total.add_(model(images).amax().detach())

        default = partial(_cudnn)
        return [
            Variant("kept", kept, prepare=default),
            Variant("recorded", recorded, "ACC401", "an evaluation without `no_grad`", "kept", default),
            Variant("read", read, "ACC446", "`.item()` for each batch of an evaluation", "kept", default),
        ]

    def attention(self) -> list[Variant]:
        """Attention as it is written by hand, beside one call."""
        shape = (1, 2, 16, 8) if self.quick else (16, 8, 1024, 64)
        query, key, value = (
            torch.randn(*shape, device=self.device, dtype=torch.bfloat16, requires_grad=True) for _ in range(3)
        )

        def by_hand() -> torch.Tensor:
            scores = query @ key.transpose(-2, -1) / shape[-1] ** 0.5
            return scores.softmax(-1) @ value

        def step(attend: Callable[[], torch.Tensor]) -> None:
            attend().sum().backward()
            query.grad = key.grad = value.grad = None

        return [
            Variant("one call", partial(step, lambda: functional.scaled_dot_product_attention(query, key, value))),
            Variant("by hand", partial(step, by_hand), "ACC430", "attention written out", "one call"),
        ]

    def written_out(self) -> list[Variant]:
        """Activations and a norm, forward and backward, of several operations and of one."""
        shape = (1, 8, 8, 8) if self.quick else (64, 256, 56, 56)
        images = torch.randn(*shape, device=self.device, requires_grad=True)
        words = torch.randn(*((2, 4, 16) if self.quick else (32, 512, 1024)), device=self.device, requires_grad=True)
        weight, bias = (torch.ones(words.shape[-1], device=self.device, requires_grad=True) for _ in range(2))

        def norm_by_hand() -> torch.Tensor:
            mean = words.mean(-1, keepdim=True)
            variance = (words - mean).square().mean(-1, keepdim=True)
            return (words - mean) / torch.sqrt(variance + 1e-5) * weight + bias

        def step(compute: Callable[[], torch.Tensor]) -> None:
            compute().sum().backward()
            images.grad = words.grad = weight.grad = bias.grad = None

        def pair(name: str, one: Callable[[], torch.Tensor], many: Callable[[], torch.Tensor]) -> list[Variant]:
            return [
                Variant(name, partial(step, one)),
                Variant(f"{name} written out", partial(step, many), "ACC438", f"{name} written out", name),
            ]

        return [
            *pair("SiLU", lambda: functional.silu(images), lambda: images * torch.sigmoid(images)),
            *pair("Mish", lambda: functional.mish(images), lambda: images * torch.tanh(functional.softplus(images))),
            *pair("layer norm", lambda: functional.layer_norm(words, words.shape[-1:], weight, bias), norm_by_hand),
        ]


def _cudnn(*, enabled: bool = True, benchmark: bool = False, deterministic: bool = False) -> None:
    flags = torch.backends.cudnn
    flags.enabled, flags.benchmark, flags.deterministic = enabled, benchmark, deterministic


class Block(nn.Module):
    """Two convolutions around which the input goes, too."""

    def __init__(self, inside: int, outside: int, stride: int, bias: bool) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inside, outside, 3, stride, 1, bias=bias),
            nn.BatchNorm2d(outside),
            nn.ReLU(inplace=True),
            nn.Conv2d(outside, outside, 3, 1, 1, bias=bias),
            nn.BatchNorm2d(outside),
        )
        self.past: nn.Module = nn.Identity()
        if stride > 1 or inside != outside:
            self.past = nn.Sequential(nn.Conv2d(inside, outside, 1, stride, bias=bias), nn.BatchNorm2d(outside))

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Features of half the size where it strides."""
        return torch.relu(self.body(inputs) + self.past(inputs))


def resnet(*, bias: bool = False) -> nn.Module:
    """ResNet-18, with biases before its batch norms where asked for."""
    stem = [nn.Conv2d(3, 64, 7, 2, 3, bias=bias), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    return nn.Sequential(*stem, *_body(bias), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))


def _body(bias: bool) -> Iterator[nn.Module]:
    yield from (Block(64, 64, 1, bias), Block(64, 64, 1, bias))
    for width in (128, 256, 512):
        yield from (Block(width // 2, width, 2, bias), Block(width, width, 1, bias))
