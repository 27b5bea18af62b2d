// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package journeys

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// total is the sum over targets.
func (t *traveller) total() counts {
	var sum counts
	for _, c := range t.want {
		sum.Pass, sum.Fail, sum.Error = sum.Pass+c.Pass, sum.Fail+c.Fail, sum.Error+c.Error
	}
	return sum
}

// ended is the exit code of a run without a gate: 1 if no attempt could be judged.
func (t *traveller) ended() int {
	if t.total().judged() == 0 {
		return 1
	}
	return 0
}

// run walks from `callvet run` to everything that reads the run.
func (t *traveller) run() error {
	if err := t.write("trip.yaml", suiteFile(t.of.shape.cases)); err != nil {
		return err
	}
	start := []string{"trip.yaml", "--repeat", strconv.Itoa(t.of.repeats), "--retries", "0"}
	var names []string
	for i := range t.of.targets {
		if err := t.write(scriptName(i), scriptFile(t.of.shape, i, t.of.repeats)); err != nil {
			return err
		}
		start = append(start, "-m", targetName(i))
		names = append(names, targetName(i))
	}
	if len(t.of.shape.cases) == 0 {
		t.step(2, "run", start...)
		t.step(2, "show", "last") // nothing was stored
		t.step(0, "runs")
		start = append(start, "--no-lint")
	}
	first := t.step(t.ended(), "run", append(start, "--name", "first")...)
	t.figures("run", ".txt", first.out, names)
	t.hints(first)
	second := t.step(t.ended(), "run", append(start, "--name", "second", "--json", "-o", "r.html", "-o", "r.xml")...)
	t.figures("run --json", ".json", second.out, names)
	t.figures("run -o", ".html", t.file("r.html"), names)
	t.figures("run -o", ".xml", t.file("r.xml"), names)

	sum := t.total()
	all := sum.Fail+sum.Error == 0
	required := 3
	switch {
	case sum.judged() == 0:
		required = 1
	case all:
		required = 0
	}
	t.step(required, "run", append(start, "--name", "required", "--require-pass", "-q")...)
	if sum.judged() == 0 {
		t.step(1, "run", append(start, "--name", "bound", "--fail-under", "0.5", "-q")...)
	} else {
		t.step(anyVerdict, "run", append(start, "--name", "bound", "--fail-under", "0.5", "-q")...)
	}

	// A resumed run repeats only attempts that ended in an error.
	resumed := t.step(t.ended(), "run", "--resume", "second", "--retries", "0", "--json")
	t.figures("run --resume", ".json", resumed.out, names)
	t.figures("run --resume", ".txt", t.step(t.ended(), "run", "--resume", "second", "--retries", "0").out, names)
	t.reads("first", "second", names)
	if len(t.of.shape.cases) > 0 {
		t.covers("second")
	}
	if err := t.keeps(); err != nil {
		return err
	}
	t.failedFrom(sum, start)
	t.step(0, "runs", "--delete", "bound")
	t.step(2, "show", "bound")
	return nil
}

// failedFrom repeats the attempts that did not pass.
func (t *traveller) failedFrom(sum counts, start []string) {
	if sum.Fail+sum.Error == 0 {
		t.step(2, "run", append(start, "--failed-from", "second")...)
		return
	}
	t.step(t.ended(), "run", append(start, "--failed-from", "second", "--name", "again")...)
}

