// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel"
)

// ScoresView is the data of the faces.
type ScoresView struct {
	// Files are the names of the files that were read.
	Files  []string
	Panels *panel.Panels
	// Lines, Steps and Tasks count lines and records.
	Lines, Steps, Tasks int64
	// Problems are the bad lines and unknown names that are listed.
	Problems []callvet.Problem
	// Excerpt returns the text of an example's trace, redacted; nil or "" where it cannot be
	// read.
	Excerpt func(panel.Example) string
	// Version of callvet.
	Version string
	// Width of the terminal in columns, for Terminal; 0 is no limit.
	Width int
	// Verbose prints each finding on the terminal with its evidence, its quick test and its fix.
	Verbose bool
	// All shows every measure on the terminal, not only the most important ones.
	All bool
}

// Notes are the assumptions of the numbers, and the meaning of n_eff if one is shown.
func (v *ScoresView) Notes() []string {
	var out []string
	if v.Panels.Assumed != "" {
		out = append(out, v.Panels.Assumed)
	}
	for i := range v.Panels.Targets {
		calls, tasks := sheetSteps(&v.Panels.Targets[i].Overall)
		for _, r := range append(calls, tasks...) {
			if strings.Contains(r.N(), "n_eff") {
				return append(out, panel.EffectiveSize)
			}
		}
	}
	return out
}

// Population describes the population of the numbers.
func (v *ScoresView) Population() string { return panel.TasksLikeThese.Sentence() }

// ScoresFace writes a View in one format.
type ScoresFace func(io.Writer, *ScoresView) error

// ScoresByPath chooses the face by a file's extension: .html, .md, .json, .csv, .txt.
// Others are callvet.ErrInvalid with a hint.
func ScoresByPath(path string) (ScoresFace, error) {
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".html", ".htm":
		return ScoresHTML, nil
	case ".md", ".markdown":
		return ScoresMarkdown, nil
	case ".json":
		return ScoresJSON, nil
	case ".csv":
		return ScoresCSV, nil
	case ".txt", ".text":
		return func(w io.Writer, v *ScoresView) error {
			whole := *v
			whole.Verbose, whole.All = true, true
			return ScoresTerminal(w, &whole)
		}, nil
	default:
		return nil, &callvet.Hinted{
			Err:  fmt.Errorf("choose report format for %q: unknown extension %q: %w", path, ext, callvet.ErrInvalid),
			Hint: "use .html, .md, .json, .csv, .txt, or .parquet for the scored calls",
		}
	}
}

// PanelsJSON writes panels as a document of their own.
func PanelsJSON(w io.Writer, p *panel.Panels) error {
	return indented(w, p)
}

// ScoresJSON writes the panels with the names of the files that were read.
func ScoresJSON(w io.Writer, v *ScoresView) error {
	err := indented(w, struct {
		Files []string `json:"files"`
		Lines int64    `json:"lines"`
		Steps int64    `json:"steps"`
		Tasks int64    `json:"task_records"`
		Bad   int64    `json:"malformed_lines"`
		// Population is what the numbers are about, and Estimates the same in a sentence.
		Population panel.Population `json:"population"`
		Estimates  string           `json:"estimates"`
		Sheet      *panel.Panels    `json:"panels"`
	}{v.Files, v.Lines, v.Steps, v.Tasks, v.Panels.Lost.Records(), panel.TasksLikeThese, v.Population(), v.Panels})
	if err != nil {
		return fmt.Errorf("write json: %w", err)
	}
	return nil
}

// row is one metric with its companion by task, where it has one.
type row struct {
	Metric *panel.Metric
	ByTask *panel.Metric
}

// N returns the count of the metric, and the number of independent values if that differs: "1,204
// calls of 300 tasks (n_eff 410)".
func (r row) N() string {
	iv := r.Metric.Interval
	seen := r.Metric.Seen()
	if l := r.Metric.Labelled; l != nil {
		return l.Count(seen, "task")
	}
	s := plain.Thousands(seen) + " " + r.Metric.Of
	if iv.Clusters > 0 && iv.Clusters != seen {
		s += " of " + plain.Count(iv.Clusters, "task", "tasks")
		if n := math.Round(iv.NEff); n > 0 && n != float64(seen) {
			s += fmt.Sprintf(" (n_eff %s)", plain.Thousands(int(n)))
		}
	}
	return s
}

// Amount is the metric with its interval.
func (r row) Amount() string { return plain.Amount(r.Metric) }

