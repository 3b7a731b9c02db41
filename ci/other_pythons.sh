#!/usr/bin/env bash
# The linter on other versions of Python than the one that .ci/run uses, as far as they are on this machine: its tests,
# and the same findings as there. It needs no torch, so none is installed.
#
#     ci/other_pythons.sh ENVIRONMENT [VERSION...]
#
# ENVIRONMENT is one with accel-advisor installed, whose findings the others have to make. With TUNE=1 torch is installed
# as well, which may be gigabytes, and trials run there: those on the pages, and those of what fails for what is around it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
own="$1"
shift
export PYTHONDONTWRITEBYTECODE=

find_python() { # the path of a Python of a version; nothing where there is none
  local one
  for one in "python$1" "$(pyenv root 2>/dev/null)/versions/$1".*/bin/python; do
    if "$one" -c 'import venv' 2>/dev/null; then
      echo "$one"
      return
    fi
  done
}

findings() {
  "$1/bin/accel-advisor" lint --no-cache --minor --exit-zero --output-format json fixtures
}

[ $# -gt 0 ] || set -- 3.12 3.13
for version in "$@"; do
  python="$(find_python "$version")"
  if [ -z "$python" ]; then
    echo "Python $version is not on this machine: the linter is not tested on it"
    continue
  fi
  environment="build/python$version"
  rm -rf "$environment"
  "$python" -m venv "$environment"
  "$environment/bin/python" -m pip install --quiet -c constraints.txt '.[dev]'
  cmp <(findings "$own") <(findings "$environment")
  "$environment/bin/python" -m pytest -q -n 2 tests/{analysis,editing,interpreter,output,project,records,rules,source,syntax,values}
  if [ "${TUNE:-0}" = 1 ]; then
    "$environment/bin/python" -m pip install --quiet -c constraints.txt '.[tune,report]'
    "$environment/bin/python" -m pytest -q tests/test_page_trials.py tests/tuning/target/test_environment_remedies.py tests/tuning/trial/test_session.py
  fi
done