// reads calls every command that reads a stored run, in every format.
func (t *traveller) reads(baseline, run string, names []string) {
	shown := t.step(0, "show", run)
	t.figures("show", ".txt", shown.out, names)
	t.figures("show --json", ".json", t.step(0, "show", run, "--json").out, names)
	t.step(0, "show", run, "--all")
	for _, id := range t.of.shape.cases {
		t.step(0, "show", run, id)
		lines := strings.Count(t.step(0, "show", run, id, "--json").out, "\n")
		want := t.of.targets * t.of.repeats
		t.check(lines == want, t.of.name+": show "+id+" --json", "%d attempts, want %d", lines, want)
		t.step(0, "show", run, id, "-m", names[0])
	}
	t.step(2, "show", run, "no-such-case")

	summaries := map[string]string{}
	for _, ext := range t.formats("report") {
		file := "report" + ext
		t.step(0, "report", run, "-o", file)
		text := t.file(file)
		t.figures("report", ext, text, names)
		if s := sentences[ext]; s != nil {
			if m := s.FindStringSubmatch(text); m != nil {
				summaries[ext] = unescaped(ext, m[1])
			} else {
				t.check(false, t.of.name+": report -o "+file, "has no summary sentence")
			}
		}
		t.step(0, "report", run, "-o", "sliced"+ext, "--slice", "*", "--baseline", baseline)
		t.figures("report --slice --baseline", ext, t.file("sliced"+ext), names)
	}
	for ext, s := range summaries {
		t.check(s == summaries[".json"], t.of.name+": report summary", "%s has %q and JSON has %q", ext, s,
			summaries[".json"])
	}
	t.step(0, "trace export", run, "-o", "exported.jsonl")
	t.figures("trace export", ".jsonl", t.file("exported.jsonl"), names)
	varied := 2 // a script answers the same each time; a service does not, if several cases are judged several times
	if t.of.kind == ofSelect && t.of.repeats > 1 && len(t.of.shape.cases) > 1 && t.total().judged() > 0 {
		varied = 0
	}
	t.step(varied, "variance", run)
	t.step(0, "score", run)
	t.step(0, "score", run, "--json", "--slice", "tag")
	t.diffs(baseline, run)
	t.gates(run)
	t.listed(run)
}

// covers checks the coverage of the suite's cases, with the confusions of the run, and the changes
// since.
func (t *traveller) covers(run string) {
	var c struct{ Cases, Skipped int }
	at := t.of.name + ": case coverage --json"
	if err := json.Unmarshal([]byte(t.step(0, "case coverage", "trip.yaml", "--run", run, "--json").out),
		&c); err != nil {
		t.check(false, at, "%v", err)
		return
	}
	t.check(c.Cases+c.Skipped == len(t.of.shape.cases), at, "%d cases and %d skipped, want %d", c.Cases, c.Skipped,
		len(t.of.shape.cases))
	var old struct{ Stale bool }
	at = t.of.name + ": stale --json"
	if err := json.Unmarshal([]byte(t.step(0, "stale", run, "--json").out), &old); err != nil {
		t.check(false, at, "%v", err)
		return
	}
	t.check(!old.Stale, at, "a run just made is stale")
	t.step(0, "stale", "trip.yaml")
}

// keeps makes a regression case from the first failure of a run, once.
func (t *traveller) keeps() error {
	shown := t.step(0, "show", "second", "--json").out
	var run struct {
		Cells []struct{ Case, Verdict, Target string }
	}
	if err := json.Unmarshal([]byte(shown), &run); err != nil {
		return err
	}
	for _, c := range run.Cells {
		if c.Verdict != "fail" {
			continue
		}
		keep := []string{"second", c.Case, "--bug", "#1", "-o", "bugs.json"}
		made := t.step(0, "case from-failure", append(keep, "--json")...).out
		var result struct{ Attempts, Caught int }
		if err := json.Unmarshal([]byte(made), &result); err != nil {
			return err
		}
		t.check(result.Attempts > 0 && result.Caught == result.Attempts, t.of.name+": case from-failure",
			"%d of %d attempts fail the new case", result.Caught, result.Attempts)
		before := t.file("bugs.json")
		t.step(1, "case from-failure", keep...) // the prompt exists
		t.check(t.file("bugs.json") == before, t.of.name+": case from-failure", "the second time changed the file")
		t.step(0, "trace export", "second", "-o", "second.jsonl")
		made = t.step(0, "case from-trace", "second.jsonl", c.Case, "--of", c.Target, "--tier", "labeled",
			"--difficulty", "edge", "--accept", "__none__", "-o", "traced.json", "--json").out
		t.check(strings.Contains(made, `"attempts":1`), t.of.name+": case from-trace", "%s", made)
		break
	}
	return nil
}

