// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeTree writes files below a new folder.
func writeTree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// tauTree is a small set of both benchmarks of which every recorded verdict is right.
func tauTree() map[string]string {
	var one strings.Builder
	for task, passes := range []int{4, 2} {
		for trial := range 4 {
			reward := 0
			if trial < passes {
				reward = 1
			}
			fmt.Fprintf(&one, `{"task_id":%d,"trial":%d,"reward":%d.0,"traj":[{"role":"user","content":"hi"},{"role":"assistant","content":"It is $1,0%d."}],`+
				`"info":{"task":{"actions":[],"outputs":["100"]},"reward_info":{"info":{"outputs":{"100":%t}}}}}`+"\n", task, trial, reward, trial, trial == 0)
		}
	}
	sim := func(task, args, said string, match, met bool, reward int) string {
		part := map[bool]int{true: 1}
		return fmt.Sprintf(`{"task_id":%q,"termination_reason":"user_stop","messages":[{"role":"user","content":"hi"},`+
			`{"role":"assistant","tool_calls":[{"id":"1","name":"book","arguments":%s,"requestor":"assistant"}]},{"role":"tool","id":"1","content":"ok"},{"role":"assistant","content":%q}],`+
			`"reward_info":{"reward":%d,"action_checks":[{"action":{"name":"book","requestor":"assistant","arguments":{"a":1},"compare_args":null},"action_match":%t}],`+
			`"communicate_checks":[{"info":"100","met":%t}],"reward_basis":["ACTION","COMMUNICATE"],"reward_breakdown":{"ACTION":%d,"COMMUNICATE":%d}}}`+"\n",
			task, args, said, reward, match, met, part[match], part[met])
	}
	return map[string]string{
		"sets/taubench_v1_airline/scores.json":        `{"open":[{"pass^1":0.75,"pass^2":0.583333,"pass^3":0.5,"pass^4":0.5},2,8]}`,
		"sets/taubench_v1_airline/open/m.jsonl":       one.String(),
		"sets/tau2/open/trajectories/a__shop.jsonl":   sim("t1", `{"a":1}`, "100", true, true, 1) + sim("t2", `{"a":2}`, "1,00", false, true, 0) + sim("t3", `{"a":1}`, "10", true, false, 0),
		"sets/tau2/open/trajectories/b__shop.jsonl":   sim("t1", `{"a":3}`, "100", false, true, 0) + sim("t2", `{}`, "100", true, true, 1) + sim("t3", `{"a":1.0}`, "100", true, true, 1),
		"sets/tau2/open/scores.json":                  `{"a__shop":{"n":3,"success":1,"n_tool_calls":3,"n_tool_errors":0,"reward_basis":{"ACTION+COMMUNICATE":3}}}`,
		"sets/tau2/heldout/trajectories/c__air.jsonl": sim("t1", `{"a":1}`, "100", true, true, 1),
	}
}

func TestTau(t *testing.T) {
	t.Parallel()
	const taubench, agent, other = "sets/taubench_v1_airline/", "sets/tau2/open/scores.json", "sets/tau2/open/trajectories/b__shop.jsonl"
	for name, c := range map[string]struct {
		file, old, new string // a change of the data
		ok             bool
		want           []string
	}{
		"as recorded": {ok: true, want: []string{
			"pass^4 = 0.500000", "tau: pass^k 5 of 5 as published; communicated facts 8 of 8", "a                                  shop      1 of  3 succeed,    3 calls,  0 errors  as published",
			"tau2: agents 1 of 1 as published; action checks 7 of 7, communicate checks 7 of 7, rewards 7 of 7 (0 without a breakdown), successes 7 of 7",
			"a → b: 3 tasks, 33.3 % → 66.7 %, 1 lost, 2 won", "c                                  air       1 of  1 succeed,    1 calls,  0 errors  not published",
		}},
		"another pass^k":  {taubench + "scores.json", "0.583333", "0.583000", false, []string{"pass^2 = 0.583333", "DIFFERS from 0.583", "pass^k 4 of 5 WRONG"}},
		"another fact":    {taubench + "open/m.jsonl", `"100":true`, `"100":false`, false, []string{"facts 6 of 8 WRONG"}},
		"another check":   {other, `"action_match":false`, `"action_match":true`, false, []string{"action checks 6 of 7 WRONG", "rewards 7 of 7"}},
		"another telling": {other, `"met":true`, `"met":false`, false, []string{"communicate checks 4 of 7 WRONG"}},
		"another reward":  {other, `"reward":0`, `"reward":1`, false, []string{"rewards 6 of 7 WRONG"}},
		"a broken line":   {other, `{"a":1.0}`, `{"a":1.0`, false, []string{"b__shop:3: ", "successes 6 of 7 WRONG"}},
		"another success": {agent, `"success":1`, `"success":2`, false, []string{"agents 0 of 1 WRONG", "DIFFERS from"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := tauTree()
			if c.file != "" {
				changed := strings.ReplaceAll(files[c.file], c.old, c.new)
				if changed == files[c.file] {
					t.Fatalf("nothing to change in %s", c.file)
				}
				files[c.file] = changed
			}
			var out bytes.Buffer
			ok, err := tau(&out, writeTree(t, files))
			if err != nil || ok != c.ok {
				t.Errorf("ok = %v, %v", ok, err)
			}
			for _, w := range c.want {
				if !strings.Contains(out.String(), w) {
					t.Errorf("no %q in\n%s", w, out.String())
				}
			}
		})
	}
	if _, err := tau(&bytes.Buffer{}, t.TempDir()); err == nil {
		t.Error("a proof without data")
	}
}

