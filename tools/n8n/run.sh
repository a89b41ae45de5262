#!/usr/bin/env bash
# Runs the workflow of docs/recipes/n8n.md and the n8n node of the Evolution API, each against a gateway of its own with its sandbox,
# and leaves nothing behind. It takes the options of check.js.
set -euo pipefail
cd "$(dirname "$0")"

# Scripts of packages build what n8n runs code of strangers in; the node needs none of it.
npm ci --ignore-scripts --no-audit --no-fund --silent
../with-gateway.sh bash -c 'N8N_USER_FOLDER=$SCRATCH exec node recipe.js "$RECADO_READY_FILE"'
exec ../with-gateway.sh bash -c 'N8N_USER_FOLDER=$SCRATCH exec node check.js "$RECADO_READY_FILE" "$@"' check.js "$@"
