// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel"
)

// Attempts explains some attempts, normally all of one case: verdict, comparison, failed
// assertions, one line of scores and the conversation. It adds all scores and the raw exchanges if
// the options ask for them.
func Attempts(w io.Writer, v *View, rows []Row, opt TerminalOptions) error {
	s := newScreen(opt)
	for i, r := range rows {
		if i > 0 {
			s.line("")
		}
		s.attempt(v, r)
	}
	_, err := io.WriteString(w, s.String())
	return err
}

func (s *screen) attempt(v *View, r Row) {
	t, res := &r.Cell.Trace, &r.Cell.Result
	verdict := strings.ToUpper(strings.ReplaceAll(string(verdictOf(r)), "_", " "))
	switch verdictOf(r) {
	case callvet.VerdictPass:
		verdict = s.green(verdict)
	case callvet.VerdictFail:
		verdict = s.red(verdict)
	default:
		verdict = s.yellow(verdict)
	}
	s.line("%s  %s  %s%s", verdict, s.bold(attemptName(r, v.repeats())), plain.Line(v.targetName(r.Cell.Target)),
		s.yellow(butUnevaluated(r)))
	if res.Class != "" {
		s.line("%s", className(string(res.Class)))
	}
	if b := because(r); b != "" && !alreadyShown(r) {
		s.wrap("", b)
	}
	s.wrapAs("", attemptMeta(r), s.dim)
	if len(res.Calls) > 0 {
		s.heading("Expected and actual")
		if res.Plan != "" {
			s.line("        best plan: %s", plain.Line(res.Plan))
		}
		s.callDiffs(r, true)
	}
	s.assertions(res)
	for i, note := range panel.BudgetNotes(v.Tools, r.Case, t) {
		if i == 0 {
			s.heading("Budgets and limits")
		}
		s.wrap("  ", plain.Line(note))
	}
	s.scores(res)
	if t.Decision != nil {
		s.heading("Decision")
		WriteDecision(&s.Builder, t.Decision)
	}
	s.heading("Conversation")
	s.conversation(r.Case.Input)
	if len(t.Turns) > 0 {
		s.line("%s", s.dim("  ── from here on the target ──"))
	}
	s.conversation(t.Turns)
	if s.opt.All {
		s.exchanges(t)
	} else if n := len(t.Exchanges); n > 0 {
		s.wrapAs("", "\n"+plain.Count(n, "request and its answer", "requests and their answers")+" as sent: --all",
			s.dim)
	}
}

func attemptMeta(r Row) string {
	t := &r.Cell.Trace
	parts := []string{"outcome " + string(t.Outcome)}
	if end := ending(t); len(end) > 0 {
		parts[0] += " (" + strings.Join(end, "; ") + ")"
	}
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if v := r.Cell.Result.Rules; v != 0 && v != callvet.RulesVersion {
		add("judged by version %d of the rules", v)
	}
	if t.Format != "" {
		add("format %s", t.Format)
	}
	if m := repairs(t); len(m) > 0 {
		add("repaired: %s", strings.Join(m, ", "))
	}
	if t.ToolChoice != "" {
		add("tool choice %s", plain.Line(t.ToolChoice))
	}
	for _, name := range t.Omitted {
		add("%s as asked for was refused", plain.Line(name))
	}
	if t.Model != "" {
		add("model %s", plain.Line(t.Model))
	}
	if t.FinishReason != "" {
		add("finish %s", plain.Line(t.FinishReason))
	}
	if t.WallMS > 0 {
		add("%s", plain.Millis(t.WallMS))
	}
	if t.Usage.Known {
		add("%s in, %s out", plain.Count(t.Usage.InputTokens, "token", "tokens"), plain.Thousands(t.Usage.OutputTokens))
	}
	switch note := plain.Line(t.Usage.Note); {
	case note == "":
	case t.Usage.Known:
		add("usage: %s", note)
	default:
		add("usage not known: %s", note)
	}
	if t.Usage.CostUSD != nil {
		add("%s", plain.Dollars(*t.Usage.CostUSD))
	}
	if t.Attempts > 1 {
		add("%d requests", t.Attempts)
	}
	if t.Cached {
		add("from the cache")
	}
	return strings.Join(parts, " · ")
}

