#!/usr/bin/env bash
# Installs what tests need beside Go, on Debian, as root or with sudo. Without arguments that is
# everything that needs.txt lists; with arguments these programs, of these packages, as
# `program:package`. What Debian has not is built into bin/needs.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "$#" = 0 ]; then
  mapfile -t wanted < <(grep -v '^#' needs/needs.txt | awk -F'\t' '{
    split($2, programs, " "); count = split($3, packages, " ")
    for (n in programs) print programs[n] ":" packages[n <= count ? n : count] }')
else
  wanted=("$@")
fi

packages=()
for one in "${wanted[@]}"; do
  program=${one%%:*} package=${one#*:}
  if [ "$package" = - ]; then
    [ -x "bin/needs/$program" ] || go build -modfile=tools/s3/go.mod -o "bin/needs/$program" github.com/versity/versitygw/cmd/versitygw
  elif ! command -v "$program" >/dev/null && ! compgen -G "/usr/lib/postgresql/*/bin/$program" >/dev/null; then
    packages+=("$package")
  fi
done

if [ "${#packages[@]}" -gt 0 ]; then
  as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
fi

# The library of other gateways, from which a test moves in, wants a newer Node.js than some Debians
# have.
if command -v node >/dev/null && [ "$(node -p 'process.versions.node.split(".")[0]')" -lt 20 ] && [ ! -x bin/needs/node ]; then
  npm install --silent --prefix bin/needs/node20 node@20
  ln -s node20/node_modules/.bin/node bin/needs/node
fi
