#!/usr/bin/env bash
# Runs the n8n node of the Evolution API against a gateway of its own with its sandbox, and leaves nothing behind. It takes the
# options of check.js.
set -euo pipefail
cd "$(dirname "$0")"

scratch=$(mktemp -d)
gateway=
finish() {
  [ -z "$gateway" ] || kill "$gateway" 2>/dev/null || true
  rm -rf "$scratch"
}
trap finish EXIT

# Scripts of packages build what n8n runs code of strangers in; the node needs none of it.
npm ci --ignore-scripts --no-audit --no-fund --silent
go -C ../.. build -o "$scratch/recado" ./cmd/recado
"$scratch/recado" dev --listen 127.0.0.1:0 --data "$scratch/data" --ready-file "$scratch/ready.json" >"$scratch/log" 2>&1 &
gateway=$!
until [ -s "$scratch/ready.json" ]; do
  kill -0 "$gateway" 2>/dev/null || { cat "$scratch/log" >&2; exit 1; }
  sleep 0.1
done
export N8N_USER_FOLDER="$scratch"
node check.js "$scratch/ready.json" "$@"
