#!/usr/bin/env bash
# Runs the flow of docs/recipes/node-red.md in Node-RED against a gateway of its own with its sandbox, and leaves nothing behind.
set -euo pipefail
cd "$(dirname "$0")"

npm ci --ignore-scripts --no-audit --no-fund --silent
exec ../with-gateway.sh bash -c 'exec node check.js "$RECADO_READY_FILE"'
