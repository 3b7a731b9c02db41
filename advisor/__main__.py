"""``python -m accel_advisor``."""

from .cli import run

if __name__ == "__main__":
    run()
