#!/usr/bin/env bash
# Builds the package, checks it as its ecosystem does, installs the packed file as a newcomer would, and runs the tests and the
# examples with it against a gateway of its own. It leaves nothing behind.
set -euo pipefail
cd "$(dirname "$0")"

scratch=$(mktemp -d)
gateway=
finish() {
  [ -z "$gateway" ] || kill "$gateway" 2>/dev/null || true
  rm -rf "$scratch"
}
trap finish EXIT

npm ci --ignore-scripts --no-audit --no-fund --silent
npx biome check --error-on-warnings .
npm run --silent build
npm pack --ignore-scripts --silent --pack-destination "$scratch" >/dev/null
package=$(echo "$scratch"/*.tgz)
npx publint --strict "$package"
npx attw "$package"

# A program of a user: the types have to fit modules of both kinds.
mkdir "$scratch/program"
cp -r examples test "$scratch/program"
echo '{"name":"program","private":true,"type":"module"}' >"$scratch/program/package.json"
npm install --prefix "$scratch/program" --ignore-scripts --no-audit --no-fund --silent "$package"
types=(--types node --typeRoots "$PWD/node_modules/@types" --target es2022 --strict)
npx tsc "${types[@]}" --module nodenext "$scratch"/program/examples/*.ts
echo 'import { Recado } from "recado"; export const recado: Recado = new Recado({ apiKey: "rcd_1" });' >"$scratch/program/required.cts"
npx tsc "${types[@]}" --module nodenext "$scratch/program/required.cts"

go -C ../.. build -o "$scratch/recado" ./cmd/recado
"$scratch/recado" dev --listen 127.0.0.1:0 --data "$scratch/data" --ready-file "$scratch/ready.json" >"$scratch/log" 2>&1 &
gateway=$!
until [ -s "$scratch/ready.json" ]; do
  kill -0 "$gateway" 2>/dev/null || { cat "$scratch/log" >&2; exit 1; }
  sleep 0.1
done
export RECADO_READY_FILE="$scratch/ready.json" RECADO_PACKAGE="$PWD"
cd "$scratch/program"
node --test test/*.test.js
