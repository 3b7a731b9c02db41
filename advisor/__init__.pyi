from typing import Any

from accel_advisor.finding import Applicability as Applicability
from accel_advisor.finding import Confidence as Confidence
from accel_advisor.finding import Edit as Edit
from accel_advisor.finding import Finding as Finding
from accel_advisor.finding import Fix as Fix
from accel_advisor.finding import Severity as Severity
from accel_advisor.library.engine import Engine as Engine
from accel_advisor.library.runs import Report as Report
from accel_advisor.library.runs import TrialError as TrialError
from accel_advisor.library.runs import lint as lint
from accel_advisor.library.runs import tune as tune
from accel_advisor.tuning.record.schema import Record as Trial

__version__: str
__all__ = [
    "Applicability",
    "Confidence",
    "Edit",
    "Engine",
    "Finding",
    "Fix",
    "Report",
    "Severity",
    "Trial",
    "TrialError",
    "__version__",
    "lint",
    "tune",
]

def load_ipython_extension(shell: Any) -> None: ...
def unload_ipython_extension(shell: Any) -> None: ...
