#!/usr/bin/env bash
# Tries the extension in VS Code's workbench, as code-server ships it, in Chromium without a screen:
#
#     editors/vscode/try/run.sh [install | FOLDER]
#
# installs what is needed below build/vscode (only what changed), packs the extension, and checks what a person sees.
# "install" stops before the checks; a FOLDER gets pictures instead of checks. PYTHON is the interpreter that has
# accel-advisor[server], .venv/bin/python by default; CHROMIUM the program, by default the one on the PATH.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
root="$(cd "$here/../../.." && pwd)"
build="$root/build/vscode"

mkdir -p "$build/extension"
if ! cmp -s "$here/package-lock.json" "$build/installed.json"; then
  cp "$here/package.json" "$here/package-lock.json" "$build/"
  # code-server runs without its native modules, which would want a compiler: of all packages only Node.js is set up.
  (cd "$build" && npm ci --ignore-scripts --no-audit --no-fund && npm rebuild node)
  (cd "$build/node_modules/code-server/lib/vscode" && npm install --omit=dev --ignore-scripts --no-audit --no-fund)
  cp "$here/package-lock.json" "$build/installed.json"
fi
cp -r "$here"/../{.vscodeignore,README.md,package.json,package-lock.json,src,tsconfig.json} "$build/extension/"
(cd "$build/extension" && npm ci --no-audit --no-fund && npm run package)

if [ "${1:-}" != install ]; then
  export PYTHON="${PYTHON:-$root/.venv/bin/python}"
  "$build/node_modules/.bin/node" "$here/checks.mjs" "$@"
fi
