#!/usr/bin/env bash
# Fetches what the pages use from others, in the versions named here, from the npm
# registry, and puts it with its licences into internal/web/vendored. Nothing is built:
# what is checked in is what the browser gets. What only tests use goes to them.
#
#   tools/vendor.sh
set -euo pipefail
cd "$(dirname "$0")/../internal/web/vendored"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# fetch unpacks a package into $work/NAME.
fetch() {
  (cd "$work" && npm pack --silent "$1@$2" >/dev/null && mkdir "$1" && tar xzf "$1-$2.tgz" -C "$1" --strip-components=1)
}

fetch htmx.org 2.0.11
fetch htmx-ext-sse 2.2.4
fetch idiomorph 0.8.0
fetch uplot 1.6.32
fetch lucide-static 1.62.0
fetch axe-core 4.14.1

cp "$work/htmx.org/dist/htmx.min.js" htmx.js
cp "$work/htmx-ext-sse/dist/sse.min.js" htmx-sse.js
cp "$work/idiomorph/dist/idiomorph-ext.min.js" idiomorph.js
cp "$work/uplot/dist/uPlot.iife.min.js" uplot.js
cp "$work/uplot/dist/uPlot.min.css" uplot.css
for name in htmx.org htmx-ext-sse idiomorph uplot lucide-static; do
  cp "$work/$name/LICENSE" "LICENSE.$name"
done

# The icons that icons.txt names, a line each.
rm -rf icons
mkdir icons
while read -r icon; do
  cp "$work/lucide-static/icons/$icon.svg" icons/
done <icons.txt

# The rules of accessibility that tests in a browser check.
tests=../../testkit/browser
cp "$work/axe-core/axe.min.js" "$tests/"
cp "$work/axe-core/LICENSE" "$tests/LICENSE.axe-core"
cp "$work/axe-core/LICENSE-3RD-PARTY.txt" "$tests/LICENSE.axe-core-parts"
