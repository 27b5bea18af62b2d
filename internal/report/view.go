// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/gates"
)

// View is what the faces show of one run.
type View struct {
	ID      string
	Created time.Time
	// Status is how the run ended: "done", "interrupted", "budget"; empty means done.
	Status string
	// Spent is what the run has consumed over all its sessions.
	Spent callvet.Spent
	Suite SuiteMeta
	// Tools are the tools of the suite, for their latency budgets and rate limits.
	Tools   []callvet.Tool
	Targets []callvet.Target
	Panels  *panel.Panels
	// Manifest is the data to repeat the run: hashes, versions, seeds.
	Manifest []Field
	// Cells returns the attempts with one of the verdicts (none: all), in a stable
	// order. It may be called several times and a stream may be left early; rows
	// stay valid. Nil means that there are none.
	Cells func(verdicts ...callvet.Verdict) iter.Seq2[Row, error]
	// Verdicts returns all attempts case by case, with the id of the case, the target, the
	// outcome and the verdict, and nothing else. Nil means that Cells is used.
	Verdicts func() iter.Seq2[Row, error]
	// LeftOut counts attempts that were not made on purpose: the gates were decided.
	LeftOut int
	// Gates, when set, are the gates that the run was made for.
	Gates *gates.Report
	// Diff, when set, compares the run with a baseline.
	Diff *panel.Comparison
	// Selection, when set, contains the decisions of routers and retrievers.
	Selection *panel.RoutingSection
	// JudgeReports are the reports of judges on whole targets.
	JudgeReports []JudgeReport
	// Models are the models that retrievers used for vectors and rankings; nil without any, and
	// for stored runs.
	Models []callvet.ModelUse
	// All is the command that explains every attempt that did not pass.
	All string
	// Next are the most useful commands now, most useful first.
	Next []string
	// Problem names the parts of the run that cannot be read; "" if there are none.
	Problem string
}

// JudgeReport is the report of a judge on all attempts of a target. The judge wrote its texts.
type JudgeReport struct {
	Judge  string `json:"judge"`
	Target string `json:"target"`
	*callvet.JudgeReport
}

// reportPart is a list of a judge's report, as far as a face shows it.
type reportPart struct {
	Title string
	Texts []string
	// More counts the texts that are left out; "" where none is.
	More string
}

// parts are the lists of a report: at most n lists, n texts of each, and size bytes in a text.
func (r *JudgeReport) parts(n, size int) []reportPart {
	var out []reportPart
	all := r.Lists()
	for _, l := range all[:min(len(all), n)] {
		p := reportPart{Title: plain.Limited(plain.Line(l.Title), size), More: moreOf(len(l.Texts)-n, "text", "texts")}
		for _, text := range l.Texts[:min(len(l.Texts), n)] {
			p.Texts = append(p.Texts, plain.Limited(plain.Line(text), size))
		}
		out = append(out, p)
	}
	if left := moreOf(len(all)-n, "list", "lists"); left != "" {
		out = append(out, reportPart{Title: left})
	}
	return out
}

// SuiteMeta names the suite a run used.
type SuiteMeta struct {
	Name        string `json:"name"`
	Version     string `json:"version,omitempty"`
	Description string `json:"description,omitempty"`
	Hash        string `json:"hash,omitempty"`
	Cases       int    `json:"cases"`
	Tools       int    `json:"tools"`
	// Scoring are its settings, for the labels of calls.
	Scoring callvet.Scoring `json:"-"`
}

// Field is a name with its value.
type Field struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Row is one attempt with its case. Both pointers are set.
type Row struct {
	Case *callvet.Case
	Cell *callvet.Cell
	// Asks is the identity of the complete case; "" where it is not known.
	Asks string
}

// Face writes a run in one format.
type Face func(w io.Writer, v *View) error