// diffs compares two equal runs.
func (t *traveller) diffs(baseline, run string) {
	t.step(0, "diff", baseline, run)
	t.step(0, "diff", baseline, run, "--slice", "tag")
	var d struct {
		Targets []struct {
			Overall struct {
				Cases         int
				NewlyFailing  int `json:"newly_failing"`
				NewlyPassing  int `json:"newly_passing"`
				Fell, Rose    int
				BaselineRate  struct{ Point *float64 } `json:"baseline"`
				CandidateRate struct{ Point *float64 } `json:"candidate"`
			}
		}
	}
	at := t.of.name + ": diff --json"
	if err := json.Unmarshal([]byte(t.step(0, "diff", baseline, run, "--json").out), &d); err != nil {
		t.check(false, at, "%v", err)
		return
	}
	t.check(len(d.Targets) == t.of.targets, at, "%d targets, want %d", len(d.Targets), t.of.targets)
	for i := range d.Targets {
		o := &d.Targets[i].Overall
		t.check(o.NewlyFailing+o.NewlyPassing+o.Fell+o.Rose == 0, at,
			"target %d changed, but both runs did the same: %+v", i, *o)
		if i >= len(t.want) || t.want[i].judged() == 0 {
			continue
		}
		rate := float64(t.want[i].Pass) / float64(t.want[i].judged())
		t.check(o.BaselineRate.Point != nil && near(*o.BaselineRate.Point, rate) && o.CandidateRate.Point != nil &&
			near(*o.CandidateRate.Point, rate), at, "target %d: rates %v and %v, want %v", i,
			show(o.BaselineRate.Point), show(o.CandidateRate.Point), rate)
	}
}

func near(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }

func show(p *float64) string {
	if p == nil {
		return "none"
	}
	return strconv.FormatFloat(*p, 'g', -1, 64)
}

// gateFile has a gate that small samples can decide.
const gateFile = "gates:\n  - metric: pass_rate\n    at_least: 0.05\n    min_n: 1\n"

// gates checks the run with a gate: the exit code agrees with the verdict in every format.
func (t *traveller) gates(run string) {
	if err := t.write("gates.yaml", gateFile); err != nil {
		t.fail(t.of.name, "%v", err)
		return
	}
	r := t.step(anyVerdict, "gate", run, "--gates", "gates.yaml", "--json", "-o", "gates.md", "-o", "gates.xml", "-o",
		"gates.json", "-o", "gates.txt")
	words := map[int]string{0: "pass", 3: "fail", 4: "inconclusive"}
	at := t.of.name + ": gate"
	t.check(gateVerdict(r.out) == words[r.exit], at, "exit %d and JSON has %q", r.exit, gateVerdict(r.out))
	t.check(gateVerdict(t.file("gates.json")) == words[r.exit], at, "exit %d and the JSON file has %q", r.exit,
		gateVerdict(t.file("gates.json")))
	for _, f := range []string{"gates.md", "gates.txt"} {
		t.check(strings.Contains(strings.ToLower(t.file(f)), words[r.exit]), at, "exit %d and %s does not contain %q",
			r.exit, f, words[r.exit])
	}
	t.check(strings.Contains(t.file("gates.xml"), "<testsuites"), at, "gates.xml is no JUnit file")
	again := t.step(r.exit, "gate", run, "--gates", "gates.yaml")
	t.check(strings.Contains(strings.ToLower(again.out), words[r.exit]), at, "exit %d and the terminal does not show %q",
		r.exit, words[r.exit])
	if t.total().judged() == 0 {
		t.check(r.exit == 4, at, "exit %d, but nothing was judged", r.exit)
	}
}

func gateVerdict(text string) string {
	var v struct{ Verdict string }
	_ = json.Unmarshal([]byte(text), &v) // a text that is not JSON has no verdict, which fails the comparison
	return strings.ToLower(v.Verdict)
}

// listed checks the run in the list of runs.
func (t *traveller) listed(run string) {
	t.step(0, "runs")
	at := t.of.name + ": runs --json"
	var list struct {
		Runs []struct {
			Name  string       `json:"name"`
			Cells jsonVerdicts `json:"verdicts"`
			Pass  struct{ Point *float64 }
		} `json:"runs"`
	}
	if err := json.Unmarshal([]byte(t.step(0, "runs", "--json").out), &list); err != nil {
		t.check(false, at, "%v", err)
		return
	}
	for _, r := range list.Runs {
		if r.Name == run {
			got := counts{r.Cells.Pass, r.Cells.Fail, r.Cells.Error}
			t.check(got == t.total(), at, "counts %+v, want %+v", got, t.total())
			if n := t.total().judged(); n > 0 {
				rate := float64(t.total().Pass) / float64(n)
				t.check(r.Pass.Point != nil && near(*r.Pass.Point, rate), at, "pass rate %s, want %v",
					show(r.Pass.Point), rate)
			}
			return
		}
	}
	t.check(false, at, "run %s is not listed", run)
}

