#!/usr/bin/env bash
# `%accel` in a kernel as Colab has it: an older IPython and ipykernel than the ones that are tested otherwise. Colab
# itself, a service, cannot be had in a test.
#
#     ci/colab_kernel.sh ENVIRONMENT
#
# ENVIRONMENT is one with accel-advisor and its extras installed; everything but the kernel comes from it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
given="$(cd "$1/bin" && pwd)/python"
kernel="build/colab"

rm -rf "$kernel"
"$given" -m venv "$kernel"
"$kernel/bin/python" -m pip install --quiet ipython==7.34.0 ipykernel==6.17.1
packages="$("$given" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
own="$("$kernel/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
echo "import site; site.addsitedir('$packages')" > "$own/given.pth"
"$kernel/bin/python" -m pytest -q tests/kernel

# One that is not told which cell it runs.
"$kernel/bin/python" -m pip install --quiet ipython==8.2.0 ipykernel==6.13.0
"$kernel/bin/python" -m pytest -q tests/kernel/test_accel_magic.py -k 'not have_an_identity'
