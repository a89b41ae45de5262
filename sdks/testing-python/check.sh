#!/usr/bin/env bash
# Builds the package, checks it as its ecosystem does, installs the wheel as a newcomer would, and runs the tests and the example with
# it. It leaves nothing behind. It needs Go, for the program, and the Debian packages of needs.txt.
set -euo pipefail
cd "$(dirname "$0")"
repository=$(cd ../.. && pwd)

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export PYTHONDONTWRITEBYTECODE=1
python=${PYTHON:-/usr/bin/python3} # Debian's, which has what needs.txt installs

# The package as it would lie in a clean clone.
mkdir "$scratch/package" "$scratch/cache"
cp -r .gitignore README.md pyproject.toml "$repository/LICENSE" src examples tests "$scratch/package"
cd "$scratch/package"

BLACK_CACHE_DIR=$scratch/cache "$python" -m black --quiet --check --diff .
"$python" -m pyflakes .
MYPYPATH=src:examples "$python" -m mypy --strict --no-error-summary --cache-dir "$scratch/cache" src tests examples/*.py
# Debian's hatchling comes without what editable installations need, which build would miss.
"$python" -m build --no-isolation --skip-dependency-check --outdir "$scratch/dist" . >"$scratch/build.log" 2>&1 || { cat "$scratch/build.log"; exit 1; }
"$python" -m twine --no-color check --strict "$scratch"/dist/* || exit 1
go -C "$repository" build -o "$scratch/recado" ./cmd/recado

# A program of a user: the tests and the example, without the source of the package beside them.
rm -r src pyproject.toml .gitignore
"$python" -m venv --system-site-packages "$scratch/venv"
"$scratch/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-index "$scratch"/dist/*.whl
export RECADO_BIN=$scratch/recado
"$scratch/venv/bin/python" -m pytest -q -p no:cacheprovider tests
"$scratch/venv/bin/python" -m pytest -q -p no:cacheprovider examples

# With Docker in place of the program.
RECADO_BIN='' "$repository/tools/with-docker.sh" "$scratch/venv/bin/python" -m pytest -q -p no:cacheprovider examples