// ByPath chooses the face by a file's extension: .html, .md, .xml (JUnit),
// .json, .jsonl, .csv, .txt. Others are ErrInvalid with a hint.
func ByPath(path string) (Face, error) {
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".html", ".htm":
		return HTML, nil
	case ".md", ".markdown":
		return Markdown, nil
	case ".xml", ".junit":
		return JUnit, nil
	case ".json":
		return JSON, nil
	case ".jsonl", ".ndjson":
		return JSONL, nil
	case ".csv":
		return CSV, nil
	case ".txt", ".text":
		return func(w io.Writer, v *View) error {
			return Terminal(w, v, TerminalOptions{Verbose: true, Measures: true, All: true})
		}, nil
	default:
		return nil, &callvet.Hinted{
			Err:  fmt.Errorf("choose report format for %q: unknown extension %q: %w", path, ext, callvet.ErrInvalid),
			Hint: "use .html, .pdf, .md, .xml, .json, .jsonl, .csv or .txt",
		}
	}
}

func (v *View) cells(verdicts ...callvet.Verdict) iter.Seq2[Row, error] {
	if v.Cells == nil {
		return func(func(Row, error) bool) {}
	}
	return v.Cells(verdicts...)
}

// verdicts returns all attempts. Only the parts that View.Verdicts names may be read.
func (v *View) verdicts() iter.Seq2[Row, error] {
	if v.Verdicts == nil {
		return v.cells()
	}
	return v.Verdicts()
}

// counting is cells without those of a floor.
func (v *View) counting(verdicts ...callvet.Verdict) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for r, err := range v.cells(verdicts...) {
			if (err != nil || v.counts(r.Cell.Target)) && !yield(r, err) {
				return
			}
		}
	}
}

func (v *View) targetName(i int) string {
	if i >= 0 && i < len(v.Targets) {
		return v.Targets[i].Name
	}
	return fmt.Sprintf("target %d", i+1)
}

func (v *View) repeats() int {
	if v.Panels == nil {
		return 1
	}
	return max(1, v.Panels.Repeats)
}

// RepeatText is the number of attempts at each case, "" for one.
func (v *View) RepeatText() string {
	n := v.repeats()
	if n < 2 {
		return ""
	}
	text := plain.Count(n, "repeat", "repeats")
	if v.Panels.Uneven {
		return "up to " + text
	}
	return text
}

func (v *View) panels() []panel.TargetPanel {
	if v.Panels == nil {
		return nil
	}
	return v.Panels.Targets
}

// counts reports whether the attempts of a target count for the verdict: a floor, which is
// expected to fail, counts only where there is no other target.
func (v *View) counts(target int) bool {
	if target < 0 || target >= len(v.Targets) || !v.Targets[target].Floor {
		return true
	}
	for i := range v.Targets {
		if !v.Targets[i].Floor {
			return false
		}
	}
	return true
}

// Floors are the targets that do not count for the verdict.
func (v *View) Floors() []string {
	var out []string
	for i := range v.Targets {
		if !v.counts(i) {
			out = append(out, v.Targets[i].Name)
		}
	}
	return out
}

// State is "pass", "fail" or "warn".
func (v *View) State() string {
	switch t, _ := v.totals(); {
	case t.Fail > 0:
		return "fail"
	case t.Error > 0 || t.NotRun > 0 || t.Pass == 0 || v.unevaluated().Assertions > 0:
		return "warn"
	}
	return "pass"
}

// unevaluated returns the assertions that were not evaluated, over the targets that count.
func (v *View) unevaluated() (u panel.Unevaluated) {
	for _, p := range v.panels() {
		if v.counts(p.Target) {
			u.Assertions += p.Overall.NotEvaluated.Assertions
			u.Passed += p.Overall.NotEvaluated.Passed
			u.Unjudged += p.Overall.NotEvaluated.Unjudged
		}
	}
	return u
}

// totals over the targets that count.
func (v *View) totals() (t panel.Verdicts, classes []panel.Count) {
	byClass := map[string]int{}
	for _, p := range v.panels() {
		if !v.counts(p.Target) {
			continue
		}
		t.Add(p.Overall.Verdicts)
		for _, c := range p.Overall.Classes {
			byClass[c.Name] += c.N
		}
	}
	for _, c := range panel.Classes() {
		if n := byClass[string(c)]; n > 0 {
			classes = append(classes, panel.Count{Name: string(c), N: n})
		}
	}
	return t, classes
}

