#!/usr/bin/env bash
# Builds the package, checks it as its ecosystem does, installs the packed file as a newcomer would, and runs the tests, and the
# examples with Vitest and Playwright. It leaves nothing behind. It needs Go, for the program.
set -euo pipefail
cd "$(dirname "$0")"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

npm ci --ignore-scripts --no-audit --no-fund --silent
npx biome check --error-on-warnings .
rm -rf dist
npm run --silent build
npm pack --ignore-scripts --silent --pack-destination "$scratch" >/dev/null
package=$(echo "$scratch"/*.tgz)
npx publint --strict "$package"
npx attw --profile esm-only "$package"
go -C ../.. build -o "$scratch/recado" ./cmd/recado

# A program of a user, first without a test runner: it is not needed.
mkdir "$scratch/program"
cp -r examples test "$scratch/program"
echo '{"name":"program","private":true,"type":"module"}' >"$scratch/program/package.json"
npm install --prefix "$scratch/program" --ignore-scripts --no-audit --no-fund --silent "$package"
export RECADO_PACKAGE="$PWD" RECADO_BIN="$scratch/recado"
runners=$(node -p 'Object.entries(require("./package.json").devDependencies).filter(([name]) => /vitest|playwright/.test(name)).map((runner) => runner.join("@")).join(" ")')
cd "$scratch/program"
[ "$(ls node_modules)" = recado-testing ]
node --test test/*.test.js

# shellcheck disable=SC2086 # a list
npm install --ignore-scripts --no-audit --no-fund --silent --prefer-offline $runners
npx vitest run examples/vitest
npx playwright test examples/playwright
cat >types.test.ts <<'TYPES'
import { test } from 'recado-testing/playwright';
import { test as vitest } from 'recado-testing/vitest';
test('', async ({ recadoPhone, page }) => [(await recadoPhone.waitForMessage(({ text }) => text === '')).from, page.url()]);
vitest('', async ({ recadoGateway }) => recadoGateway.phone('1').send({ type: 'text', text: recadoGateway.baseUrl }));
TYPES
"$RECADO_PACKAGE/node_modules/.bin/tsc" --noEmit --skipLibCheck --module nodenext --target es2022 --lib es2022,dom,esnext.disposable --strict types.test.ts
