// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package onepath answers one question: does callvet report the same numbers of a run in six ways?
// The ways are its report, its score, the score of its exported traces with and without verdicts,
// its gates, and its comparison with itself and with its traces.
package onepath

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/callvet/callvet/internal/sys"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/verify/proof"
)

// Runs is how many runs are made.
const Runs = 200

// Verify makes runs with the binary in its own folder and compares the reports on each.
func Verify(ctx context.Context, c *proof.Check, binary string) (err error) {
	c.Due("runs", Runs, "this command makes them")
	if binary, err = filepath.Abs(binary); err != nil { // each run has a separate folder
		return fmt.Errorf("verify one path: %w", err)
	}
	dir, err := os.MkdirTemp("", "one-path")
	if err != nil {
		return fmt.Errorf("verify one path: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	failed := make([]error, Runs)
	if err := sys.InParallel(runtime.GOMAXPROCS(0), Runs, func(i int) error {
		w := world{binary: binary, dir: filepath.Join(dir, fmt.Sprint(i))}
		failed[i] = w.run(ctx, rand.New(rand.NewPCG(uint64(i), 14)))
		return ctx.Err()
	}); err != nil {
		return err
	}
	for i, err := range failed {
		c.Compare("runs", fmt.Sprintf("run %d", i), err == nil, "%v", err)
	}
	return nil
}

// world is a run with its files.
type world struct{ binary, dir string }

func (w *world) run(ctx context.Context, r *rand.Rand) error {
	if err := os.MkdirAll(w.dir, 0o700); err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	shape := shapeOf(r)
	for name, text := range shape.files() {
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	args := []string{
		"run", "suite.json", "--name", "r", "-q", "--no-lint", "--repeat", fmt.Sprint(shape.repeats), "-o",
		"report.json", "-o", "report.jsonl",
	}
	for i := range shape.targets {
		args = append(args, "-m", "script:"+scriptName(i))
	}
	if _, err := w.callvet(ctx, args...); err != nil && !strings.Contains(err.Error(), "nothing was judged") {
		return err
	}
	return w.compare(ctx)
}

// compare compares the six reports. A metric that is missing in one of them is a difference.
func (w *world) compare(ctx context.Context) error {
	var report struct{ Panels panel.Panels }
	if err := w.read("report.json", &report); err != nil {
		return err
	}
	want := figuresOf(&report.Panels)
	if len(want) == 0 {
		return errors.New("the report has no metric")
	}
	if _, err := w.callvet(ctx, "trace", "export", "r", "-o", "traces.jsonl"); err != nil {
		return err
	}
	if err := w.bare("traces.jsonl", "bare.jsonl"); err != nil {
		return err
	}
	for _, reported := range []struct {
		how  string
		args []string
	}{
		{"score of the run", []string{"score", "r", "--json"}},
		{"score of its traces", []string{"score", "traces.jsonl", "--suite", "suite.json", "--json"}},
		{
			"score of its traces without verdicts",
			[]string{"score", "bare.jsonl", "--suite", "suite.json", "--json"},
		},
		{"score of its report's traces", []string{"score", "report.jsonl", "--suite", "suite.json", "--json"}},
	} {
		out, err := w.callvet(ctx, reported.args...)
		if err != nil {
			return err
		}
		var p panel.Panels
		if err := json.Unmarshal(out, &p); err != nil {
			return fmt.Errorf("read %s: %w", reported.how, err)
		}
		if err := same(reported.how, want, figuresOf(&p)); err != nil {
			return err
		}
	}
	return errors.Join(w.gates(ctx, &report.Panels), w.diffs(ctx, &report.Panels))
}

// bare copies traces without labels, slices, verdicts and scores: a suite must add them again.
func (w *world) bare(from, to string) error {
	b, err := os.ReadFile(filepath.Join(w.dir, from))
	if err != nil {
		return fmt.Errorf("read %s: %w", from, err)
	}
	var out bytes.Buffer
	for line := range bytes.Lines(b) {
		var m map[string]json.RawMessage
		if err := json.Unmarshal(line, &m); err != nil {
			return fmt.Errorf("read %s: %w", from, err)
		}
		for _, name := range []string{"gold", "scored", "pass", "tags", "fields"} {
			delete(m, name)
		}
		text, err := json.Marshal(m)
		if err != nil {
			return fmt.Errorf("write %s: %w", to, err)
		}
		out.Write(append(text, '\n'))
	}
	if err := os.WriteFile(filepath.Join(w.dir, to), out.Bytes(), 0o600); err != nil {
		return fmt.Errorf("write %s: %w", to, err)
	}
	return nil
}

// gates checks a bound on each metric of the targets; the verdicts have its interval.
func (w *world) gates(ctx context.Context, p *panel.Panels) error {
	var rules strings.Builder
	rules.WriteString("gates:\n")
	want := map[string]string{}
	for i := range p.Targets {
		t := &p.Targets[i]
		for k := range t.Overall.Metrics {
			m := &t.Overall.Metrics[k]
			if m.Unit != panel.UnitRate || strings.ContainsAny(m.Name, "@^") || !m.Interval.Defined() {
				continue
			}
			fmt.Fprintf(&rules, "  - {metric: %s, target: %q, at_least: 0.5}\n", m.Name, t.Name)
			want[t.Name+" "+m.Name] = number(m.Interval.Point) + " " + number(m.Interval.Lower) + " " +
				number(m.Interval.Upper)
		}
	}
	if len(want) == 0 {
		return nil
	}
	if err := os.WriteFile(filepath.Join(w.dir, "gates.yaml"), []byte(rules.String()), 0o600); err != nil {
		return fmt.Errorf("write gates: %w", err)
	}
	for _, of := range [][]string{{"r"}, {"traces.jsonl", "--suite", "suite.json"}} {
		out, err := w.callvet(ctx,
			slices.Concat([]string{"gate"}, of, []string{"--gates", "gates.yaml", "--policy", "lenient", "--json"})...)
		if err != nil {
			return err
		}
		var reported struct {
			Verdicts []struct {
				Target   string
				Gate     struct{ Metric string }
				Interval *struct{ Point, Lower, Upper *float64 }
			}
		}
		if err := json.Unmarshal(out, &reported); err != nil {
			return fmt.Errorf("read the verdicts of gate %s: %w", of[0], err)
		}
		got := map[string]string{}
		for _, v := range reported.Verdicts {
			if iv := v.Interval; iv != nil {
				got[v.Target+" "+v.Gate.Metric] = shown(iv.Point) + " " + shown(iv.Lower) + " " + shown(iv.Upper)
			}
		}
		if err := same("gate "+of[0], want, got); err != nil {
			return err
		}
	}
	return nil
}

// diffs compares the run with itself and with its traces: the pass rates are equal on both sides.
func (w *world) diffs(ctx context.Context, p *panel.Panels) error {
	judged := false
	for i := range p.Targets {
		v := p.Targets[i].Overall.Verdicts
		judged = judged || v.Pass+v.Fail > 0
	}
	for _, of := range [][]string{{"r", "r"}, {"r", "traces.jsonl"}} {
		out, err := w.callvet(ctx, "diff", of[0], of[1], "--json")
		if err != nil && !judged {
			continue // there is nothing to compare
		}
		if err != nil {
			return err
		}
		var d panel.Comparison
		if err := json.Unmarshal(out, &d); err != nil {
			return fmt.Errorf("read the comparison: %w", err)
		}
		for i := range d.Targets {
			t := &d.Targets[i]
			at := slices.IndexFunc(p.Targets, func(o panel.TargetPanel) bool { return o.Name == t.Candidate })
			if at < 0 {
				return fmt.Errorf("diff %s: target %q is not in the report", strings.Join(of, " "), t.Candidate)
			}
			o := t.Overall
			if o.NewlyFailing+o.NewlyPassing != 0 || number(o.Baseline.Point) != number(o.Candidate.Point) {
				return fmt.Errorf("diff %s: %s changed against itself: %v against %v", strings.Join(of, " "),
					t.Candidate, o.Baseline.Point, o.Candidate.Point)
			}
		}
		if len(d.Changed)+len(d.OnlyBaseline)+len(d.OnlyCandidate) > 0 {
			return fmt.Errorf("diff %s: cases differ: %q %q %q", strings.Join(of, " "), d.Changed, d.OnlyBaseline,
				d.OnlyCandidate)
		}
	}
	return nil
}

// figuresOf returns the numbers of panels in one spelling: every digit counts.
func figuresOf(p *panel.Panels) map[string]string {
	out := map[string]string{}
	for i := range p.Targets {
		t := &p.Targets[i]
		for _, s := range append([]panel.Slice{t.Overall}, t.Slices...) {
			in := t.Name + " " + s.Key + "=" + s.Value + " "
			counts, err := json.Marshal(
				[]any{s.Cases, s.Cells, s.Verdicts, s.Outcomes, s.Classes, s.Usage, s.NotEvaluated})
			if err != nil {
				counts = []byte(err.Error())
			}
			out[in+"counts"] = string(counts)
			for _, m := range s.Metrics {
				m.Warnings = nil
				b, err := json.Marshal(m)
				if err != nil {
					b = []byte(err.Error())
				}
				out[in+m.Name] = string(b)
			}
		}
		for _, list := range [][]panel.Confused{t.Confusion, t.Routes} {
			for _, c := range list {
				out[t.Name+" "+c.Expected+" taken for "+c.Called] = fmt.Sprint(c.N)
			}
		}
	}
	for _, f := range p.Findings {
		out["finding "+f.Code] = fmt.Sprint(f.Count, f.Of, number(f.Share))
	}
	return out
}

func same(how string, want, got map[string]string) error {
	for k, v := range want {
		if g, ok := got[k]; !ok {
			return fmt.Errorf("%s lacks %s", how, k)
		} else if g != v {
			return fmt.Errorf("%s has a different %s: %s, the report %s", how, k, g, v)
		}
	}
	for k := range got {
		if _, ok := want[k]; !ok {
			return fmt.Errorf("%s has %s, which the report lacks", how, k)
		}
	}
	return nil
}

func number(f float64) string {
	b, err := json.Marshal(f)
	if err != nil {
		return "none"
	}
	return string(b)
}

func shown(p *float64) string {
	if p == nil {
		return "none"
	}
	return number(*p)
}

func (w *world) read(name string, into any) error {
	b, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return nil
}

// callvet runs the binary. Verdicts of gates are no errors.
func (w *world) callvet(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, w.binary, append(args, "--db", "runs.db")...)
	cmd.Dir = w.dir
	cmd.Env = append(os.Environ(), "CALLVET_DB=", "GITHUB_ACTIONS=")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && (exit.ExitCode() == 3 || exit.ExitCode() == 4) {
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("callvet %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(errs.String()))
	}
	return out.Bytes(), nil
}
