#!/usr/bin/env bash
# Shows a build that fails for the right reason: argument exact match falls to 0.80.
#   examples/regression/demo.sh ./callvet [REPORT.html]
set -euo pipefail
callvet=$(realpath "${1:-./callvet}")
report=${2:+$(realpath -m "$2")}
cd "$(dirname "$0")"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export CALLVET_DB="$dir/demo.db"
echo "== before the edit: the gates pass"
"$callvet" gate before.jsonl --tools tools --gates gates.yaml
echo; echo "== after the edit: the build fails"
status=0
"$callvet" gate after.jsonl --tools tools --gates gates.yaml || status=$?
echo "exit code $status"
[ "$status" = 3 ] || { echo "expected exit code 3" >&2; exit 1; }
echo; echo "== why"
"$callvet" score after.jsonl --tools tools -v -o "${report:-$dir/report.html}" >"$dir/panels.txt"
sed -n '/^Findings/,/^$/p' "$dir/panels.txt"
echo "== and against the traces before the edit, task by task"
"$callvet" diff before.jsonl after.jsonl >"$dir/diff.txt"
sed -n 1,20p "$dir/diff.txt"
[ -z "$report" ] || echo "report: $report"
