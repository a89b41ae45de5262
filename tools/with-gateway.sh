#!/usr/bin/env bash
# Runs a command against a gateway of its own with its sandbox, and leaves nothing behind. The command finds what `recado dev` says
# of itself in the file $RECADO_READY_FILE, and may write into the folder $SCRATCH.
set -euo pipefail

SCRATCH=$(mktemp -d)
export SCRATCH RECADO_READY_FILE=$SCRATCH/ready.json
gateway=
finish() {
  [ -z "$gateway" ] || kill "$gateway" 2>/dev/null || true
  rm -rf "$SCRATCH"
}
trap finish EXIT

go -C "$(dirname "$0")/.." build -o "$SCRATCH/recado" ./cmd/recado
"$SCRATCH/recado" dev --listen 127.0.0.1:0 --data "$SCRATCH/data" --ready-file "$RECADO_READY_FILE" >"$SCRATCH/log" 2>&1 &
gateway=$!
until [ -s "$RECADO_READY_FILE" ]; do
  kill -0 "$gateway" 2>/dev/null || { cat "$SCRATCH/log" >&2; exit 1; }
  sleep 0.1
done
"$@"
