#!/usr/bin/env bash
# Builds the packages of sdks/ and installs them as a newcomer would, checks the examples as their ecosystems do, and runs them against
# a gateway of its own. It leaves behind what sdks/*/pack.sh do. It needs Go, Node, and the Debian packages of sdks/*/needs.txt.
set -euo pipefail
cd "$(dirname "$0")"
examples=$PWD
sdks=$(cd ../sdks && pwd)

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export PYTHONDONTWRITEBYTECODE=1 COMPOSER_HOME=$scratch/composer COMPOSER_ALLOW_SUPERUSER=1 COMPOSER_NO_INTERACTION=1
python=${PYTHON:-/usr/bin/python3} # Debian's, which has what needs.txt installs
program=$scratch/program
mkdir -p "$program/packages" "$program/bin" "$scratch/python" "$scratch/cache"

go build -o "$program/bin/" ./... # the linter of the repository has read them
cp -r tests ./*.py ./*.ts ./*.php "$program"

"$sdks/python/pack.sh" "$scratch/python"
"$python" -m venv --system-site-packages "$scratch/venv"
"$scratch/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-index "$scratch"/python/dist/*.whl
cd "$program"
BLACK_CACHE_DIR=$scratch/cache "$python" -m black --config "$sdks/python/pyproject.toml" --quiet --check --diff .
"$python" -m pyflakes ./*.py tests
for file in *.py tests/*.py; do
  MYPYPATH=$scratch/python/package/src "$python" -m mypy --strict --no-error-summary --cache-dir "$scratch/cache" "$file"
done

"$sdks/typescript/pack.sh" "$program/packages"
echo '{"name":"program","private":true,"type":"module"}' >package.json
npm install --ignore-scripts --no-audit --no-fund --silent ./packages/*.tgz
tools=$sdks/typescript/node_modules
(cd "$examples" && "$tools/.bin/biome" check --error-on-warnings --config-path "$sdks/typescript" ./*.ts)
"$tools/.bin/tsc" --types node --typeRoots "$tools/@types" --target es2022 --strict --module nodenext ./*.ts

"$sdks/php/pack.sh" "$program/packages"
for file in *.php; do php -l "$file" >"$scratch/lint" || { cat "$scratch/lint"; exit 1; }; done
phpcs --standard=PSR12 -q ./*.php
cp "$sdks/php/tests/composer.json" .
composer require --quiet recado/recado guzzlehttp/guzzle

export RECADO_EXAMPLES=$examples
"$sdks/../tools/with-gateway.sh" "$scratch/venv/bin/python" -m pytest -q -p no:cacheprovider tests
