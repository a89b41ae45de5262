#!/usr/bin/env bash
# Checks the module, and runs its tests with the image. It needs root, Go, and the Debian packages of needs.txt.
set -euo pipefail
cd "$(dirname "$0")"

go mod tidy -diff
go tool -modfile=../../tools/go.mod golangci-lint run --allow-parallel-runners ./...
../../tools/with-docker.sh go test -count=1 ./...
