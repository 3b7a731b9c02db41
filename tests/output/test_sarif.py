"""SARIF."""

from __future__ import annotations

import json
from pathlib import Path

from accel_advisor.output import Screen, sarif

from .findings import finding, report


def test_sarif(project: Path) -> None:
    data = json.loads(sarif.render(report(finding("f(a", ")"), finding("import", "torch")), Screen()))
    (run,) = data["runs"]
    (rule,) = run["tool"]["driver"]["rules"]
    assert rule["id"] == "ACC102"
    assert "## Use instead" in rule["help"]["markdown"]
    first, second = run["results"]
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "train.py"}
    assert place["region"] == {"startLine": 2, "startColumn": 11, "endLine": 4, "endColumn": 2}
    assert [one["artifactLocation"]["uri"] for one in first["fixes"][0]["artifactChanges"]] == ["train.py", "other.py"]
    assert first["partialFingerprints"] != second["partialFingerprints"]
    assert run["columnKind"] == "unicodeCodePoints"