// ends are the turns at both ends of a conversation, and how many are left out between.
func ends(turns []callvet.Turn) (first []callvet.Turn, left int, last []callvet.Turn) {
	if len(turns) <= maxTurns {
		return turns, 0, nil
	}
	return turns[:maxTurns/2], len(turns) - maxTurns, turns[len(turns)-maxTurns/2:]
}

func (s *screen) conversation(turns []callvet.Turn) {
	first, left, last := ends(turns)
	s.turns(first)
	if left > 0 {
		s.line("  %s", moreOf(left, "turn", "turns"))
	}
	s.turns(last)
}

func (s *screen) turns(turns []callvet.Turn) {
	for i := range turns {
		t := &turns[i]
		prefix := fmt.Sprintf("  %-10s ", plain.Line(string(t.Role)))
		if t.Tool != "" {
			prefix += plain.Line(t.Tool) + ": "
		}
		if t.Reasoning != "" {
			s.wrap(prefix, "(reasoning) "+plain.Limited(plain.Line(t.Reasoning), 2000))
		}
		if t.Content != "" {
			s.wrap(prefix, plain.Limited(plain.Line(t.Content), 4000))
		}
		for j := range t.Calls {
			if j == maxCalls {
				s.wrap(prefix, moreOf(len(t.Calls)-j, "call", "calls"))
				break
			}
			s.wrap(prefix, "→ "+plain.Limited(callText(&t.Calls[j]), 4000))
			for _, remark := range callRemarks(&t.Calls[j]) {
				s.wrap("             ", remark)
			}
		}
	}
}

func (s *screen) assertions(r *callvet.Result) {
	if len(r.Assertions) == 0 {
		return
	}
	passed := 0
	s.heading("Assertions")
	for _, a := range r.Assertions {
		if a.State == callvet.AssertPassed && !s.opt.All {
			passed++
			continue
		}
		switch a.State {
		case callvet.AssertNotEvaluated:
			s.wrap("  not evaluated  ", unevaluatedText(a))
		case callvet.AssertPassed:
			s.wrap("  "+s.green("ok")+"       ", plain.Line(a.Name))
		default:
			s.wrap("  "+s.red("failed")+"   ", assertionText(a))
		}
	}
	if passed > 0 {
		s.line("  %s       %s", s.green("ok"), plain.Count(passed, "assertion", "assertions"))
	}
}

func (s *screen) scores(r *callvet.Result) {
	if len(r.Scores) == 0 {
		return
	}
	if !s.opt.Scores && !s.opt.All {
		s.wrap("\nScores  ", scoreLine(r.Scores))
		return
	}
	s.heading("Scores")
	for _, x := range r.Scores {
		if x.Scored {
			good := "1 is best"
			if panel.Describe(x.Name).LowerIsBetter {
				good = "0 is best"
			}
			s.line("  %-20s %.3f  %s", plain.Line(x.Name), x.Value, s.dim(good))
			if x.Reason != "" { // of a judge
				s.wrap(fmt.Sprintf("  %-20s ", ""), plain.Limited(plain.Line(x.Reason), 2000))
			}
			continue
		}
		s.wrap(fmt.Sprintf("  %-20s ", plain.Line(x.Name)), "not scored: "+plain.Line(x.Reason))
	}
}

// maxScoreLine is how many scores a line has.
const maxScoreLine = 8

// scoreLine returns the scores that most people read, and the number of the others.
func scoreLine(scores []callvet.Score) string {
	var parts []string
	for _, name := range []string{"overall", "tool_selection", "arg_accuracy", "assertions"} {
		for _, x := range scores {
			if x.Name == name && x.Scored {
				parts = append(parts, fmt.Sprintf("%s %.2f", panel.Title(name), x.Value))
			}
		}
	}
	for _, x := range scores {
		if strings.HasPrefix(x.Name, callvet.ScorerPrefix) && x.Scored && len(parts) < maxScoreLine {
			parts = append(parts, fmt.Sprintf("%s %.2f", plain.Line(x.Name), x.Value))
		}
	}
	if n := len(scores) - len(parts); n > 0 {
		parts = append(parts, fmt.Sprintf("%d more: --scores", n))
	}
	return strings.Join(parts, " · ")
}

