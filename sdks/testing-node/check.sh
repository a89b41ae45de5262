#!/usr/bin/env bash
# Builds the package, checks it as its ecosystem does, installs the packed file as a newcomer would, and runs the tests, and the
# examples with Vitest and Playwright, as npm create hands them out. It leaves nothing behind. It needs Go, for the program, and the Debian
# packages of needs.txt.
set -euo pipefail
cd "$(dirname "$0")"
repository=$(cd ../.. && pwd)

scratch=$(mktemp -d)
handed_out=("$PWD/create/examples" "$PWD/create/testing.json")
trap 'rm -rf "$scratch" "${handed_out[@]}"' EXIT

npm ci --ignore-scripts --no-audit --no-fund --silent
npx biome check --error-on-warnings .
rm -rf dist
npm run --silent build
npm pack --ignore-scripts --silent --pack-destination "$scratch" >/dev/null
package=$(echo "$scratch"/recado-testing-*.tgz)
npx publint --strict "$package"
npx attw --profile esm-only "$package"
go -C "$repository" build -o "$scratch/recado" ./cmd/recado

# A program of a user, first without a test runner: it is not needed.
mkdir "$scratch/program"
cp -r examples test "$scratch/program"
echo '{"name":"program","private":true,"type":"module"}' >"$scratch/program/package.json"
npm install --prefix "$scratch/program" --ignore-scripts --no-audit --no-fund --silent "$package"
export RECADO_PACKAGE="$PWD" RECADO_BIN="$scratch/recado"
runners=$(node -p 'Object.entries(require("./package.json").devDependencies).filter(([name]) => /vitest|playwright|testcontainers/.test(name)).map((runner) => runner.join("@")).join(" ")')
cd "$scratch/program"
[ "$(ls node_modules)" = recado-testing ]
node --test test/*.test.js

# What a newcomer does: npm create, and the tests of what it has made, with the packed file in place of the one on npm.
(cd "$RECADO_PACKAGE/create" && npm pack --silent --pack-destination "$scratch" >/dev/null)
creator=$(echo "$scratch"/create-recado-testing-*.tgz)
"$RECADO_PACKAGE/node_modules/.bin/publint" --strict "$creator"
create() { npm exec --yes --offline --package "$creator" -- create-recado-testing "$@"; }
create "$scratch/vitest"
create "$scratch/playwright" --playwright
for runner in vitest playwright; do
  cd "$scratch/$runner"
  npm pkg set "devDependencies.recado-testing=file:$package"
  npm install --ignore-scripts --no-audit --no-fund --silent --prefer-offline
  npm test
done
if create .; then
  echo "It writes into a folder that is not empty." >&2
  exit 1
fi

cd "$scratch/program"
# shellcheck disable=SC2086 # a list
npm install --ignore-scripts --no-audit --no-fund --silent --prefer-offline $runners
cat >types.test.ts <<'TYPES'
import { test } from 'recado-testing/playwright';
import { test as vitest } from 'recado-testing/vitest';
test('', async ({ recadoPhone, page }) => [(await recadoPhone.waitForMessage(({ text }) => text === '')).from, page.url()]);
vitest('', async ({ recadoGateway }) => recadoGateway.phone('1').send({ type: 'text', text: recadoGateway.baseUrl }));
TYPES
"$RECADO_PACKAGE/node_modules/.bin/tsc" --noEmit --skipLibCheck --module nodenext --target es2022 --lib es2022,dom,esnext.disposable --strict types.test.ts

# With Docker in place of the program.
RECADO_BIN='' "$repository/tools/with-docker.sh" node --test --test-concurrency=1 test/docker/*.test.js examples/testcontainers/*.test.js
