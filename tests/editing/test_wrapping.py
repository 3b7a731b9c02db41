"""A line that would become too long is broken as its file breaks its own."""

from __future__ import annotations

import ast

import libcst as cst
import pytest

from accel_advisor.editing.edits import add_keyword, make_on_device
from accel_advisor.editing.fixer import apply_edits
from accel_advisor.source.document import Document
from accel_advisor.syntax.walking import descendants

PLAIN = "pass\n" * 50
"""Lines that show how long those of a file are."""
HANGING = f"{PLAIN}first(\n    a,\n    b,\n)\n"
ALIGNED = f"{PLAIN}first(a,\n      b)\n"
LONG = "batch_size=config.batch_size_of_training, shuffle=True"


def fixed(source: str, function: str, *keywords: tuple[str, str]) -> str:
    """The last lines of a source after every call of a function was given keywords."""
    document = Document("train.py", source)
    calls = [one for one in descendants(document.tree, cst.Call) if document.code(one.func).endswith(function)]
    edits = [edit for call in calls for name, value in keywords for edit in add_keyword(document, call, name, value)]
    after = apply_edits(document.text, edits)
    ast.parse(after)
    return after


PIN = ("pin_memory", "True")


class TestHanging:
    @pytest.mark.parametrize("keywords", [[PIN], [("num_workers", "4"), PIN]])
    def test_each_argument_gets_its_line(self, keywords: list[tuple[str, str]]) -> None:
        after = fixed(f"{HANGING}loader = make(data, {LONG})\n", "make", *keywords)
        added = "".join(f"    {name}={value},\n" for name, value in keywords)
        assert after == (
            f"{HANGING}loader = make(\n"
            "    data,\n    batch_size=config.batch_size_of_training,\n    shuffle=True,\n" + added + ")\n"
        )

    def test_a_line_that_is_short_enough_stays_one(self) -> None:
        assert fixed(f"{HANGING}loader = make(data)\n", "make", PIN).endswith("loader = make(data, pin_memory=True)\n")

    def test_what_is_done_with_the_result_stays_behind_the_bracket(self) -> None:
        after = fixed(f"{HANGING}loader = make(data, {LONG})['train'].get()  # all\n", "make", PIN)
        assert after.endswith("    shuffle=True,\n    pin_memory=True,\n)['train'].get()  # all\n")

    def test_the_only_argument_of_a_call_gets_a_line(self) -> None:
        call = "load(path_of_its_checkpoint, weights_only=True"
        after = fixed(f"{HANGING}model.load_state_dict({call}))\n", "load", ("map_location", '"cpu"'))
        assert after.endswith(f'model.load_state_dict(\n    {call}, map_location="cpu")\n)\n')

    def test_both_calls_hang_where_that_line_would_be_too_long(self) -> None:
        call = "load(path_of_the_checkpoint_of_the_trained_model, weights_only=True"
        after = fixed(f"{HANGING}model.load_state_dict({call}))\n", "load", ("map_location", '"cpu"'))
        assert after.endswith(
            "model.load_state_dict(\n    load(\n        path_of_the_checkpoint_of_the_trained_model,\n"
            '        weights_only=True,\n        map_location="cpu",\n    )\n)\n'
        )

    @pytest.mark.parametrize(("step", "given"), [("  ", "  "), ("    ", "    "), ("\t", "\t")])
    def test_it_is_indented_as_the_file_is(self, step: str, given: str) -> None:
        head = f"{PLAIN}def f():\n{step}first(\n{step}{step}a,\n{step})\n"
        after = fixed(f"{head}{step}loader = make(data, {LONG})\n", "make", PIN)
        assert after.endswith(f"{step}{given}shuffle=True,\n{step}{given}pin_memory=True,\n{step})\n")


class TestAligned:
    def test_it_stands_below_the_first_argument(self) -> None:
        after = fixed(f"{ALIGNED}loader = make(data, {LONG})\n", "make", PIN)
        assert after.endswith(f"loader = make(data, {LONG},\n              pin_memory=True)\n")

    def test_it_hangs_where_it_would_stand_too_far_to_the_right(self) -> None:
        name = "self.the_loader_of_the_batches_that_are_used_for_validation"
        after = fixed(f"{ALIGNED}{name} = make(data, batch_size=None)\n", "make", ("pin_memory", "is_available()"))
        assert after.endswith(f"{name} = make(\n    data,\n    batch_size=None,\n    pin_memory=is_available(),\n)\n")

    def test_the_last_of_several_lines_is_broken_as_those_above(self) -> None:
        after = fixed(f"{ALIGNED}loader = make(data,\n              {LONG})\n", "make", ("worker_init_fn", "seeded"))
        assert after.endswith(f"              {LONG},\n              worker_init_fn=seeded)\n")


