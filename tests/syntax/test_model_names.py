"""Names that a text uses as those of models."""

from __future__ import annotations

import libcst as cst
import pytest

from accel_advisor.syntax.model_names import is_no_model, models_named_in


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("optimizer = SGD(net.parameters())", {"net"}),
        ("self.net.train()\ny = self.net(x)", {"self.net"}),
        ("self.train()\nf(x)", set()),
        ("optimizer.state_dict()\nmodel(x)", set()),
        ("model(x)", set()),
        ("net = build().cuda()\ny = net(x)", {"net"}),
        ("net.to(device)\ny = net(x)", {"net"}),
        ("y = build().cuda()\nnet(y)", set()),
        ("y = build().float()\ny(x)", set()),
    ],
)
def test_a_name_is_that_of_a_model_by_its_use(text: str, names: set[str]) -> None:
    assert models_named_in(cst.parse_module(text)) == names


@pytest.mark.parametrize(
    ("called", "computes_nothing"),
    [
        *((name, True) for name in ("to_device", "lib.move_batch_to_gpu", "show", "utils.save_images", "log_metrics")),
        *((name, False) for name in ("to_logits", "flow.log_prob", "draw_samples", "classify", "shown")),
    ],
)
def test_a_name_is_that_of_no_model(called: str, computes_nothing: bool) -> None:
    assert is_no_model(cst.ensure_type(cst.parse_expression(f"{called}(batch)"), cst.Call).func) is computes_nothing
