#!/usr/bin/env bash
# Builds the package, checks it as its ecosystem does, installs the packed file as a newcomer would, and runs the tests and the
# examples with it against a gateway of its own. It leaves nothing behind.
set -euo pipefail
cd "$(dirname "$0")"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

./pack.sh "$scratch"
package=$(echo "$scratch"/*.tgz)
npx biome check --error-on-warnings .
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

# Their packages bring a program for each system, and run scripts only to find it.
npm ci --prefix runtimes --ignore-scripts --no-audit --no-fund --silent
mkdir "$scratch/runtimes"
ln -s "$(command -v node)" "$PWD"/runtimes/node_modules/@oven/bun-*/bin/bun "$PWD"/runtimes/node_modules/@deno/*/deno "$scratch/runtimes"

export RECADO_PACKAGE="$PWD" RECADO_RUNTIMES="$scratch/runtimes"
with_gateway=$PWD/../../tools/with-gateway.sh
cd "$scratch/program"
"$with_gateway" node --test test/examples.test.js test/sdk.test.js
"$with_gateway" node --test test/guide.test.js
