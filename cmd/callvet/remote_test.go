// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/sys"
	"github.com/callvet/callvet/panel"
)

// TestRemote: a run on a server shows the numbers of the same run here, to the last bit.
func TestRemote(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := &seat{dir: dir, env: map[string]string{"HOME": dir, "CALLVET_DB": filepath.Join(dir, "x.db")}}
	here := &seat{dir: dir, env: map[string]string{"HOME": dir, "CALLVET_DB": filepath.Join(dir, "here.db")}}
	var owner sys.Group
	t.Cleanup(owner.Wait)
	types := func(at *seat, in string, want int, args ...string) string {
		t.Helper()
		var out bytes.Buffer
		if code := at.run(t.Context(), &out, in, args...); code != want {
			t.Fatalf("%v: exit %d, want %d: %s", args, code, want, out.String())
		}
		return out.String()
	}
	suite := filepath.Join("..", "..", "examples", "weather.yaml")
	abs, err := filepath.Abs(suite)
	if err != nil {
		t.Fatal(err)
	}
	stderr, stop := s.serve(t, &owner)
	var link []string
	for deadline := time.Now().Add(10 * time.Second); link == nil && time.Now().Before(deadline); {
		link = startLink.FindStringSubmatch(stderr.String())
	}
	if link == nil {
		t.Fatalf("no link: %s", stderr)
	}
	base, _, _ := strings.Cut(link[1], "/#claim=")
	if out := types(s, "", exitError, "run", abs, "-m", "offline/lexical", "--remote", base); !strings.Contains(out,
		"callvet login") {
		t.Errorf("without a login: %s", out)
	}
	types(s, "correct horse battery\nroot\n", exitOK, "login", link[1])
	bad := filepath.Join(dir, "bad.yaml")
	if err := os.WriteFile(bad, []byte("callvet: 1\nname: bad\ncases:\n  - id: x\n    promt: hi\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	if out := types(s, "", exitUsage, "run", bad, "-m", "offline/lexical", "--remote", base); !strings.Contains(out,
		`bad.yaml:5:5: unknown key "promt" (did you mean "prompt"?)`) {
		t.Errorf("a bad suite: %s", out)
	}

	if out := types(s, "", exitOK, "run", abs, "-m", "offline/lexical", "-r", "3", "--remote", base, "-o",
		"remote.json", "-o", "remote.html"); !strings.Contains(out, "18 of 42 judged attempts failed") {
		t.Errorf("shown: %s", out)
	}
	types(here, "", exitOK, "run", abs, "-m", "offline/lexical", "-r", "3", "-o", "here.json", "-q")
	if d := cmp.Diff(numbers(t, filepath.Join(dir, "here.json")),
		numbers(t, filepath.Join(dir, "remote.json"))); d != "" {
		t.Errorf("numbers here and there differ (-here +there):\n%s", d)
	}
	if b := readFile(t, dir, "remote.html"); !bytes.Contains(b, []byte("<html")) {
		t.Error("no report")
	}
	var list struct {
		Jobs []struct {
			ID    string `json:"job_id"`
			State string `json:"status"`
			Run   string `json:"result_ref"`
			Done  int    `json:"done"`
		} `json:"jobs"`
	}
	if err := json.Unmarshal([]byte(types(s, "", exitOK, "jobs", base, "--json")), &list); err != nil ||
		len(list.Jobs) != 1 || list.Jobs[0].State != "done" || list.Jobs[0].Done != 42 {
		t.Fatalf("jobs: %v %+v", err, list)
	}
	id := list.Jobs[0].ID
	if out := types(s, "", exitOK, "jobs", base, "--watch", id, "-o", "again.json"); !strings.Contains(out,
		"18 of 42") {
		t.Errorf("watched: %s", out)
	}
	if d := cmp.Diff(numbers(t, filepath.Join(dir, "remote.json")),
		numbers(t, filepath.Join(dir, "again.json"))); d != "" {
		t.Errorf("the second report has other numbers:\n%s", d)
	}
	writeFiles(t, dir,
		map[string]string{"gates.yaml": "gates: [{metric: pass_rate, at_least: 0.7}, {metric: tool_selection, at_least: 0.2}]\n"})
	types(s, "", exitOK, "report", list.Jobs[0].Run, "--remote", base, "-o", "third.json", "-o", "third.md")
	if d := cmp.Diff(readFile(t, dir, "again.json"), readFile(t, dir, "third.json")); d != "" {
		t.Errorf("report --remote: %s", d)
	}
	local := types(here, "", exitInconclusive, "gate", "last", "--gates", "gates.yaml")
	if stderr := types(s, "", exitInconclusive, "gate", list.Jobs[0].Run, "--remote", base, "--gates",
		"gates.yaml", "-o",
		"gate.xml"); verdictLines(stderr) == "" || verdictLines(stderr) != verdictLines(local) {
		t.Errorf("gates there and here differ: %s", cmp.Diff(local, stderr))
	}
	if stderr := types(s, "", exitInconclusive, "gate", list.Jobs[0].Run, "--remote", base, "--gates", "gates.yaml",
		"--baseline", list.Jobs[0].Run); !strings.Contains(stderr, "0.0 points") &&
		!strings.Contains(stderr, "change") {
		t.Errorf("with a baseline: %s", stderr)
	}
	types(s, "", exitUsage, "gate", list.Jobs[0].Run, "--remote", base) // the suite has none
	types(s, "", exitGateFailed, "run", abs, "-m", "offline/lexical", "--remote", base, "-q", "--require-pass")
	types(here, "", exitOK, "convert", abs, "--to", "toolsuite", "-o", "form.json")
	form := filepath.Join(dir, "form.json")
	types(s, "", exitOK, "run", form, "-m", "offline/lexical", "-r", "3", "--remote", base, "-o",
		"remote-form.json", "-q")
	types(here, "", exitOK, "run", form, "-m", "offline/lexical", "-r", "3", "-o", "here-form.json", "-q")
	if d := cmp.Diff(numbers(t, filepath.Join(dir, "here-form.json")),
		numbers(t, filepath.Join(dir, "remote-form.json"))); d != "" {
		t.Errorf("numbers of a suite in another form differ (-here +there):\n%s", d)
	}
	for _, tt := range []struct {
		says string
		args []string
	}{
		{"--guard", []string{"run", abs, "-m", "offline/lexical", "--remote", base, "--guard", "x.yaml"}},
		{"PROVIDER/MODEL", []string{"run", abs, "-m", "script:x.yaml", "--remote", base}},
		{"which suite", []string{"run", "-m", "offline/lexical", "--remote", base}},
		{"--remote URL", []string{"run", abs, "-m", "offline/lexical", "--experiment", "x"}},
		{"--labels", []string{"gate", "x", "--remote", base, "--labels", "l.jsonl"}},
		{"--slice", []string{"report", "x", "--remote", base, "--slice", "tag", "-o", "x.md"}},
		{"where to", []string{"report", "x", "--remote", base}},
		{"one of them", []string{"jobs", base, "--watch", id, "--cancel", id}},
	} {
		if out := types(s, "", exitUsage, tt.args...); !strings.Contains(out, tt.says) {
			t.Errorf("%v: %s", tt.args, out)
		}
	}
	if out := types(s, "", exitUsage, "jobs", base, "--watch", "job_none"); !strings.Contains(out, "not found") {
		t.Errorf("no such job: %s", out)
	}
	stop()
}

// verdictLines are the lines about gates in the output of gate.
func verdictLines(shown string) string {
	var out []string
	for _, line := range strings.Split(shown, "\n") {
		if strings.Contains(line, "pass_rate") || strings.Contains(line, "tool_selection") ||
			strings.Contains(line, "pass rate") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// numbers are those of a report that are no durations.
func numbers(t *testing.T, path string) map[string]panel.Metric {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var d report.Document
	if err := json.Unmarshal(b, &d); err != nil {
		t.Fatal(err)
	}
	out := map[string]panel.Metric{}
	for _, target := range d.Panels.Targets {
		for _, m := range target.Overall.Metrics {
			if m.Unit != panel.UnitMS {
				out[target.Name+" "+m.Name] = m
			}
		}
		for _, slice := range target.Slices {
			for _, m := range slice.Metrics {
				if m.Unit != panel.UnitMS {
					out[target.Name+" "+slice.Key+"="+slice.Value+" "+m.Name] = m
				}
			}
		}
	}
	if len(out) < 100 {
		t.Fatalf("%s has %d numbers", path, len(out))
	}
	return out
}
