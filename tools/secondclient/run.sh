#!/usr/bin/env bash
# Runs the checks against a sandbox of its own, files over TLS among them, and
# leaves nothing behind.
set -euo pipefail
cd "$(dirname "$0")"

scratch=$(mktemp -d)
sandbox=
finish() {
  [ -z "$sandbox" ] || kill "$sandbox" 2>/dev/null || true
  rm -rf "$scratch"
}
trap finish EXIT

npm ci --no-audit --no-fund --silent
go -C ../.. build -o "$scratch/recado" ./cmd/recado
openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 \
  -keyout "$scratch/key.pem" -out "$scratch/cert.pem" 2>/dev/null
"$scratch/recado" sandbox --data "$scratch/data" --listen 127.0.0.1:0 \
  --tls-listen 127.0.0.1:8091 --tls-cert "$scratch/cert.pem" --tls-key "$scratch/key.pem" >"$scratch/log" 2>&1 &
sandbox=$!
export NODE_EXTRA_CA_CERTS="$scratch/cert.pem"
until curl --silent --fail --output /dev/null --cacert "$NODE_EXTRA_CA_CERTS" https://127.0.0.1:8091/sandbox/api/trust; do
  kill -0 "$sandbox" 2>/dev/null || { cat "$scratch/log" >&2; exit 1; }
  sleep 0.1
done
node check.js https://127.0.0.1:8091 "$@"