func (s *screen) exchanges(t *callvet.Trace) {
	for i := range t.Exchanges {
		x := &t.Exchanges[i]
		s.heading(fmt.Sprintf("Exchange %d", i+1))
		s.line("%s", s.dim(fmt.Sprintf("HTTP %d, %s", x.HTTP, plain.Millis(x.MS))))
		if x.Error != "" {
			s.wrap("  error: ", plain.Line(x.Error))
		}
		s.block("request", plain.Limited(plain.Indented(x.Request), 8000))
		s.block("response", plain.Limited(plain.Indented([]byte(x.Response)), 8000))
	}
}

func (s *screen) block(title, text string) {
	if text == "" {
		return
	}
	s.line("  %s", s.dim(title))
	for l := range strings.SplitSeq(text, "\n") {
		s.line("    %s", l)
	}
}

// RunSummary is one line of the list of runs.
type RunSummary struct {
	ID      string         `json:"id"`
	Name    string         `json:"name,omitempty"`
	Notes   string         `json:"notes,omitempty"`
	Tags    []string       `json:"run_tags,omitempty"`
	Created time.Time      `json:"created"`
	Suite   string         `json:"suite"`
	Targets []string       `json:"targets"`
	Status  string         `json:"status"`
	Cases   int            `json:"cases"`
	Cells   panel.Verdicts `json:"verdicts"`
	// UntilDecided: the run ends when its gates are decided. LeftOut are the attempts that were then not
	// asked; Cells does not count them.
	UntilDecided bool `json:"until_decided,omitempty"`
	LeftOut      int  `json:"left_out,omitempty"`
	// InPart are the passes with assertions that were not evaluated.
	InPart int     `json:"passed_in_part,omitempty"`
	Pass   RunRate `json:"pass"`
	// CostUSD is nil when it is not known.
	CostUSD *float64 `json:"cost_usd"`
	// Judging are judges that run during the run: their verdicts are not counted before it is
	// over.
	Judging []RunJudging `json:"judging,omitempty"`
	// Problem names the parts of the run that cannot be read; "" if there are none.
	Problem string `json:"problem,omitempty"`
}

// RunJudging is a judge during a run, with the number of its answers.
type RunJudging struct {
	ID      string `json:"id"`
	Judge   string `json:"judge"`
	Status  string `json:"status"`
	Answers int    `json:"answers"`
}

// RunRate is the share of a run's judged attempts that passed, over all targets.
// It has no interval: the list keeps counts only, and repeats of a case are one
// cluster, so an interval from counts would be too narrow. `show` has it.
type RunRate struct {
	Point *float64 `json:"point"` // from 0 to 1; nil: nothing was judged
	N     int      `json:"n"`     // judged attempts
}

// RateOf is the pass rate of these verdicts.
func RateOf(v panel.Verdicts) RunRate {
	r := RunRate{N: v.Pass + v.Fail}
	if r.N > 0 {
		p := float64(v.Pass) / float64(r.N)
		r.Point = &p
	}
	return r
}

func (r RunRate) percent() string {
	if r.Point == nil {
		return "–"
	}
	return plain.Decimals(*r.Point)
}

