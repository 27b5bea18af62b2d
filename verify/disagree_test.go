// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDisagreements: a recorded verdict that differs from callvet's fails the check and is named.
func TestDisagreements(t *testing.T) {
	t.Parallel()
	const (
		conversations = "sets/bfcl_v4_2025-11/" + part + "/multi_turn/new__m__multi_turn_base.jsonl"
		first         = "sets/bfcl_v1_2024-08/" + part + "/outputs/first.jsonl"
		taubench      = "sets/taubench_v1_airline/" + part + "/m.jsonl"
		shop          = "sets/tau2/" + part + "/trajectories/ab__shop.jsonl"
		runs          = "sets/agentdojo/" + part + "/runs/p__plain.jsonl"
		long          = "sets/tau2_judges/" + part + "/shop__long.jsonl"
		scores        = "sets/toolret_subsets/" + part + "/small/bm25s_recorded_scores.jsonl"
	)
	for name, x := range map[string]struct{ check, file, old, new, want string }{
		"a verdict": {
			"bfcl", first, `"valid":false`, `"valid":true`,
			"DIFFERS bfcl_v1_2024-08 first: simple_2: official valid, callvet fail",
		},
		"another answer": {
			"bfcl", first, `"decoded":[{"f":{"n":1}}]`, `"decoded":[{"f":{"n":7}}]`,
			"DIFFERS bfcl_v1_2024-08 first: simple_0: official valid, callvet fail",
		},
		"no case": {"bfcl", first, "simple_2", "simple_7", "row simple_7 belongs to no case"},
		"an error type": {
			"bfcl-multiturn", conversations, "instance_state", "execution_response",
			"DIFFERS new__m multi_turn_base: 1: official multi_turn:execution_response_mismatch, callvet multi_turn:instance_state_mismatch",
		},
		"a state": {
			"bfcl-multiturn", conversations, `"ground_truth_state":"same"`,
			`"ground_truth_state":{}`, "official valid, callvet multi_turn:instance_state_mismatch (turn 1)",
		},
		"a row without JSON": {"bfcl-multiturn", conversations, `"turns":[`, `"turns":`, "a row cannot be read"},
		"a fact": {
			"tau", taubench, `"100":true`, `"100":false`,
			"attempt 1 of task 0: 100: told: true, recorded false",
		},
		"a reward": {
			"tau", shop, `"reward":0`, `"reward":1`,
			"DIFFERS tau2 ab__shop rewards: attempt 1 of task t1: 0, recorded 1",
		},
		"an action check": {
			"tau", shop, `"action_match":false`, `"action_match":true`,
			"action checks: attempt 1 of task t1: step 1: made: false, recorded true",
		},
		"a communicate check": {
			"tau", shop, `"met":true`, `"met":false`,
			"communicate checks: attempt 1 of task t1: fact 1: found: true, recorded false",
		},
		"a broken line": {"tau", shop, `{"a":1.0}`, `{"a":1.0`, "ab__shop"},
		"an attack": {
			"agentdojo", runs, `"security":true`, `"security":false`,
			"DIFFERS agentdojo p|plain: bank/user_task_0/injection_task_0/plain: official false, callvet true",
		},
		"a judge": {
			"judges", long, `"verdict_pass":true,"verdict_raw":"satisfied"`,
			`"verdict_pass":false,"verdict_raw":"fail"`, "DIFFERS tau2_judges figures: shop|long tp",
		},
		"an answer": {
			"judge-parsing", long, `"verdict_pass":true,"verdict_raw":"satisfied"`,
			`"verdict_pass":true,"verdict_raw":"dissatisfied"`, "DIFFERS tau2_judges: shop__long",
		},
		"a spelling": {
			"judge-parsing", "sets/tau2_judges/README.md", "not satisfied", "satisfied at last",
			`"satisfied at last" is unscored, and listed as fail`,
		},
		"no answers": {
			"judge-parsing", "sets/tau2_judges/" + part + "/scores.json", `"n":`, `"many":`,
			"judge-parsing",
		},
		"a score": {"bm25", scores, `["t2",0.`, `["t2",1.`, "DIFFERS bm25s single scores of small: q2 t2"},
		"a question": {
			"bm25", "sets/toolret_subsets/" + part + "/small/queries.jsonl", `"forecast"`,
			`"currency"`, "DIFFERS bm25s figures: results small|query_only",
		},
		"a vector": {
			"stats", "../vectors/pass_at_k.json", "0.25", "0.2500001",
			"DIFFERS pass_at_k.json: p2: pass_at_k = 0.25",
		},
		"F1": {
			"stats", "../vectors/argument_fidelity.json", `"f1":0.5`, `"f1":0.6`,
			"DIFFERS argument_fidelity.json: a1",
		},
		"a method": {
			"stats", "../vectors/README.md", "pass_at_k.json |", "pass_at_all.json |",
			"SHORT pass_at_all.json: 0 compared",
		},
		"an order": {
			"matcher", "../conformance/README.md", "T4 wants find before buy", "T4 wants nothing",
			"DIFFERS cases: T4: want fail, got pass",
		},
		"a route": {
			"routes", "sets/clinc150/" + part + "/test.jsonl", `"route":"kitchen"`,
			`"route":"banking"`, "DIFFERS bars: learned, CLINC150 held out, in scope",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := trees()[x.check](t)
			changed := strings.ReplaceAll(tr[x.file], x.old, x.new)
			if changed == tr[x.file] {
				t.Fatalf("nothing to change in %s:\n%s", x.file, tr[x.file])
			}
			tr[x.file] = changed
			if ok, out := verdict(t, x.check, tr.write(t)); ok || !strings.Contains(out, x.want) ||
				!figure.MatchString(lastLine(out)) {
				t.Errorf("%v, want %q in\n%s", ok, x.want, out)
			}
		})
	}
}

// TestUnracedPublicData runs the fast checks over the public data, if they are available.
func TestUnracedPublicData(t *testing.T) {
	t.Parallel()
	up := filepath.Join("..", "..", "shared")
	p := place{
		data: cmp.Or(os.Getenv("CALLVET_TESTDATA"), filepath.Join(up, "data")), part: os.Getenv("CALLVET_PART"),
		vectors:  cmp.Or(os.Getenv("CALLVET_VECTORS"), filepath.Join(up, "vectors")),
		examples: filepath.Join("..", "examples"), splits: 1,
	}
	if _, err := os.Stat(filepath.Join(p.data, "sets")); err != nil {
		t.Skipf("SKIPPED: no public data in %s; set CALLVET_TESTDATA to check against them", p.data)
	}
	for _, name := range []string{
		"matcher", "tau", "bm25", "bigtool", "agentdojo", "bfcl-multiturn", "judge-parsing", "variance",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if ok, out := verdict(t, name, p); !ok {
				t.Error(out)
			}
		})
	}
}