// counted names the targets that a sentence counts, if it does not count all.
func (v *View) counted() string {
	floors := v.Floors()
	if len(floors) == 0 {
		return ""
	}
	if n := len(v.Targets) - len(floors); n > 1 {
		return fmt.Sprintf(" of %d targets", n)
	}
	for i := range v.Targets {
		if v.counts(i) {
			return " of " + plain.Line(v.Targets[i].Name)
		}
	}
	return ""
}

// uncounted returns the results of the targets that do not count.
func (v *View) uncounted() string {
	s := ""
	for _, p := range v.panels() {
		if !v.counts(p.Target) {
			d := p.Overall.Verdicts
			s += fmt.Sprintf(" The baseline %s passed %s of %s.", plain.Line(p.Name), plain.Thousands(d.Pass),
				plain.Thousands(d.Pass+d.Fail))
		}
	}
	return s
}

// Sentence returns the outcome of the run in one line. If there are other targets, the attempts of
// a baseline target do not count, and are reported separately.
func (v *View) Sentence() string {
	t, _ := v.totals()
	open := v.unevaluated()
	ran := t.Pass + t.Fail
	var s string
	switch {
	case ran == 0 && t.Error > 0:
		s = fmt.Sprintf("Nothing could be judged: %s ended in an error%s.", every(t.Error, "attempt"),
			v.reasons().list(callvet.OutcomeError))
	case ran == 0:
		s = "Nothing was judged."
	case t.Fail == 0 && open.Assertions == 0:
		s = every(ran, "judged attempt") + v.counted() + " passed."
		s = strings.ToUpper(s[:1]) + s[1:]
	case t.Fail == 0:
		s = fmt.Sprintf("%s%s passed.", plain.Count(ran, "judged attempt", "judged attempts"), v.counted())
	default:
		s = fmt.Sprintf("%s of %s%s failed.", plain.Thousands(t.Fail),
			plain.Count(ran, "judged attempt", "judged attempts"), v.counted())
	}
	why := v.reasons()
	if n := why.n[callvet.OutcomeUnparseable]; n > 0 {
		s += fmt.Sprintf(" %s unparseable%s.", plain.Count(n, "attempt was", "attempts were"),
			why.list(callvet.OutcomeUnparseable))
	}
	if t.Error > 0 && ran > 0 {
		s += fmt.Sprintf(" %s ended in an error and %s in no rate%s.",
			plain.Count(t.Error, "attempt", "attempts"), isAre(t.Error), why.list(callvet.OutcomeError))
	}
	if n := t.NotRun - open.Unjudged; n > 0 {
		s += fmt.Sprintf(" %s did not run.", plain.Count(n, "attempt", "attempts"))
	}
	if v.LeftOut > 0 {
		s += fmt.Sprintf(" %s left out when the gates were decided.", plain.Count(v.LeftOut, "attempt was", "attempts were"))
	}
	if n := open.Unjudged; n > 0 {
		s += fmt.Sprintf(" %s ran and could not be judged.", plain.Count(n, "attempt", "attempts"))
	}
	if n := open.Assertions; n > 0 {
		s += fmt.Sprintf(" %s not evaluated", plain.Count(n, "assertion was", "assertions were"))
		if open.Passed > 0 {
			s += fmt.Sprintf("; %s passed the others only", plain.Count(open.Passed, "attempt", "attempts"))
		}
		s += "."
	}
	return s + v.uncounted() + v.cached()
}

// reasons are why attempts of the targets that count are unparseable or errors.
type reasons struct {
	n   map[callvet.Outcome]int
	all []panel.Reasoned
}