// figures compares the verdicts in a format with the right verdicts, by target.
func (t *traveller) figures(what, ext, text string, names []string) {
	at := t.of.name + ": " + what + " " + ext
	read := readers[ext]
	if read == nil {
		t.check(false, at, "this format has no reader in the journeys")
		return
	}
	got, err := read(text, names)
	if err != nil {
		t.check(false, at, "%v: %s", err, first(text, 200))
		return
	}
	for i, name := range names {
		c, ok := got[name]
		if c.Error < 0 { // the format has no column of errors, or the terminal no space for it
			c.Error = t.want[i].Error
		}
		if ext == ".html" && len(names) > 1 {
			c.Error = t.want[i].Error // the page counts errors over all targets
		}
		t.check(ok && c == t.want[i], at, "%s counts %+v (there: %v), want %+v", name, c, ok, t.want[i])
	}
}

func (t *traveller) file(name string) string {
	b, err := os.ReadFile(filepath.Join(t.dir, name))
	if err != nil {
		t.check(false, t.of.name, "%v", err)
	}
	return string(b)
}

var hint = regexp.MustCompile(`(?m)^  (callvet .*)$`)

// hints runs the commands that a run proposes, as a user would paste them.
func (t *traveller) hints(r result) {
	out := strings.Replace(r.out, "\nNext: ", "\nNext\n  ", 1) // a run that passed proposes one command
	_, next, ok := strings.Cut(out, "\nNext\n")
	t.check(ok, t.of.name+": "+r.step, "proposes nothing to do next")
	for _, m := range hint.FindAllStringSubmatch(next, -1) {
		line := strings.ReplaceAll(m[1], "OTHER-RUN", "first")
		cmd := exec.CommandContext(t.ctx, "sh", "-c", line)
		exit := 0
		if strings.HasPrefix(line, "callvet run ") {
			exit = t.ended()
		}
		t.process(exit, line, cmd)
	}
}

// selects walks from `callvet select` over a service to everything that reads the run.
func (t *traveller) selects() error {
	service, stop := serve(t.of.shape)
	defer stop()
	if err := t.write("questions.json", questionFile(t.of.shape.cases)); err != nil {
		return err
	}
	if err := t.write("catalogue.json", catalogue); err != nil {
		return err
	}
	start := []string{"questions.json", "--via", service, "--repeat", strconv.Itoa(t.of.repeats), "--retries", "0"}
	if len(t.of.shape.cases) == 0 {
		t.step(2, "select", start...)
		t.step(2, "show", "last")
		return nil
	}
	first := t.step(t.ended(), "select", append(start, "--name", "first")...)
	t.hints(first)
	second := t.step(t.ended(), "select", append(start, "--name", "second", "--json")...)
	got, err := fromJSON(second.out, nil)
	if err != nil {
		return fmt.Errorf("read the run: %w", err)
	}
	var names []string
	for name := range got {
		names = append(names, name)
	}
	t.check(len(names) == 1, t.of.name, "%d targets, want 1", len(names))
	t.figures("select --json", ".json", second.out, names)
	t.figures("run --resume", ".json",
		t.step(t.ended(), "run", "--resume", "second", "--retries", "0", "--json").out, names)
	t.reads("first", "second", names)

	over := []string{"--tools", "catalogue.json"}
	t.step(0, "select", append([]string{"questions.json", "--name", "own"}, over...)...)
	t.step(0, "show", "own")
	if err := t.write("production.jsonl",
		`{"query": "How is the weather in Rome?", "tools": ["get_weather"]}`+"\n"); err != nil {
		return err
	}
	t.step(0, "select decisions", append([]string{"production.jsonl"}, over...)...)
	t.step(anyVerdict, "select query", append([]string{"How is the weather in Rome?"}, over...)...)
	t.step(0, "select sweep", append([]string{"questions.json", "--weights", "old=preset:bigtool"}, over...)...)
	// too few questions to hold some out
	t.step(2, "select tune", append([]string{"questions.json", "--rounds", "1"}, over...)...)
	t.step(0, "tools lint", "catalogue.json")
	t.step(0, "tools confusable", "catalogue.json")
	if err := t.write("edits.yaml",
		"edits:\n  - tool: get_weather\n    description: How warm and how wet it is in a city.\n"); err != nil {
		return err
	}
	t.step(0, "tools whatif", "catalogue.json", "--suite", "questions.json", "--edits", "edits.yaml")
	return nil
}