// Companion is the share of tasks with everything right, or "".
func (r row) Companion() string {
	switch {
	case r.ByTask == nil:
		return ""
	case r.ByTask.LowerIsBetter: // the share with an error
		right := *r.ByTask
		right.Interval = right.Interval.Complement()
		return plain.Amount(&right)
	}
	return plain.Amount(r.ByTask)
}

// Coverage is the labelled share where it is not all.
func (r row) Coverage() string {
	if c := r.Metric.Coverage; c != nil && *c < 1 {
		return plain.Percent(*c) + " labelled"
	}
	return ""
}

// Notes are the notes on the metric that are not below the table.
func (r row) Notes(below []plain.Shared) []string {
	out := plain.OwnNotes(r.Metric, below)
	if c := r.Coverage(); c != "" {
		out = append([]string{c}, out...)
	}
	return out
}

// shortRows are the rows of a short table, and the measures that it leaves out.
func shortRows(s *panel.Slice) (calls, tasks []row, hidden hiddenMeasures) {
	shown, hidden := shortMeasures(s), hiddenMeasures{}
	left := func(r row) bool {
		if !shown[r.Metric.Name] {
			hidden.add(r.Metric)
		}
		return !shown[r.Metric.Name]
	}
	calls, tasks = sheetSteps(s)
	return slices.DeleteFunc(calls, left), slices.DeleteFunc(tasks, left), hidden
}

// measureTables are the tables of the rows, with the notes below both of them.
func (v *ScoresView) measureTables(calls, tasks []row) (tables []Table, below []plain.Shared) {
	below = sharedNotes(slices.Concat(calls, tasks))
	for i, rows := range [][]row{calls, tasks} {
		if len(rows) == 0 {
			continue
		}
		t := Table{Title: [...]string{"Steps, by call", "Tasks"}[i], Columns: texts("")}
		t.Columns = append(t.Columns, columns(FigureColumn, "value ["+plain.Confidence(v.Panels.Confidence)+"]", "n")...)
		if i == 0 {
			t.Columns = append(t.Columns, Column{Title: "tasks all right", Kind: FigureColumn})
		}
		t.Columns = append(t.Columns, Column{Title: "notes", Kind: NoteColumn})
		for _, r := range rows {
			c := []string{plain.Line(r.Metric.Title), r.Amount(), r.N()}
			if i == 0 {
				c = append(c, r.Companion())
			}
			t.Rows = append(t.Rows, append(c, plain.Line(strings.Join(r.Notes(below), "; "))))
		}
		tables = append(tables, t)
	}
	return tables, below
}

// slicesTable holds the most important metrics of each slice of a target.
func slicesTable(p *panel.TargetPanel, most int) Table {
	t := Table{Title: "Slices", Columns: texts(""), Note: sheetDiffers, Folded: true}
	t.Columns = append(t.Columns, Column{Title: "tasks", Kind: CountColumn})
	names := sliced(p)
	if len(names) == 0 {
		return t
	}
	for _, n := range names {
		t.Columns = append(t.Columns, Column{Title: p.Overall.Metric(n).Title, Kind: FigureColumn})
	}
	for i := range p.Slices {
		s := &p.Slices[i]
		r := []string{short(plain.Line(s.Key)+"="+plain.Line(s.Value), 40), plain.Thousands(s.Cases)}
		for _, n := range names {
			m := s.Metric(n)
			r = append(r, plain.Amount(m)+mark(m))
		}
		t.Rows = append(t.Rows, r)
	}
	return t.more(most, "slices")
}

// confusedTable contains the pairs of confused tools.
func confusedTable(p *panel.TargetPanel, most int) Table {
	t := Table{
		Title: "Confused tools", Folded: true,
		Columns: append(texts("expected", "called"), Column{Title: "calls", Kind: CountColumn}),
	}
	for _, c := range confused(p) {
		t.Rows = append(t.Rows, []string{plain.Line(c.Expected), plain.Line(c.Called), plain.Thousands(c.N)})
	}
	return t.more(most, "pairs")
}

// sharedNotes are the warnings below tables of these rows.
func sharedNotes(rows []row) []plain.Shared {
	var ms []*panel.Metric
	for _, r := range rows {
		ms = append(ms, r.Metric)
	}
	return plain.SharedNotes(ms)
}

// Bar draws the metric.
func (r row) Bar() plain.Bar { return plain.RateBar(r.Metric) }

