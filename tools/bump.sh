#!/usr/bin/env bash
# Raises the client library to the newest commit that the module proxy serves, or to the
# version that is given, and runs what that can break. If a check fails, go.mod stays raised:
# git checkout -- go.mod go.sum e2e takes it back.
set -euo pipefail
cd "$(dirname "$0")/.."
library=go.mau.fi/whatsmeow

commit() { go list -m -f '{{.Version}}' "$library"; }
version() {
  sed -n 's/^var waVersion = WAVersionContainer{\([0-9]*\), \([0-9]*\), \([0-9]*\)}$/\1.\2.\3/p' \
    "$(go list -m -f '{{.Dir}}' "$library")/store/clientpayload.go"
}
step() { printf '\n== %s\n' "$1"; }

git diff --quiet -- go.mod go.sum e2e/go.mod e2e/go.sum || { echo "go.mod or go.sum is changed already: commit that first, or take it back." >&2; exit 1; }
before_commit=$(commit)
go mod download "$library"
before_version=$(version)

step "raise $library"
wanted=$(go list -m -f '{{.Version}}' "$library@${1:-latest}")
# Its versions begin with the time of the commit. A proxy may be behind, and serve an older one.
if [ "$(printf '%s\n' "$before_commit" "$wanted" | sort | tail -n 1)" = "$before_commit" ]; then
  echo "$library: the newest that is served is $wanted, so $before_commit stays; version of the web client: ${before_version:-unknown}"
  exit 0
fi
go get "$library@$wanted"
go mod tidy
go -C e2e mod tidy
after_commit=$(commit)
after_version=$(version)

step "build, and the lists of what belongs where"
go build ./...
go vet ./internal/whatsapp/... ./internal/sandbox/...
go test ./internal/architecture

step "what is taken from the inside of the library (internal/whatsapp/upstream.go)"
go test -count=1 -run 'Upstream|AnIdleClient' ./internal/whatsapp

step "the connector and the program against the sandbox"
go test -timeout 15m ./internal/whatsapp/... ./internal/sandbox/... ./internal/server

step "the sandbox against the second client"
tools/secondclient/run.sh

printf '\n%s: %s -> %s; version of the web client: %s -> %s\n' "$library" \
  "$before_commit" "$after_commit" "${before_version:-unknown}" "${after_version:-unknown}"
