// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestUnracedRefusals: a value that is out of range or missing ends with exit 2 before a model is
// asked or a run is stored. The message suggests the value that was probably meant.
func TestUnracedRefusals(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	examples, err := filepath.Abs(filepath.Join("..", "..", "examples"))
	if err != nil {
		t.Fatal(err)
	}
	suite := filepath.Join(examples, "weather.yaml")
	run := func(args ...string) (int, string) {
		cmd := exec.CommandContext(t.Context(), "callvet", args...)
		var errs bytes.Buffer
		cmd.Dir, cmd.Stderr = dir, &errs
		cmd.Env = append(cmd.Environ(), "CALLVET_DB="+filepath.Join(dir, "runs.db"), "HOME="+dir)
		err := cmd.Run()
		var ended *exec.ExitError
		if err != nil && !errors.As(err, &ended) {
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode(), errs.String()
	}
	if code, errs := run("run", suite, "-m", "offline/lexical", "-q", "--name", "first"); code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	for _, c := range []struct{ args, says string }{
		{"--fail-under 95", "a share is at most 1: write 95% or 0.95"},
		{"--fail-under -1", "a share is from 0 to 1"},
		{"--sample -1", "the least is 1"},
		{"--repeat 0", "the least is 1"},
		{"-c -4", "the least is 1"},
		{"--timeout 0", "it must be more than 0"},
		{"--timeout 30", "write a time with its unit, such as 30s or 2m"},
		{"--max-cost 0", "it must be more than 0"},
		{"--max-calls 0", "the least is 1"},
		{"--retries -1", "the least is 0"},
		{"--top-p 1.5", "a share is at most 1: write 1.5% or 0.015"},
		{"--header X:1", "--header: they are for agents and services over HTTP"},
		{"--agent text=a", "--agent text: it is for agents over HTTP"},
		{"-m exec:true --agent preset=ag-ui", "leave it out; these targets take text, calls"},
		{"-m exec:true --agent body={\"a\":1}", "--agent body: it is for agents over HTTP"},
		{"-m exec:true --agent body=[]", "write a JSON object"},
		{"-m script:nosuch.yaml --agent input=a", "--agent input: it is for agents over HTTP"},
		{"-m http://127.0.0.1:9/x --agent k=3", "--agent k: it is for services that select tools"},
		{"-m http://127.0.0.1:9/x --agent preset=agui", "did you mean ag-ui?"},
		{"-m retrieve:http://127.0.0.1:9/x --agent k=x", "write a whole number"},
		{"-m exec:true --agent txt=a", "did you mean text?"},
		{"--slice nosuch", "--slice nosuch: no case has it"},
		{"--slice dificulty", "did you mean difficulty?"},
		{"--tool-choice get_wether", "did you mean get_weather?"},
		{"--tool-choice requierd", "did you mean required?"},
		{"--name last", "it finds runs by when they were made"},
		{"--name latest~1", "it finds runs by when they were made"},
		{"--name first", `name "first": conflict`},
		{"-m nosuch/model", `unknown provider "nosuch"`},
		{"-m script:nosuch.yaml", "not found"},
		{"-m recorded:nosuch.jsonl", "not found"},
		{"--failed-from nosuch", `run "nosuch": not found`},
		{"--prices nosuch.json", "no such file"},
		{"--targets nosuch.yaml", "no such file"},
		{"--system @nosuch.txt", "no such file"},
		{"--resume nosuch", `run "nosuch": not found`},
	} {
		code, errs := run(append([]string{"run", suite, "-m", "offline/lexical", "-q"}, strings.Fields(c.args)...)...)
		if code != exitUsage || !strings.Contains(errs, c.says) {
			t.Errorf("run %s: exit %d, want 2 with %q: %s", c.args, code, c.says, errs)
		}
	}
	for _, args := range []string{
		"show nosuch", "show first --model offline/lexical", "show first paris-now --model nosuch",
		"trace import nosuch.jsonl --keep nosuch", "show first nosuch", "report nosuch -o x.html",
		"report first -o x.html --slice nosuch", "report first -o x.html --baseline nosuch",
		"diff nosuch first", "diff first nosuch", "diff first first --slice nosuch", "gate nosuch",
		"gate first --gates nosuch.yaml", "runs --delete nosuch",
		"run nosuch.yaml -m offline/lexical", "lint nosuch.yaml", "convert nosuch.yaml -o x.json", "schema nosuch",
		"score nosuch.jsonl", "trace import nosuch.jsonl", "trace check nosuch.jsonl",
		"label next nosuch.jsonl", "label import nosuch.jsonl", "label export nosuch.jsonl",
		"calibrate nosuch.jsonl --judge j",
		"select nosuch.json --tools nosuch.json", "select query weather --tools nosuch.json", "tools lint nosuch.json",
		"tools confusable nosuch.json",
	} {
		if code, errs := run(strings.Fields(args)...); code != exitUsage {
			t.Errorf("%s: exit %d, want 2: %s", args, code, errs)
		}
	}
	if code, errs := run("run", suite, "-m", "script:"+filepath.Join(examples, "scripts", "weather-sloppy.yaml"), "-q",
		"--fail-under", "95%"); code != exitGateFailed {
		t.Errorf("--fail-under 95%%: exit %d, want 3: %s", code, errs)
	}
	list := exec.CommandContext(t.Context(), "callvet", "runs", "--json", "--db", filepath.Join(dir, "runs.db"))
	out, err := list.Output()
	if err != nil || strings.Count(string(out), `"id":`) != 2 ||
		!strings.Contains(string(out), `"pass":{"point":0.57142857142857`) {
		t.Errorf("runs --json: %v: %s", err, out)
	}
}
