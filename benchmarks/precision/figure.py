"""How many of the findings that were drawn and read are right.

    python benchmarks/precision/figure.py [--sample N] [CHECKOUT[:FOLDER]...]

prints, for the last sample or another one, the figure for all rules and for each, with Wilson's interval of 95 %. Weak
ones count as right, and beside: they are true as worded, and of little consequence where they stand. Given checkouts,
it lints them and says which of the findings are still reported, and how many there are in all.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from sample import SAMPLES, VERDICTS, Checkout, Verdict

from accel_advisor.tuning.showing.explain import wilson
from benchmarks.first_contact.records import read_rows


def table(verdicts: Iterable[Verdict]) -> Iterator[str]:
    """The lines of the table: a rule in each, all of them in the last."""
    counts: dict[str, Counter[str]] = {}
    for one in verdicts:
        for name in (one.code, "**all**"):
            counts.setdefault(name, Counter())[one.verdict] += 1
    yield "| rule | read | right | of these weak | wrong | right, 95 % interval |"
    yield "|---|--:|--:|--:|--:|--:|"
    for name in sorted(counts, key=lambda name: (name.startswith("*"), name)):
        count = counts[name]
        read, right = count.total(), count["right"] + count["weak"]
        low, high = wilson(right / read, read)
        share = f"{100 * right / read:.1f} % ({100 * low:.1f} to {100 * high:.1f})"
        yield f"| {name} | {read} | {right} | {count['weak']} | {count['wrong']} | {share} |"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", help="its number; the last one, if not given")
    parser.add_argument("checkouts", type=Checkout.parse, nargs="*")
    args = parser.parse_args()
    samples = {one["sample"]: one for one in json.loads(SAMPLES.read_text(encoding="utf-8"))}
    chosen = args.sample or list(samples)[-1]
    if chosen not in samples:
        parser.error(f"--sample: there is no sample {chosen}; {SAMPLES.name} knows {', '.join(samples)}")
    verdicts = [one for one in read_rows(Verdict, VERDICTS) if one.sample == chosen]
    for one in verdicts:
        if one.verdict not in ("right", "weak", "wrong"):
            sys.exit(f"{VERDICTS.name}: {one.path}:{one.line} {one.code} has no verdict; write right, weak or wrong")
    drawn = samples[chosen]
    print(
        f"Sample {chosen}: {drawn['size']} of {drawn['findings']} findings, seed {drawn['seed']}, {drawn['date']}, "
        f"accel-advisor at {drawn['version'][:9]}.\n"
    )
    print("\n".join(table(verdicts)))
    if args.checkouts:
        now = {one.place(finding) for one in args.checkouts for finding in one.findings()}
        read = {one.repository for one in args.checkouts}
        gone = [one for one in verdicts if one.repository in read and one.place not in now]
        print(f"\nNow: {len(now)} findings in {len(read)} repositories; of those drawn, {len(gone)} are gone.")
        for one in gone:
            print(f"- {one.repository} {one.path}:{one.line} {one.code} ({one.verdict})")


if __name__ == "__main__":
    main()
