#!/usr/bin/env bash
# Builds the package, checks it as its ecosystem does, installs the wheel as a newcomer would, and runs the tests and the examples
# with it against a gateway of its own. It leaves nothing behind. It needs Go, and the Debian packages of needs.txt.
set -euo pipefail
cd "$(dirname "$0")"
repository=$(cd ../.. && pwd)

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export PYTHONDONTWRITEBYTECODE=1
python=${PYTHON:-/usr/bin/python3} # Debian's, which has what needs.txt installs

./pack.sh "$scratch"
mkdir "$scratch/cache"
cd "$scratch/package"

BLACK_CACHE_DIR=$scratch/cache "$python" -m black --quiet --check --diff .
"$python" -m pyflakes .
MYPYPATH=src:tests "$python" -m mypy --strict --no-error-summary --cache-dir "$scratch/cache" src tests examples/*.py
"$python" -m twine --no-color check --strict "$scratch"/dist/* || exit 1

# A program of a user: the tests and the examples, without the source of the package beside them.
rm -r src pyproject.toml .gitignore
"$python" -m venv --system-site-packages "$scratch/venv"
"$scratch/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-index "$scratch"/dist/*.whl
"$repository/tools/with-gateway.sh" "$scratch/venv/bin/python" -m pytest -q -p no:cacheprovider tests
