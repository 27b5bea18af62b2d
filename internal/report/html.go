// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"bufio"
	_ "embed" // the page's files
	"fmt"
	"html/template"
	"io"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
)

//go:embed page/page.html
var pageHTML string

//go:embed page/page.js
var pageJS string

// Limits of the HTML face; the rest is counted on the page.
const (
	maxHTMLFailures = 300
	maxHTMLPasses   = 500
	maxHTMLBytes    = 8 << 20
	maxHTMLText     = 4000
	maxHTMLReports  = 1 << 20 // bytes after which no further report of a judge begins
)

// HTML writes one self-contained page: no request leaves it, a strict content
// policy allows only its own style and script, and it works without the script.
// Its size is bounded whatever the size of the run.
func HTML(w io.Writer, v *View) error {
	t, err := template.New("page").Funcs(template.FuncMap{
		"clean": plain.Clean, "amount": plain.Amount, "rate": plain.Rate, "change": plain.Change,
		"thousands": plain.Thousands, "count": plain.Count, "millis": plain.Millis,
		"className": className, "bar": plain.RateBar, "diffBar": plain.ChangeBar, "pValue": plain.P,
		"cost": cost, "assertion": assertionText, "unevaluated": unevaluatedText, "word": word,
		"difference": func(t panel.TargetComparison) string { return difference(&t) },
		"lines":      plain.Lines, "below": below, "baselineOf": baselineOf, "leftOut": leftOut, "own": plain.OwnNotes, "found": plain.FindingCount,
		"value": value, "values": func(iv stats.Interval) [2]string { return plain.Lines(plain.Rate(iv)) },
		"share":  func(n, of int) int { return max(1, 100*n/max(1, of)) },
		"judged": func(v panel.Verdicts) string { return plain.Thousands(v.Pass + v.Fail) },
		"total": func(in, out int) string {
			if in+out == 0 {
				return "–"
			}
			return plain.Thousands(in + out)
		},
	}).Parse(pageHTML)
	if err != nil {
		return fmt.Errorf("parse page: %w", err)
	}
	b := &counted{w: bufio.NewWriterSize(w, 64<<10)}
	p := newPage(v, b)
	if err := t.Execute(b, p); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	if p.err != nil {
		return fmt.Errorf("read attempts: %w", p.err)
	}
	return b.w.Flush()
}

// counted counts the bytes written, so that the page can stop in time.
type counted struct {
	w *bufio.Writer
	n int
}

func (c *counted) Write(b []byte) (int, error) {
	c.n += len(b)
	return c.w.Write(b)
}

// page is the data of the template.
type page struct {
	*View
	CSS      template.CSS
	JS       template.JS
	Policy   string
	Verdicts panel.Verdicts
	Classes  []panel.Count
	Warnings []string
	// Estimates names the population of the numbers.
	Estimates string
	out       *counted
	shown     int
	passes    int
	reports   int
	err       error
}

func newPage(v *View, out *counted) *page {
	p := &page{
		View: v, CSS: template.CSS(plain.Style), JS: template.JS(pageJS), Warnings: v.warnings(),
		Estimates: v.population(), out: out,
	}
	p.Verdicts, p.Classes = v.totals()
	p.Policy = fmt.Sprintf("default-src 'none'; style-src %s; script-src %s; base-uri 'none'; form-action 'none'",
		plain.Digest(plain.Style), plain.Digest(pageJS))
	return p
}

// Title of the page.
func (p *page) Title() string { return strings.TrimSpace(p.Suite.Name + " " + p.Suite.Version) }

// Findings are the issues that most runs share.
func (p *page) Findings() []*panel.Finding {
	var out []*panel.Finding
	for _, f := range p.findings() {
		out = append(out, &f)
	}
	return out
}

// Spent reports whether any target has tokens or costs.
func (p *page) Spent() bool {
	for _, t := range p.panels() {
		if cost(t.Overall.Usage) != "–" {
			return true
		}
	}
	return false
}

// SelectionPart returns the decisions of routers and retrievers; empty without any.
func (p *page) SelectionPart() (template.HTML, error) {
	if p.Selection == nil {
		return "", nil
	}
	return SelectionHTML(p.Selection)
}