func TestConversationFiles(t *testing.T) {
	t.Parallel()
	row := func(id string, valid bool, kind, truth string) string {
		return fmt.Sprintf(`{"id":%q,"category":"multi_turn_base","valid":%t,"error_type":%s,"n_turns_truth":1,"turns":[{"steps":[{"calls":[{"result":"a"}]},{"text":"?"}],`+
			`"state":{"n":1},"ground_truth":[{"result":"a"}],"ground_truth_state":%s}]}`+"\n", id, valid, kind, truth)
	}
	const wrong = `"multi_turn:instance_state_mismatch"`
	score := func(correct int) string {
		return fmt.Sprintf(`{"multi_turn_base":{"accuracy":%v,"correct":%d,"total":4},"leaderboard_row":{"Rank":"2"}}`, float64(correct)/4, correct)
	}
	files := map[string]string{
		"open/multi_turn/x-main__m__multi_turn_base.jsonl": row("1", true, "null", `"same"`) + row("2", true, "null", `{"n":true}`) + row("3", false, wrong, `{"n":"1"}`) + row("4", true, "null", `{"n":1.0}`),
		"open/multi_turn/x-new__m__multi_turn_base.jsonl":  row("1", false, wrong, `{}`) + row("2", true, "null", `"same"`) + row("3", true, "null", `"same"`) + row("4", false, wrong, `{"n":2}`),
		"open/official_scores.json":                        `{"x-main__m":` + score(3) + `,"x-new__m":` + score(2) + `}`,
	}
	check := func(files map[string]string) (bool, tally, string) {
		half := filepath.Join(writeTree(t, files), "open")
		var out bytes.Buffer
		runs := newRunBook()
		n, err := conversationFiles(&out, filepath.Join(half, "multi_turn"), runs)
		if err != nil {
			t.Fatal(err)
		}
		ok, err := runs.report(&out, half)
		if err != nil {
			t.Fatal(err)
		}
		return ok, n, out.String()
	}
	ok, n, out := check(files)
	for _, w := range []string{"x-main__m (A) → x-new__m (B)", "4  75.0%  50.0%     2     1", "1 of 1 rows", "1 of 1 categories"} {
		if !strings.Contains(out, w) {
			t.Errorf("no %q in\n%s", w, out)
		}
	}
	if !ok || !n.all() || n.n != 8 {
		t.Errorf("%v %v\n%s", ok, n, out)
	}
	files["open/official_scores.json"] = strings.Replace(files["open/official_scores.json"], `"correct":3`, `"correct":4`, 1)
	files["open/multi_turn/x-new__m__multi_turn_base.jsonl"] = strings.Replace(files["open/multi_turn/x-new__m__multi_turn_base.jsonl"], "instance_state", "execution_response", 1)
	if ok, n, out := check(files); ok || n.same != 7 || !strings.Contains(out, "differs: x-main__m multi_turn_base: published {0.75 4 4}, callvet {0.75 3 4}") {
		t.Errorf("%v %v\n%s", ok, n, out)
	}
}
