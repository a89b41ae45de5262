#!/usr/bin/env bash
# Builds the package, and writes its wheel and its source into FOLDER/dist: sdks/python/pack.sh FOLDER. The package as it would lie in
# a clean clone, with its generated modules, is in FOLDER/package then. It leaves nothing else behind.
set -euo pipefail
folder=$(realpath "$1")
cd "$(dirname "$0")"
repository=$(cd ../.. && pwd)

mkdir -p "$folder/package/src/recado"
cp -r .gitignore README.md pyproject.toml "$repository/LICENSE" examples tests "$folder/package"
cp src/recado/*.py src/recado/py.typed "$folder/package/src/recado"
rm -f "$folder"/package/src/recado/{_operations,types}.py
go -C "$repository" run ./internal/clientgen docs/openapi.yaml python "$folder/package/src/recado"
# Debian's hatchling comes without what editable installations need, which build would miss.
"${PYTHON:-/usr/bin/python3}" -m build --no-isolation --skip-dependency-check --outdir "$folder/dist" "$folder/package" >"$folder/build.log" 2>&1 ||
  { cat "$folder/build.log"; exit 1; }