func (v *View) reasons() reasons {
	r := reasons{n: map[callvet.Outcome]int{}, all: panel.Reasons()}
	for _, p := range v.panels() {
		if !v.counts(p.Target) {
			continue
		}
		r.n[callvet.OutcomeUnparseable] += outcome(&p.Overall, callvet.OutcomeUnparseable)
		for _, x := range p.Overall.Reasons {
			i := slices.IndexFunc(r.all,
				func(o panel.Reasoned) bool { return o.Outcome == x.Outcome && o.Reason == x.Reason })
			if i >= 0 {
				r.all[i].N += x.N
			}
		}
	}
	return r
}

// list returns the reasons of an outcome with their counts: " (token limit: 3, empty answer: 1)".
func (r reasons) list(o callvet.Outcome) string {
	var parts []string
	for _, x := range r.all {
		if x.Outcome == o && x.N > 0 {
			parts = append(parts, panel.Word(x.Reason)+": "+plain.Thousands(x.N))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// Reused counts the answers from the cache, and all answers.
type Reused struct {
	Reused  int `json:"reused"`
	Answers int `json:"answers"`
}

// reused is nil where every answer is fresh.
func (v *View) reused() *Reused {
	var r Reused
	for _, p := range v.panels() {
		r.Reused += p.Overall.Usage.Cached
		for _, o := range p.Overall.Outcomes {
			if o.Name != string(callvet.OutcomeError) && o.Name != string(callvet.OutcomeNotRun) {
				r.Answers += o.N
			}
		}
	}
	if r.Reused == 0 {
		return nil
	}
	return &r
}

// cached is the sentence on how many answers come from earlier runs.
func (v *View) cached() string {
	r := v.reused()
	if r == nil {
		return ""
	}
	s := fmt.Sprintf(" %s of %s reused", plain.Thousands(r.Reused), plain.Count(r.Answers, "answer", "answers"))
	if v.All != "" { // where there is a command line
		s += "; --no-cache to ask again"
	}
	return s + "."
}

// every writes "all" of n things.
func every(n int, one string) string {
	if n == 1 {
		return "the only " + one
	}
	return "all " + plain.Thousands(n) + " " + one + "s"
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// warnings of the run and its targets, each once.
func (v *View) warnings() []string {
	var out []string
	if v.Problem != "" {
		out = append(out, v.Problem)
	}
	if v.Status != "" && v.Status != "done" {
		out = append(out, "the run is not complete: "+v.Status)
	}
	if v.Panels == nil {
		return out
	}
	out = append(out, v.Panels.Warnings...)
	return append(append(out, v.targetWarnings()...), v.floorWarnings()...)
}

// targetWarnings are the warnings of the targets; a warning of several targets names them all.
func (v *View) targetWarnings() []string {
	var order []string
	of := map[string][]string{}
	for i := range v.Panels.Targets {
		p := &v.Panels.Targets[i]
		for _, w := range p.Overall.Warnings {
			if of[w] == nil {
				order = append(order, w)
			}
			of[w] = append(of[w], p.Name)
		}
	}
	for i, w := range order {
		names := strings.Join(of[w], ", ")
		if len(of[w]) > 1 {
			names = "each of " + names
		}
		order[i] = names + ": " + w
	}
	return order
}

// population names the population of the numbers of a run.
func (v *View) population() string { return panel.TasksLikeThese.Sentence() }

// floorWarnings names the targets that are not better than a baseline without
// any language model.
func (v *View) floorWarnings() []string {
	var out []string
	for _, f := range v.panels() {
		m := f.Overall.Metric(panel.MetricPass)
		if !f.Floor || m == nil || !m.Interval.Defined() {
			continue
		}
		for _, p := range v.panels() {
			n := p.Overall.Metric(panel.MetricPass)
			if !p.Floor && n != nil && n.Interval.Defined() && n.Interval.Point <= m.Interval.Point {
				out = append(out, fmt.Sprintf("%s does not beat the baseline %s (%s against %s)", p.Name, f.Name,
					plain.Percent(n.Interval.Point), plain.Percent(m.Interval.Point)))
			}
		}
	}
	return out
}