// Judged attempts of the run.
func (p *page) Judged() int { return p.Verdicts.Pass + p.Verdicts.Fail }

// Total attempts of the run.
func (p *page) Total() int { return p.Judged() + p.Verdicts.Error + p.Verdicts.NotRun }

// MaxClass is the count of the most frequent error class.
func (p *page) MaxClass() int {
	n := 1
	for _, c := range p.Classes {
		n = max(n, c.N)
	}
	return n
}

// Reports streams the reports of judges on targets, as many as the page may hold.
func (p *page) Reports() iter.Seq[*JudgeReport] {
	return func(yield func(*JudgeReport) bool) {
		before := p.out.n
		for i := range p.JudgeReports {
			if p.out.n-before > maxHTMLReports {
				return
			}
			p.reports++
			if !yield(&p.JudgeReports[i]) {
				return
			}
		}
	}
}

// JudgeParts are the lists of a judge's report.
func (p *page) JudgeParts(r *JudgeReport) []reportPart { return r.parts(50, 1000) }

// HiddenReports counts the reports that the page left out so far; "" if there is none.
func (p *page) HiddenReports() string {
	return moreOf(len(p.JudgeReports)-p.reports, "report", "reports")
}

// Trials are the names of pass@k and pass^k.
func (p *page) Trials() []string {
	if len(p.panels()) == 0 {
		return nil
	}
	return trialNames(p.panels())
}

// Limits of the grid of cases; the rest is counted on the page.
const (
	maxGridCases   = 200
	maxGridTargets = 20
)

// Grid has the outcome of each case at each target.
type Grid struct {
	Targets []string
	Rows    []GridRow
	// Cases and AllTargets are the numbers of the run.
	Cases, AllTargets int
}

// GridRow is one case.
type GridRow struct {
	Case  string
	Cells []GridCell // by target
}

// GridCell counts the attempts at a case by one target.
type GridCell struct{ Pass, Judged, Errors int }

// Mark returns one sign for the attempts: all passed, some did not, or none was judged.
func (c GridCell) Mark() string {
	switch {
	case c.Judged == 0 && c.Errors > 0:
		return "!"
	case c.Judged == 0:
		return "–"
	case c.Pass == c.Judged:
		return "✓"
	}
	return "✗"
}

// Class is the class of the cell on the page.
func (c GridCell) Class() string {
	return map[string]string{"✓": "t-pass", "✗": "t-fail", "!": "t-warn", "–": "soft"}[c.Mark()]
}

// Grid are the first cases of the run with their passes.
func (p *page) Grid() Grid {
	g := Grid{Cases: p.Suite.Cases, AllTargets: len(p.Targets)}
	for _, t := range p.Targets[:min(len(p.Targets), maxGridTargets)] {
		g.Targets = append(g.Targets, plain.Line(t.Name))
	}
	at := map[string]int{}
	for r, err := range p.verdicts() {
		if err != nil {
			p.err = err
			return g
		}
		i, known := at[r.Case.ID]
		if !known {
			if len(g.Rows) == maxGridCases {
				break
			}
			i = len(g.Rows)
			at[r.Case.ID] = i
			g.Rows = append(g.Rows, GridRow{Case: plain.Line(r.Case.ID), Cells: make([]GridCell, len(g.Targets))})
		}
		if r.Cell.Target >= len(g.Targets) {
			continue
		}
		switch c := &g.Rows[i].Cells[r.Cell.Target]; verdictOf(r) {
		case callvet.VerdictPass:
			c.Pass++
			c.Judged++
		case callvet.VerdictFail:
			c.Judged++
		case callvet.VerdictError:
			c.Errors++
		}
	}
	return g
}

// MetricRows are all metrics.
func (p *page) MetricRows() []MetricRow {
	rows, _ := p.metricRows(false)
	return rows
}

// SliceRow is the pass rate of one slice for all targets.
type SliceRow struct {
	Key, Value string
	First      bool // of its key
	Cases      string
	Values     []*panel.Metric
}

