"""``python -m accel_advisor``."""

from accel_advisor.cli import run

if __name__ == "__main__":
    run()