// sheetSteps are the metrics by call with their companions; tasks all others.
func sheetSteps(s *panel.Slice) (calls, tasks []row) {
	for i := range s.Metrics {
		m := &s.Metrics[i]
		switch {
		case strings.HasSuffix(m.Name, panel.ByTask("")):
		case m.Of == "calls":
			calls = append(calls, row{m, s.Metric(panel.ByTask(m.Name))})
		default:
			tasks = append(tasks, row{m, nil})
		}
	}
	return calls, tasks
}

// sliced are the metrics of the target that a table of slices shows.
func sliced(t *panel.TargetPanel) []string {
	var out []string
	for _, name := range []string{
		"schema_valid", "tool_selection", "arg_em", "execution_success", "over_call_rate", "tool_latency_p90",
		"pass_rate", "true_success",
	} {
		if t.Overall.Metric(name) != nil {
			out = append(out, name)
		}
	}
	for i := range t.Overall.Metrics {
		if name := t.Overall.Metrics[i].Name; judgedPart(name) {
			out = append(out, name)
		}
	}
	return out
}

func judgedPart(name string) bool {
	thing, _ := panel.JudgedPart(name)
	return thing != ""
}

// mark names the worst and the best slice of a key, and marks one that differs from the rest.
func mark(m *panel.Metric) string {
	switch {
	case m == nil || m.Versus == nil:
		return ""
	case m.Versus.Worst:
		return " ◀ worst" + shrunken(m.Versus)
	case m.Versus.Best:
		return " ◀ best" + shrunken(m.Versus)
	case m.Versus.Differs():
		return " *"
	}
	return ""
}

// good reports whether the mark of a slice is not a bad one.
func good(m *panel.Metric) bool { return m.Versus.Best }

// shrunken is the estimate of a slice in view of the others.
func shrunken(v *panel.Versus) string {
	if v.Shrunken == nil {
		return ""
	}
	return " (" + plain.Rate(*v.Shrunken) + " among the others)"
}

// sheetDiffers explains the marks below a table of slices.
const sheetDiffers = "* differs from the rest (Holm over the slices of a key, p < 0.05). The worst and the best of a key are named with the estimate that the other slices make likely."

// confused are the pairs that are not on the diagonal, most frequent first.
func confused(t *panel.TargetPanel) []panel.Confused {
	var out []panel.Confused
	for _, c := range t.Confusion {
		if c.Expected != c.Called {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b panel.Confused) int { return b.N - a.N })
	return out
}

// sentence is the result in one line.
func (v *ScoresView) sentence() string {
	s := plain.Count(int(v.Steps), "step", "steps")
	if n := v.taskCount(); n > 0 {
		s += " of " + plain.Count(n, "task", "tasks")
	}
	pass, judged := 0, 0
	for i := range v.Panels.Targets {
		d := &v.Panels.Targets[i].Overall.Verdicts
		pass, judged = pass+d.Pass, judged+d.Pass+d.Fail
	}
	if judged > 0 {
		s += fmt.Sprintf("; %s of %s passed", plain.Thousands(pass),
			plain.Count(judged, "judged attempt", "judged attempts"))
	}
	if lost := v.Panels.Lost.Sentence(); lost != "" {
		s += "; " + plain.Line(lost)
	}
	return s
}

func (v *ScoresView) taskCount() int {
	n := 0
	for i := range v.Panels.Targets {
		n += v.Panels.Targets[i].Overall.Cases
	}
	return n
}

// State is "fail" with a finding, "warn" with a warning, else "pass".
func (v *ScoresView) State() string {
	switch {
	case len(v.Panels.Findings) > 0:
		return "fail"
	case len(v.Panels.Warnings) > 0 || v.Panels.Lost != nil:
		return "warn"
	}
	return "pass"
}

// Where is an example's place: "t_1 (traces.jsonl:12)".
func (v *ScoresView) Where(e panel.Example) string {
	if e.File == "" && len(v.Files) == 1 {
		e.File = v.Files[0]
	}
	s := e.Task
	if e.Attempt > 0 {
		s += fmt.Sprintf(" #%d", e.Attempt+1)
	}
	if e.Call != "" && e.Line > 0 { // ids of calls are found in files; in runs they are the provider's
		s = e.Call
	}
	if e.Line > 0 {
		s += fmt.Sprintf(" (%s:%d)", e.File, e.Line)
	}
	return plain.Line(s)
}

func (v *ScoresView) excerpt(e panel.Example) string {
	if v.Excerpt == nil {
		return ""
	}
	return plain.Limited(plain.Clean(v.Excerpt(e)), 6000)
}