// SliceRows are the slices of the run.
func (p *page) SliceRows() []SliceRow {
	var rows []SliceRow
	ps := p.panels()
	last := ""
	for i, of := range sliceRows(ps) {
		s := of.any()
		r := SliceRow{Key: s.Key, Value: s.Value, Cases: of.cases(), First: i == 0 || last != s.Key}
		last = s.Key
		for j := range ps {
			r.Values = append(r.Values, of.metric(j, panel.MetricPass))
		}
		rows = append(rows, r)
	}
	return rows
}

// Confusions are the pairs of different tools, most frequent first, at most 50.
func (p *page) Confusions(t panel.TargetPanel) []panel.Confused {
	out := confused(&t)
	return out[:min(len(out), 50)]
}

// Changed are the first changed cases of a comparison.
func (p *page) Changed(t panel.TargetComparison) []panel.CaseChange {
	return t.Changes[:min(len(t.Changes), 100)]
}

// attempt is a failed attempt on the page.
type attempt struct {
	Name, Target, Class, Verdict, Question, Reason, Plan, Meta string
	Diffs                                                      []callDiff
	MoreDiffs                                                  string
	Assertions                                                 []callvet.Assertion
	Repairs                                                    []string
	Turns                                                      []bubble
	Scores                                                     []callvet.Score
	Exchanges                                                  []exchange
	Open                                                       bool
}

// bubble is one turn of the conversation.
type bubble struct {
	Role, Reasoning, Content string
	Calls                    []string
	Target                   bool // made by the target, not part of the case
}

type exchange struct{ Title, Error, Request, Response string }

// Failures streams the attempts that did not pass, failures first, as many as
// the page may hold.
func (p *page) Failures() iter.Seq[attempt] {
	return func(yield func(attempt) bool) {
		for _, verdict := range []callvet.Verdict{callvet.VerdictFail, callvet.VerdictError} {
			for r, err := range p.counting(verdict) {
				if err != nil {
					p.err = err
					return
				}
				if p.shown >= maxHTMLFailures || p.out.n > maxHTMLBytes {
					return
				}
				p.shown++
				if !yield(p.attempt(r)) {
					return
				}
			}
		}
	}
}

// Unpassed is how many attempts failed or ended in an error.
func (p *page) Unpassed() int { return p.Verdicts.Fail + p.Verdicts.Error }

// MayHide reports whether the page has fewer of them than there are.
func (p *page) MayHide() bool { return p.Unpassed() > maxHTMLFailures }

// MaxFailures is how many of them a page has at most.
func (p *page) MaxFailures() int { return maxHTMLFailures }

// Shown is how many of them are on the page so far.
func (p *page) Shown() int { return p.shown }

// ShownPasses is how many passes are on the page so far.
func (p *page) ShownPasses() int { return p.passes }

// Hidden is how many failures and errors the page left out so far.
func (p *page) Hidden() int { return max(0, p.Verdicts.Fail+p.Verdicts.Error-p.shown) }

// Passed streams the attempts that passed, as many as the page may hold.
func (p *page) Passed() iter.Seq[attempt] {
	return func(yield func(attempt) bool) {
		for r, err := range p.counting(callvet.VerdictPass) {
			if err != nil {
				p.err = err
				return
			}
			if p.passes >= maxHTMLPasses || p.out.n > maxHTMLBytes+1<<20 {
				return
			}
			p.passes++
			text := strings.Join(callTexts(r.Cell.Trace.Calls(), 300), "\n")
			if text == "" {
				text = "no call"
			}
			a := attempt{
				Name: attemptName(r, p.repeats()), Target: plain.Line(p.targetName(r.Cell.Target)),
				Question: plain.Limited(plain.Line(question(r.Case)), 200), Reason: text,
			}
			if !yield(a) {
				return
			}
		}
	}
}

// HiddenPasses is how many passes the page left out so far.
func (p *page) HiddenPasses() int { return max(0, p.Verdicts.Pass-p.passes) }

