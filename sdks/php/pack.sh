#!/usr/bin/env bash
# Builds the package, and writes its file into a folder: sdks/php/pack.sh FOLDER. It leaves generated behind, which git ignores.
set -euo pipefail
folder=$(realpath "$1")
cd "$(dirname "$0")"

rm -rf generated
(cd ../.. && go run ./internal/clientgen docs/openapi.yaml php sdks/php/generated)
COMPOSER_ALLOW_SUPERUSER=1 COMPOSER_NO_INTERACTION=1 composer archive --quiet --format zip --dir "$folder"