// Runs writes the list of runs as it is given, normally newest first. loc is
// the time zone to show.
func Runs(w io.Writer, runs []RunSummary, loc *time.Location, opt TerminalOptions) error {
	s := newScreen(opt)
	if len(runs) == 0 {
		s.line("No runs yet. Start with: callvet run SUITE -m TARGET")
		_, err := io.WriteString(w, s.String())
		return err
	}
	t := Table{Columns: []Column{
		{Title: "run"},
		{Title: "created"},
		{Title: "suite", Rank: 1},
		{Title: "targets", Rank: 3},
		{Title: "pass"},
		{Title: "rate %", Rank: 2},
		{Title: "lost", Kind: CountColumn, Rank: 1},
		{Title: "cost", Rank: 2},
		{Title: "status"},
	}}
	inPart := false
	for _, r := range runs {
		passed := fmt.Sprintf("%s/%s", plain.Thousands(r.Cells.Pass), plain.Thousands(r.Cells.Pass+r.Cells.Fail))
		if r.InPart > 0 {
			inPart = true
			passed += fmt.Sprintf(" (%s in part)", plain.Thousands(r.InPart))
		}
		id := plain.Line(r.ID)
		if r.Name != "" {
			id += " " + plain.Line(r.Name)
		}
		if len(r.Tags) > 0 {
			id += " [" + plain.Line(strings.Join(r.Tags, ", ")) + "]"
		}
		spent := "–"
		if r.CostUSD != nil {
			spent = plain.Dollars(*r.CostUSD)
		}
		lost := "0"
		if n := r.Cells.Lost(); n > 0 {
			lost = plain.Thousands(n) + " of " + plain.Thousands(r.Cells.Planned())
		}
		t.Rows = append(t.Rows, []string{
			id, r.Created.In(loc).Format("2006-01-02 15:04"), short(plain.Line(r.Suite), 28),
			middle(plain.Line(strings.Join(r.Targets, ", ")), 40), passed, r.Pass.percent(), lost, spent,
			plain.Line(r.Status),
		})
	}
	t.grid(s)
	if inPart {
		s.line("in part: passed with assertions that were not evaluated")
	}
	for _, r := range runs {
		if r.Problem != "" {
			s.line(plain.Line(r.ID) + ": " + plain.Limited(plain.Line(r.Problem), 400))
		}
		for _, j := range r.Judging {
			s.line(
				fmt.Sprintf("%s is judged while it runs: judging %s by %s, %s, with %s that count when the run is over",
					plain.Line(cmp.Or(r.Name, r.ID)), plain.Line(j.ID), plain.Line(j.Judge), plain.Line(j.Status),
					plain.Count(j.Answers, "answer", "answers")))
		}
	}
	_, err := io.WriteString(w, s.String())
	return err
}

// Comparison writes the paired difference of two runs.
func Comparison(w io.Writer, c *panel.Comparison, opt TerminalOptions) error {
	s := newScreen(opt)
	s.comparison(c)
	if c.Population != panel.ThisSuite {
		s.wrapAs("", c.Population.Or().Sentence(), s.dim)
	}
	if c.Assumed != "" {
		s.wrapAs("", c.Assumed, s.dim)
	}
	_, err := io.WriteString(w, strings.TrimPrefix(s.String(), "\n"))
	return err
}

// baselineOf names the baseline run.
func baselineOf(c *panel.Comparison) string { return cmp.Or(c.BaselineName, c.Baseline) }

func (s *screen) comparison(c *panel.Comparison) {
	title := plain.Line(cmp.Or(c.CandidateName, c.Candidate))
	if c.Candidate == c.Baseline {
		title = "targets of " + title
	} else {
		title += " compared with " + plain.Line(baselineOf(c))
	}
	s.heading(title)
	for i := range c.Targets {
		t := &c.Targets[i]
		s.wrap("", difference(t))
		if t.Overall.Cases > 0 {
			s.wrap("  ", fmt.Sprintf("baseline %s, now %s, p = %s", plain.Rate(t.Overall.Baseline),
				plain.Rate(t.Overall.Candidate), plain.P(t.Overall.P)))
		}
		table := measuredTable(t)
		table.grid(s)
		s.differences(t)
		s.changes(t)
	}
	for _, l := range leftOut(c) {
		s.wrap("  ", l)
	}
	if c.Population == panel.ThisSuite { // the report of a run prints the other
		s.wrapAs("  ", c.Population.Sentence(), s.dim)
	}
	for _, w := range c.Warnings {
		s.wrap(s.yellow("warning:")+" ", plain.Line(w))
	}
	if c.Undecided != "" {
		s.wrap(s.yellow("inconclusive:")+" ", plain.Line(c.Undecided))
	}
}

