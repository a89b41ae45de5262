#!/usr/bin/env bash
# Builds the package, checks it as its ecosystem does, installs the packed file as a newcomer would, and runs the tests and the
# examples with it against a gateway of its own. It leaves nothing behind but generated, which git ignores.
set -euo pipefail
cd "$(dirname "$0")"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export COMPOSER_HOME=$scratch/composer COMPOSER_ALLOW_SUPERUSER=1 COMPOSER_NO_INTERACTION=1

mkdir -p "$scratch/program/packages"
./pack.sh "$scratch/program/packages"
find . -name '*.php' -print0 | xargs -0 -n 1 -P 2 php -l >"$scratch/lint" || { grep -v '^No syntax' "$scratch/lint"; exit 1; }
phpcs --standard=PSR12 -q src generated examples tests
composer validate --quiet --strict --no-check-version # the version is what an artifact is known by

# A program of a user. What Debian has of other libraries stands in for Packagist, which is not asked.
cp -r tests tests/composer.json examples/*.php "$scratch/program"
composer require --quiet --working-dir "$scratch/program" recado/recado guzzlehttp/guzzle

export RECADO_PACKAGE="$PWD"
with_gateway=$PWD/../../tools/with-gateway.sh
cd "$scratch/program"
tests=(phpunit --do-not-cache-result --fail-on-warning --fail-on-risky --bootstrap tests/bootstrap.php)
"$with_gateway" "${tests[@]}" tests

# Without the curl extension Guzzle reads with PHP's own streams.
mkdir "$scratch/without-curl"
ln -s "$(php -r 'echo PHP_CONFIG_FILE_SCAN_DIR;')"/*.ini "$scratch/without-curl"
rm -f "$scratch"/without-curl/*-curl.ini
PHP_INI_SCAN_DIR=$scratch/without-curl "$with_gateway" "${tests[@]}" --exclude-group curl tests/SdkTest.php