def test_a_call_stays_on_its_line_where_another_goes_on_below() -> None:
    source = (
        f"{HANGING}model.load_state_dict(load('the_path_of_the_checkpoint', weights_only=True),\n    strict=False)\n"
    )
    assert fixed(source, "load", ("map_location", "'cpu'")) == source.replace("True)", "True, map_location='cpu')")


class TestTuples:
    LINE = 'images, labels = batch["image"].to(device), batch["label"].to(device)\n'
    BROKEN = (
        'images, labels = (\n    batch["image"].to(device, non_blocking=True),\n'
        '    batch["label"].to(device, non_blocking=True),\n)\n'
    )

    def test_each_element_gets_its_line(self) -> None:
        assert fixed(f"{PLAIN}{self.LINE}", ".to", ("non_blocking", "True")).endswith(self.BROKEN)

    def test_methods_without_arguments(self) -> None:
        line, broken = (one.replace("to(device", "cuda(").replace("(, ", "(") for one in (self.LINE, self.BROKEN))
        line = line.replace("batch", "a_long_batch")
        assert fixed(PLAIN + line, ".cuda", ("non_blocking", "True")).endswith(broken.replace("batch", "a_long_batch"))

    def test_a_short_one_stays_on_its_line(self) -> None:
        after = fixed(f"{PLAIN}x, y = x.to(d), y.to(d)\n", ".to", ("non_blocking", "True"))
        assert after.endswith("x, y = x.to(d, non_blocking=True), y.to(d, non_blocking=True)\n")

    def test_what_looks_like_one_within_brackets_is_none(self) -> None:
        inner = self.LINE[:-1].replace("images, labels = ", "images=").replace(", batch", ", *batch")
        assert isinstance(ast.parse(inner).body[0], ast.Assign)
        source = f"{PLAIN}f(\n    {inner}\n)\n"
        assert fixed(source, ".to", ("non_blocking", "True")).count("(") == source.count("(")


def test_what_a_fix_takes_from_the_line_makes_room() -> None:
    source = f"{PLAIN}mask = torch.zeros(batch_size, channels, height).to(images_of_this.device)\n"
    document = Document("train.py", source)
    move, made = descendants(document.tree, cst.Call)
    edits = make_on_device(document, made, move, "images_of_this.device")
    assert edits is not None
    assert apply_edits(source, edits).endswith("(batch_size, channels, height, device=images_of_this.device)\n")


def test_what_a_fix_takes_from_behind_the_call_hinders_no_break() -> None:
    line = "        torch.zeros(batch_size, number_of_channels_of).to(images_of_this.device_of_it),\n"
    source = f"{PLAIN}mask = torch.cat(\n    (\n{line}        mask,\n    ),\n    dim=1,\n)\n"
    document = Document("train.py", source)
    calls = {document.code(one): one for one in descendants(document.tree, cst.Call)}
    made = calls["torch.zeros(batch_size, number_of_channels_of)"]
    move = calls[line.strip().rstrip(",")]
    edits = make_on_device(document, made, move, "images_of_this.device_of_it")
    assert edits is not None
    broken = (
        "        torch.zeros(\n            batch_size,\n            number_of_channels_of,\n"
        "            device=images_of_this.device_of_it,\n        ),\n"
    )
    assert apply_edits(source, edits) == source.replace(line, broken)


@pytest.mark.parametrize(
    ("shape", "after"),
    [
        ("(batch_size, channels, height)", "(\n    batch_size, channels, height, device=images_of_this_step.device\n)"),
        ("(batch_size, 3)", "(batch_size, 3, device=images_of_this_step.device)"),
    ],
    ids=["it takes the room of the move", "it fits the line"],
)
def test_a_move_over_several_lines(shape: str, after: str) -> None:
    source = f"{PLAIN}mask_of_this = torch.zeros{shape}.to(\n    images_of_this_step.device\n)\n"
    document = Document("train.py", source)
    move, made = descendants(document.tree, cst.Call)
    edits = make_on_device(document, made, move, "images_of_this_step.device")
    assert edits is not None
    assert apply_edits(source, edits).endswith(f"mask_of_this = torch.zeros{after}\n")