// difference is the verdict sentence on one target.
func difference(t *panel.TargetComparison) string {
	name := plain.Line(t.Candidate)
	if t.Baseline != t.Candidate {
		name += " against " + plain.Line(t.Baseline)
	}
	o := &t.Overall
	if o.Cases == 0 {
		if o.Unpaired != nil {
			return name + ": one side has no case with a verdict"
		}
		return name + ": no case was judged in both runs"
	}
	if u := o.Unpaired; u != nil {
		return fmt.Sprintf("%s: %s, %s, from %s to %s, which are not paired", name, o.Verdict, plain.Change(o.Change),
			plain.Count(u[0], "case", "cases"), plain.Thousands(u[1]))
	}
	return fmt.Sprintf("%s: %s, %s over %s; %d newly failing, %d newly passing", name, o.Verdict,
		plain.Change(o.Change),
		plain.Count(o.Cases, "case", "cases"), o.NewlyFailing, o.NewlyPassing)
}

func (s *screen) differences(t *panel.TargetComparison) {
	table := Table{Columns: []Column{
		{Title: "slice"},
		{Title: "cases", Kind: CountColumn},
		{Title: "baseline %", Rank: 1},
		{Title: "now %", Rank: 1},
		{Title: "change"},
		{Title: "p (Holm)", Rank: 2},
	}}
	for i := range t.Slices {
		d := &t.Slices[i]
		p := plain.P(d.P)
		if d.PHolm != nil {
			p = plain.P(*d.PHolm)
		}
		table.Rows = append(table.Rows, []string{
			plain.Line(d.Key) + "=" + plain.Line(d.Value), plain.Thousands(d.Cases),
			bare(&panel.Metric{Interval: d.Baseline}), bare(&panel.Metric{Interval: d.Candidate}), plain.Change(d.Change), p,
		})
	}
	table.grid(s)
}

// maxChanges bounds the lists of changed and of unchanged cases on a terminal.
const maxChanges = 20

func (s *screen) changes(t *panel.TargetComparison) {
	for _, list := range [][]panel.CaseChange{t.Changes, t.Unchanged} {
		for i, c := range list {
			if i == maxChanges {
				s.line("  … and %s more", plain.Thousands(len(list)-i))
				break
			}
			s.wrap("  ", changeText(c))
		}
	}
}

func changeText(c panel.CaseChange) string {
	t := fmt.Sprintf("%-13s %s  %d/%d → %d/%d", className(c.Kind), plain.Line(c.Case), c.BaselinePasses, c.BaselineN,
		c.CandidatePasses, c.CandidateN)
	if c.Stability != "" {
		t += "  " + c.Stability
	}
	return t
}

// leftOut names the cases that the comparison does not cover.
func leftOut(c *panel.Comparison) []string {
	var out []string
	add := func(what string, ids []string) {
		if len(ids) > 0 {
			out = append(out, fmt.Sprintf("%s: %s", what, some(ids, 8)))
		}
	}
	add("only in the baseline", c.OnlyBaseline)
	add("only in this run", c.OnlyCandidate)
	add("changed, not compared", c.Changed)
	add("targets only in the baseline", c.UnpairedBaseline)
	add("targets only in this run", c.UnpairedCandidate)
	for i := range c.Targets {
		if n := len(c.Targets[i].Unjudged); n > 0 {
			out = append(out, fmt.Sprintf("%s: %s without a verdict in one of the runs",
				plain.Line(c.Targets[i].Candidate), plain.Count(n, "case", "cases")))
		}
	}
	return out
}

// some lists the first n of a list and how many are left.
func some(ids []string, n int) string {
	var parts []string
	for i, id := range ids {
		if i == n {
			return strings.Join(parts, ", ") + fmt.Sprintf(" and %d more", len(ids)-n)
		}
		parts = append(parts, plain.Line(id))
	}
	return strings.Join(parts, ", ")
}
