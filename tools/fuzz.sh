#!/usr/bin/env bash
# Runs every fuzz test of the module for the given time each (default 30s).
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-30s}
grep -rlE '^func Fuzz' --include='*_test.go' . | while read -r file; do
  for name in $(grep -oE '^func Fuzz[A-Za-z0-9_]*' "$file" | cut -d' ' -f2); do
    printf '== %s %s\n' "$(dirname "$file")" "$name"
    go test "$(dirname "$file")" -run '^$' -fuzz "^$name\$" -fuzztime "$time" -fuzzminimizetime 10x # or making small inputs smaller takes the time
  done
done