func (p *page) attempt(r Row) attempt {
	t, res := &r.Cell.Trace, &r.Cell.Result
	a := attempt{
		Name: attemptName(r, p.repeats()), Target: plain.Line(p.targetName(r.Cell.Target)), Class: classOf(r),
		Verdict:  string(verdictOf(r)),
		Question: plain.Limited(plain.Line(question(r.Case)), 400), Reason: because(r), Plan: plain.Line(res.Plan),
		Meta:       attemptMeta(r),
		Assertions: res.Assertions, Repairs: repairs(t), Scores: res.Scores, Open: p.shown <= 3 && r.Cell.Repeat == 0,
	}
	var more int
	a.Diffs, more = diffs(r)
	a.MoreDiffs = moreOf(more, "call", "calls")
	a.Turns = append(bubbles(r.Case.Input, false), bubbles(t.Turns, true)...)
	for i := range t.Exchanges {
		x := &t.Exchanges[i]
		a.Exchanges = append(a.Exchanges, exchange{
			Title: fmt.Sprintf("exchange %d: HTTP %d, %s", i+1, x.HTTP, plain.Millis(x.MS)), Error: plain.Line(x.Error),
			Request:  plain.Limited(plain.Indented(x.Request), maxHTMLText),
			Response: plain.Limited(plain.Indented([]byte(x.Response)), maxHTMLText),
		})
	}
	return a
}

// callTexts are the first calls of a list, each of at most n bytes, and how many more there are.
func callTexts(calls []callvet.Call, n int) []string {
	var out []string
	for i := range calls {
		if i == maxCalls {
			return append(out, moreOf(len(calls)-i, "call", "calls"))
		}
		out = append(out, plain.Limited(callText(&calls[i]), n))
	}
	return out
}

func bubbles(turns []callvet.Turn, target bool) []bubble {
	first, left, last := ends(turns)
	out := eachBubble(nil, first, target)
	if left > 0 {
		out = append(out, bubble{Role: "…", Content: moreOf(left, "turn", "turns"), Target: target})
	}
	return eachBubble(out, last, target)
}

func eachBubble(out []bubble, turns []callvet.Turn, target bool) []bubble {
	for i := range turns {
		t := &turns[i]
		b := bubble{
			Role: string(t.Role), Content: plain.Limited(plain.Clean(t.Content), maxHTMLText),
			Reasoning: plain.Limited(plain.Clean(t.Reasoning), 1000), Target: target,
		}
		if t.Tool != "" {
			b.Role += " " + plain.Line(t.Tool)
		}
		for j, text := range callTexts(t.Calls, maxHTMLText) {
			b.Calls = append(b.Calls, text)
			if j < min(len(t.Calls), maxCalls) {
				b.Calls = append(b.Calls, callRemarks(&t.Calls[j])...)
			}
		}
		out = append(out, b)
	}
	return out
}

// split is a value in three parts: two values share the parts at both ends, and differ in the part
// between. The page marks that part.
type split struct{ Before, Part, After string }

// ExpectedParts splits the expected value of a line.
func (l diffLine) ExpectedParts() split { a, _ := parts(l.Expected, l.Actual); return a }

// ActualParts splits the actual value of a line.
func (l diffLine) ActualParts() split { _, b := parts(l.Expected, l.Actual); return b }

func parts(a, b string) (split, split) {
	if a == b || a == nothing || b == nothing || len(a) > maxHTMLText || len(b) > maxHTMLText {
		return split{Before: plain.Limited(a, maxHTMLText)}, split{Before: plain.Limited(b, maxHTMLText)}
	}
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	for i > 0 && (i < len(a) && !utf8.RuneStart(a[i]) || i < len(b) && !utf8.RuneStart(b[i])) {
		i--
	}
	j := 0
	for j < len(a)-i && j < len(b)-i && a[len(a)-1-j] == b[len(b)-1-j] {
		j++
	}
	for j > 0 && !utf8.RuneStart(a[len(a)-j]) {
		j--
	}
	return split{a[:i], a[i : len(a)-j], a[len(a)-j:]}, split{b[:i], b[i : len(b)-j], b[len(b)-j:]}
}

// value is a metric as a number and its interval below it.
func value(m *panel.Metric) [2]string { return plain.Lines(plain.Amount(m)) }