// traces walks over a trace file.
func (t *traveller) traces() error {
	if err := t.write("traces.jsonl", traceFile(t.of.shape, t.of.targets, t.of.repeats)); err != nil {
		return err
	}
	if err := t.write("gates.yaml", gateFile); err != nil {
		return err
	}
	if len(t.of.shape.cases) == 0 {
		t.step(2, "score", "traces.jsonl")
		t.step(2, "gate", "traces.jsonl", "--gates", "gates.yaml")
		t.step(2, "trace import", "traces.jsonl")
		t.step(2, "label next", "traces.jsonl", "-o", "todo.jsonl")
		t.step(2, "trace check", "traces.jsonl")
		t.step(2, "diff", "traces.jsonl", "traces.jsonl")
		return nil
	}
	t.step(0, "score", "traces.jsonl")
	t.passRate(t.step(0, "score", "traces.jsonl", "--json").out)
	for _, ext := range t.formats("score") {
		t.step(0, "score", "traces.jsonl", "-o", "sheet"+ext)
		t.check(t.file("sheet"+ext) != "", t.of.name+": score -o sheet"+ext, "is empty")
	}
	var sheet struct{ Panels json.RawMessage }
	if err := json.Unmarshal([]byte(t.file("sheet.json")), &sheet); err != nil {
		return fmt.Errorf("read the JSON report: %w", err)
	}
	t.passRate(string(sheet.Panels))
	t.gates("traces.jsonl")
	if t.total().judged() == 0 {
		t.step(2, "diff", "traces.jsonl", "traces.jsonl") // there is no verdict to compare
	} else {
		t.diffs("traces.jsonl", "traces.jsonl")
	}
	t.step(0, "trace import", "traces.jsonl", "-o", "imported.jsonl")
	t.passRate(t.step(0, "score", "imported.jsonl", "--json").out)
	checked := 0
	if t.total().judged() == 0 {
		checked = 2 // no attempt records what its task needs
	}
	t.step(checked, "trace check", "traces.jsonl")
	t.labels()
	t.judges()
	planned := 2 // a pilot has one target, and at least two tasks with a known cost
	if t.of.targets == 1 && len(t.of.shape.cases) > 1 && t.total().judged() > 0 {
		planned = 0
	}
	t.step(planned, "plan", "--metric", "cost_per_attempt", "--bound", "0.05", "--from", "traces.jsonl")
	return nil
}

// labels draws tasks, fills the answers in and calibrates the judge with them.
func (t *traveller) labels() {
	t.step(0, "label next", "traces.jsonl", "-o", "todo.jsonl", "--n", "10")
	if t.total().judged() == 0 {
		return // nothing is left to label
	}
	filled := strings.ReplaceAll(t.file("todo.jsonl"), `"pass":null`, `"pass":true`)
	if err := t.write("filled.jsonl", filled); err != nil {
		t.fail(t.of.name, "%v", err)
		return
	}
	t.step(0, "label gold", "traces.jsonl", "-o", "gold.yaml", "--n", "5")
	t.step(2, "label apply", "gold.yaml", "traces.jsonl", "-o", "none.jsonl") // all of it is blank
	if err := t.write("gold.yaml", strings.NewReplacer("needed:\n", "needed: false\n", "budget:\n", "budget: any\n",
		"safety_rules:\n", "safety_rules: []\n", "checked: false",
		"checked: true").Replace(t.file("gold.yaml"))); err != nil {
		t.fail(t.of.name, "%v", err)
		return
	}
	t.step(0, "label apply", "gold.yaml", "traces.jsonl", "-o", "labelled.jsonl")
	t.step(anyVerdict, "score", "labelled.jsonl")
	t.step(0, "label import", "filled.jsonl", "--labels", "labels.jsonl")
	t.step(0, "label stamp", "traces.jsonl", "labels.jsonl", "--by", "ana", "-o", "stamped.jsonl")
	t.step(0, "label export", "labels.jsonl")
	t.step(anyVerdict, "calibrate", "labels.jsonl", "--judge", "panel")
	t.step(anyVerdict, "calibrate", "labels.jsonl", "--judge", "panel", "--run", "traces.jsonl")
	t.step(anyVerdict, "calibrate", "labels.jsonl", "--judge", "panel", "--run", "traces.jsonl", "--json")
}

