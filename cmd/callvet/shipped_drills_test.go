// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/stats/gate"
)

// drilledTask is the record of a task in a drill.
type drilledTask struct {
	Type   string `json:"type"`
	ID     string `json:"task_id"`
	Pass   *bool  `json:"pass"`
	Safety []struct {
		Rule    string `json:"rule"`
		Blocked bool   `json:"blocked"`
	} `json:"safety"`
	Fields map[string]string `json:"fields"`
}

// drillTasks runs the shipped drills with a script and returns the records of the tasks.
func drillTasks(t *testing.T, script string, code int, more ...string) (tasks []drilledTask, res runs.DrillsResult) {
	t.Helper()
	dir := t.TempDir()
	path, err := filepath.Abs(filepath.Join("..", "..", "examples", "drills", script))
	if err != nil {
		t.Fatal(err)
	}
	args := append([]string{"drill", "-m", "script:" + path, "--json", "-o", filepath.Join(dir, "tasks.jsonl")},
		more...)
	said := runApp(t, dir, nil, code, args...)
	if err := json.NewDecoder(strings.NewReader(said[strings.IndexByte(said, '{'):])).Decode(&res); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	for line := range bytes.Lines(readFile(t, dir, "tasks.jsonl")) {
		var task drilledTask
		if err := json.Unmarshal(line, &task); err != nil {
			t.Fatal(err)
		}
		if task.Type == "task" {
			tasks = append(tasks, task)
		}
	}
	return tasks, res
}

// TestShippedDrills: a careful script passes every drill and every calm twin without an incident;
// a careless one is flagged at every drill.
func TestShippedDrills(t *testing.T) {
	t.Parallel()
	good, res := drillTasks(t, "good.yaml", exitOK)
	kinds, languages, twins := map[string]int{}, map[string]int{}, 0
	for _, task := range good {
		if task.Pass == nil || !*task.Pass || len(task.Safety) > 0 || task.Safety == nil {
			t.Errorf("%s of the careful script: pass %v, incidents %v", task.ID, task.Pass, task.Safety)
		}
		if task.Fields["twin"] == "yes" {
			twins++
			continue
		}
		kinds[task.Fields["drill"]]++
		languages[task.Fields["language"]]++
	}
	if len(good)-twins < 60 || len(kinds) != 15 || len(languages) != 3 || twins != res.Attacks || twins < 25 {
		t.Errorf("%d drills with %d twins, of %v, in %v", len(good)-twins, twins, kinds, languages)
	}
	for k, n := range kinds {
		if n < 3 {
			t.Errorf("%d drills of %s", n, k)
		}
	}
	if r := res.Targets[0]; res.Verdict != gate.Pass || r.Decided != res.Cases || r.Incidents != 0 || r.Upper > 0.05 ||
		len(res.Unsafe) > 0 {
		t.Errorf("%s: %d of %d decided, %d incidents, below %g, %v", res.Verdict, r.Decided, res.Cases, r.Incidents,
			r.Upper, res.Unsafe)
	}

	bad, res := drillTasks(t, "bad.yaml", exitGateFailed)
	flagged := map[string]bool{}
	for _, task := range bad {
		if task.Fields["twin"] == "yes" {
			continue
		}
		happened := slices.ContainsFunc(task.Safety, func(i struct {
			Rule    string `json:"rule"`
			Blocked bool   `json:"blocked"`
		},
		) bool {
			return !i.Blocked
		})
		kind := task.Fields["drill"]
		if about := kind == "error_storm" || kind == "null_policy"; task.Pass == nil || *task.Pass ||
			happened == about {
			t.Errorf("%s of the careless script: pass %v, an incident happened %v", task.ID, task.Pass, happened)
		}
		flagged[task.ID] = true
	}
	if len(flagged) != res.Cases || res.Verdict != gate.Fail {
		t.Errorf("%d of %d drills were flagged: %s", len(flagged), res.Cases, res.Verdict)
	}
	for _, metric := range []string{runs.DrillAttackSuccess, runs.DrillUtilityUnderAttack} {
		if m := res.Targets[0].All.Metric(metric); m == nil || m.Seen() != res.Attacks ||
			metric == runs.DrillAttackSuccess && m.Interval.Point != 1 {
			t.Errorf("%s: %+v", metric, m)
		}
	}
	if m := res.Targets[0].All.Metric("failing_tool_left"); m == nil || m.Interval.Point == 1 {
		t.Errorf("the careless script is said to leave tools that fail: %+v", m)
	}
}

// TestGuardedDrills: behind a guard no act of the careless script is carried out, and only its
// texts remain. The careful script does all of its work.
func TestGuardedDrills(t *testing.T) {
	t.Parallel()
	policy, err := filepath.Abs(filepath.Join("..", "..", "examples", "drills", "policy.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	_, free := drillTasks(t, "bad.yaml", exitGateFailed)
	_, res := drillTasks(t, "bad.yaml", exitGateFailed, "--guard", policy)
	words := map[string]bool{
		"en-token-in-the-settings": true, "br-senha-do-cofre": true,
		"ar-imagen-que-se-lleva-datos": true,
	}
	for _, u := range res.Unsafe {
		if !words[strings.TrimSuffix(u.Case, "~calm")] {
			t.Errorf("%s was not stopped: %s", u.Case, u.What)
		}
	}
	blocked := res.Targets[0].All.Metric(runs.DrillBlocked)
	if len(res.Unsafe) < len(words) || len(free.Unsafe) < 60 || blocked == nil || blocked.Interval.Point < 0.5 {
		t.Errorf("%d unsafe attempts, %d without a guard, blocked %+v", len(res.Unsafe), len(free.Unsafe), blocked)
	}
	good, res := drillTasks(t, "good.yaml", exitOK, "--guard", policy)
	for _, task := range good {
		if task.Pass == nil || !*task.Pass {
			t.Errorf("%s: the guard kept the careful script from its work", task.ID)
		}
	}
	if res.Verdict != gate.Pass {
		t.Errorf("%s: %v", res.Verdict, res.Unsafe)
	}
}

// TestDrillsWithoutAnswer: a target that does not answer decides nothing.
func TestDrillsWithoutAnswer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "other.yaml"),
		[]byte("otherwise: error\nrules: [{case: none, text: x}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	said := runApp(t, dir, nil, exitInconclusive, "drill", "-m", "script:"+filepath.Join(dir, "other.yaml"))
	if !strings.Contains(said, "no case could be decided") {
		t.Error(said)
	}
}
