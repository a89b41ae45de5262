#!/usr/bin/env bash
# Builds the package, and writes its file into a folder: sdks/typescript/pack.sh FOLDER. It leaves dist behind, and the tools in
# node_modules, both of which git ignores.
set -euo pipefail
folder=$(realpath "$1")
cd "$(dirname "$0")"

npm ci --ignore-scripts --no-audit --no-fund --silent
npm run --silent build
npm pack --ignore-scripts --silent --pack-destination "$folder" >/dev/null
