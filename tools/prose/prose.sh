#!/usr/bin/env bash
# prose.sh VALE [BASE]: errors (Words, Comments) that Vale finds in any file, and its warnings on the
# lines that differ from commit BASE;
# without BASE, all warnings.
# VALE is the path of the program. If it is missing and a line changed, it is built (with a C compiler).
# Exit code 1: there is an error.
set -euo pipefail
vale=$(realpath -m "$1") base=${2-}
version=v3.21.0
files=(-- '*.md' '*.go' ':!*_test.go' ':!CHANGELOG.md')
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
if [ -n "$base" ]; then
  git diff -U0 --no-color --no-ext-diff --diff-filter=ACMR "$base" "${files[@]}" |
    sed -nE 's/^\+\+\+ b\/(.*)/f \1/p; s/^@@ -[0-9,]+ \+([0-9]+)(,([0-9]+))? @@.*/h \1 \3/p' |
    while read -r kind a b; do
      if [ "$kind" = f ]; then file=$a; elif [ "${b:-1}" -gt 0 ]; then printf '%s\t%d\t%d\n' "$file" "$a" $((a + ${b:-1} - 1)); fi
    done > "$lines"
else
  git ls-files "${files[@]}" | sed 's/$/\t1\t1000000000/' > "$lines"
fi
if [ ! -x "$vale" ]; then
  [ -s "$lines" ] || { echo "prose: no line changed"; exit 0; }
  command -v gcc >/dev/null || { echo "SKIPPED: prose needs a C compiler"; exit 0; }
  log=$(mktemp) # the C compiler warns at length
  GOFLAGS= CGO_ENABLED=1 GOBIN=$(dirname "$vale") go install "github.com/vale-cli/vale/v3/cmd/vale@$version" 2> "$log" || { cat "$log" >&2; exit 1; }
  rm -f "$log"
fi
git ls-files "${files[@]}" | xargs -d '\n' "$vale" --config "$(dirname "$0")/vale.ini" --no-exit --output=line |
  awk -v lines="$lines" '
    BEGIN { while ((getline l < lines) > 0) { split(l, p, "\t"); n[p[1]]++; from[p[1], n[p[1]]] = p[2]; to[p[1], n[p[1]]] = p[3] } }
    { split($0, p, ":"); found = p[4] == "Callvet.Words" || p[4] == "Callvet.Comments"; bad += found
      for (i = 1; i <= n[p[1]] && !found; i++) found = p[2] >= from[p[1], i] && p[2] <= to[p[1], i]
      if (found) { print; all++ } }
    END { printf "prose: %d findings, %d of them errors\n", all, bad; exit bad > 0 }'
