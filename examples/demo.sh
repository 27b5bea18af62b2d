#!/usr/bin/env bash
# Evaluates the shipped suites offline: scripts simulate a careless and a careful model; the lexical
# baseline is what any model must beat.
#   examples/demo.sh ./callvet
set -euo pipefail
callvet=$(realpath "${1:-./callvet}")
cd "$(dirname "$0")"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export CALLVET_DB="$dir/demo.db"
"$callvet" lint ./*.yaml

suites="weather abstention parallel smart-home refunds travel"
for suite in $suites; do
  careless=sloppy; [ "$suite" = abstention ] && careless=eager
  "$callvet" run "$suite.yaml" -m "script:scripts/$suite-$careless.yaml" -m offline/lexical --name "$suite-careless" --quiet 2> "$dir/notes"
done
echo; echo "== a careless model fails; this is one of its cases"
"$callvet" show refunds-careless worked-example -m script:refunds-sloppy.yaml

echo; echo "== a careful model passes"
for suite in $suites; do
  sentence=$("$callvet" run "$suite.yaml" -m "script:scripts/$suite-good.yaml" --name "$suite" 2> "$dir/notes" | sed -n 3p)
  echo "$suite: $sentence"
  case $sentence in *passed*) ;; *) cat "$dir/notes"; exit 1 ;; esac
done
out=${CALLVET_DEMO_REPORT:-}
if [ -n "$out" ]; then "$callvet" report travel-careless -o "$out"; echo "report: $out"; fi
echo
echo "Nothing of the careful model failed in the six suites. Now your own:"
echo "  callvet init"
echo "  callvet run suite.yaml -m openai/gpt-5-mini"
