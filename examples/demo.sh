#!/usr/bin/env bash
# Evaluates the shipped suites offline: a careful script, a careless one, and the lexical floor that any model must beat.
#   examples/demo.sh ./callvet
set -euo pipefail
callvet=$(realpath "${1:-./callvet}")
cd "$(dirname "$0")"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export CALLVET_DB="$dir/demo.db"
"$callvet" lint ./*.yaml
for suite in weather abstention parallel smart-home refunds travel; do
  careless=sloppy; [ "$suite" = abstention ] && careless=eager
  echo; echo "== $suite"
  "$callvet" run "$suite.yaml" -m "script:scripts/$suite-good.yaml" -m "script:scripts/$suite-$careless.yaml" -m offline/lexical --name "$suite" --show-failures 2
done
echo; echo "== one failing case, whole"
"$callvet" show refunds worked-example -m script:refunds-sloppy.yaml
out=${CALLVET_DEMO_REPORT:-}
if [ -n "$out" ]; then "$callvet" report travel -o "$out"; echo "report: $out"; fi
"$callvet" runs