// judges runs a judge over the tasks, and adds its verdicts to the labels.
func (t *traveller) judges() {
	const script = "rules:\n  - case: '*'\n    text: '{\"pass\": true, \"fail_reasons\": [], \"unnecessary_calls\": [], \"notes\": \"-\"}'\n"
	if err := t.write("judge.yaml", script); err != nil {
		t.fail(t.of.name, "%v", err)
		return
	}
	asked := 0
	if t.total().judged() == 0 {
		asked = 2 // there is nothing to judge
	}
	t.step(asked, "judge run", "traces.jsonl", "--judge", "task", "-m", "script:judge.yaml", "-o", "labels.jsonl")
	t.step(asked, "judge show", "traces.jsonl")
	audited := 4 // three pairs prove nothing
	if asked != 0 {
		audited = asked
	}
	t.step(audited, "judge audit", "traces.jsonl", "--judge", "task", "-m", "script:judge.yaml", "-n", "3")
	t.step(0, "judge list")
	if asked == 0 {
		t.step(anyVerdict, "calibrate", "labels.jsonl", "--judge", "task", "--run", "traces.jsonl")
	}
}

// passRate compares the pass rate of scored traces with the right one.
func (t *traveller) passRate(text string) {
	at := t.of.name + ": score --json"
	var s struct {
		Targets []struct {
			Name    string
			Overall struct {
				Metrics []struct {
					Name     string
					Interval struct{ Point *float64 }
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.check(false, at, "%v: %s", err, first(text, 200))
		return
	}
	t.check(len(s.Targets) == t.of.targets, at, "%d targets, want %d", len(s.Targets), t.of.targets)
	for i := range s.Targets {
		if i >= len(t.want) || t.want[i].judged() == 0 {
			continue
		}
		rate, found := float64(t.want[i].Pass)/float64(t.want[i].judged()), false
		for _, m := range s.Targets[i].Overall.Metrics {
			if m.Name == "pass_rate" {
				found = true
				t.check(m.Interval.Point != nil && near(*m.Interval.Point, rate), at,
					"target %d: pass rate %s, want %v", i, show(m.Interval.Point), rate)
			}
		}
		t.check(found, at, "target %d has no pass rate", i)
	}
}

// newcomer does the steps of a user's first day: write a suite, look at it, run it, and follow the
// proposals.
func (t *traveller) newcomer() error {
	t.step(0, "version")
	t.step(0, "targets")
	init := t.step(0, "init")
	for _, m := range hint.FindAllStringSubmatch(init.out+init.err, -1) {
		if !strings.Contains(m[1], "openai/") { // needs a key
			t.process(0, m[1], exec.CommandContext(t.ctx, "sh", "-c", m[1]))
		}
	}
	t.step(0, "lint", "suite.yaml")
	t.step(0, "convert", "suite.yaml", "-o", "suite.json")
	t.step(0, "lint", "suite.json")
	t.step(0, "schema", "suite")
	r := t.step(0, "run", "suite.yaml", "-m", "offline/lexical")
	t.hints(r)
	t.step(0, "gates init")
	t.step(anyVerdict, "gate", "last", "--gates", "gates.yaml")
	return nil
}

// unescaped is a text of a report without the backslashes of Markdown.
func unescaped(ext, text string) string {
	if ext != ".md" {
		return text
	}
	return backslashed.ReplaceAllString(text, "$1")
}

var backslashed = regexp.MustCompile(`\\([[:punct:]])`)
