// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package measure_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/measure"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/steps"
	"github.com/callvet/callvet/score"
)

// Config is a run.
type Config struct {
	Targets []callvet.Target
	Tools   []callvet.Tool
	SliceBy []string
}

// collect sums the cells of a run up.
func collect(t *testing.T, cfg Config, cases []callvet.Case, cells ...*callvet.Cell) *panel.Panels {
	t.Helper()
	tools := measure.Catalogue(cfg.Tools, func(yield func(*callvet.Case) bool) {
		for i := range cases {
			if !yield(&cases[i]) {
				return
			}
		}
	})
	set := steps.Config{
		SliceBy: cfg.SliceBy, Tools: tools, Catalogue: len(tools) > 0,
		Families: callvet.FamiliesOf(tools),
	}
	for i := range cfg.Targets {
		set.Targets = append(set.Targets, cfg.Targets[i].Name)
	}
	scorer, _ := score.NewStepScorer(score.StepConfig{Tools: tools})
	source := measure.Source{Name: "run", Attempts: measure.Cells(func(yield func(measure.Row, error) bool) {
		for _, c := range cells {
			if !yield(measure.Row{Case: &cases[c.Case], Cell: c}, nil) {
				return
			}
		}
	}, cfg.Targets, &callvet.Scoring{})}
	res, err := measure.Run(t.Context(), []measure.Source{source}, measure.Config{Steps: set, Scorer: scorer, Jobs: 2})
	if err != nil {
		t.Fatal(err)
	}
	return res.Sheet.Panels()
}

func oneCall(id, tool string, tags ...string) callvet.Case {
	return callvet.Case{
		ID: id, Tags: tags, Input: []callvet.Turn{{Role: callvet.RoleUser, Content: id}},
		Expect: callvet.Expect{Plans: []callvet.Plan{{Calls: []callvet.ExpectedCall{{Tools: []string{tool}}}}}},
	}
}

func noCall(id string) callvet.Case {
	return callvet.Case{ID: id, Expect: callvet.Expect{Plans: []callvet.Plan{{Calls: []callvet.ExpectedCall{}}}}}
}

// attempt makes a cell with a trace that called the tools; the verdict is as given.
func attempt(i, repeat int, v callvet.Verdict, tools ...string) *callvet.Cell {
	c := &callvet.Cell{Case: i, Repeat: repeat}
	c.Trace.Outcome = callvet.OutcomeAbstained
	for _, t := range tools {
		c.Trace.Outcome = callvet.OutcomeCalled
		c.Trace.Turns = append(c.Trace.Turns,
			callvet.Turn{Role: callvet.RoleAssistant, Calls: []callvet.Call{{Tool: t}}})
	}
	c.Trace.Format, c.Trace.WallMS, c.Trace.Attempts = callvet.FormatPass, float64(100+i), 1
	c.Result.Verdict = v
	value := 0.0
	if v == callvet.VerdictPass {
		value = 1
	}
	c.Result.Scores = []callvet.Score{
		{Name: "overall", Value: value, Scored: true},
		{Name: "arg_accuracy", Reason: "no expected arguments"},
	}
	return c
}

func failed(cell *callvet.Cell, class callvet.Class, matches ...callvet.CallMatch) *callvet.Cell {
	cell.Result.Verdict, cell.Result.Class, cell.Result.Calls = callvet.VerdictFail, class, matches
	return cell
}

func errored(i, repeat int) *callvet.Cell {
	c := &callvet.Cell{Case: i, Repeat: repeat}
	c.Trace.Outcome, c.Trace.Fault = callvet.OutcomeError, &callvet.Fault{Kind: callvet.FaultServer}
	c.Result.Verdict, c.Result.Class = callvet.VerdictError, callvet.ClassProvider
	return c
}

func rates(s *panel.Slice) map[string]string {
	m := map[string]string{}
	for _, x := range s.Metrics {
		if x.Unit == panel.UnitRate {
			m[x.Name] = fmt.Sprintf("%.3f of %d in %d", x.Interval.Point, x.Interval.N, x.Interval.Clusters)
		}
	}
	return m
}

func TestPanels(t *testing.T) {
	t.Parallel()
	target := Config{Targets: []callvet.Target{{Name: "m"}}, Tools: []callvet.Tool{{Name: "weather"}, {Name: "maps"}}}
	wrong := callvet.CallMatch{
		State: callvet.StatePartial, Expected: 0, Actual: 0, Want: []string{"weather"},
		Got: "maps",
	}
	for _, tc := range []struct {
		name      string
		cases     []callvet.Case
		cells     []*callvet.Cell
		rates     map[string]string
		verdicts  panel.Verdicts
		confusion []panel.Confused
	}{
		{
			name:  "nothing ran",
			cases: []callvet.Case{oneCall("a", "weather")},
			rates: map[string]string{panel.MetricPass: "0.000 of 0 in 0"},
		},
		{
			name:  "an error is in no mean",
			cases: []callvet.Case{oneCall("a", "weather"), oneCall("b", "weather"), oneCall("c", "weather")},
			cells: []*callvet.Cell{
				attempt(0, 0, callvet.VerdictPass, "weather"), errored(1, 0),
				failed(attempt(2, 0, "", "maps"), callvet.ClassWrongTool, wrong),
			},
			rates: map[string]string{
				panel.MetricPass: "0.500 of 2 in 2", panel.MetricError: "0.333 of 3 in 3",
				panel.MetricUnparseable: "0.000 of 2 in 2", panel.MetricRepaired: "0.000 of 2 in 2",
				panel.MetricNative: "1.000 of 2 in 2", panel.MetricOverCall: "0.000 of 2 in 2",
				"over_call_rate_by_task": "0.000 of 2 in 2", panel.MetricMiss: "0.500 of 2 in 2",
				"overall":                "0.500 of 2 in 2",
				"tool_selection_by_call": "0.500 of 2 in 2", "tool_selection_by_task": "0.500 of 2 in 2",
				"unknown_tool_rate": "0.000 of 2 in 2",
			},
			verdicts: panel.Verdicts{Pass: 1, Fail: 1, Error: 1},
			confusion: []panel.Confused{
				{Expected: "weather", Called: "maps", N: 1},
				{Expected: "weather", Called: "weather", N: 1},
			},
		},
		{
			name:  "calls too many, calls missing, a name from nowhere",
			cases: []callvet.Case{oneCall("a", "weather"), noCall("b"), noCall("c"), oneCall("d", "weather")},
			cells: []*callvet.Cell{
				failed(attempt(0, 0, ""), callvet.ClassMissedCall,
					callvet.CallMatch{State: callvet.StateMissing, Actual: -1, Want: []string{"weather"}}),
				failed(attempt(1, 0, "", "teleport"), callvet.ClassUnknownTool,
					callvet.CallMatch{State: callvet.StateExtra, Expected: -1, Got: "teleport"}),
				attempt(2, 0, callvet.VerdictPass),
				attempt(3, 0, callvet.VerdictPass, "Weather"),
			},
			rates: map[string]string{
				panel.MetricPass: "0.500 of 4 in 4", panel.MetricError: "0.000 of 4 in 4",
				panel.MetricUnparseable: "0.000 of 4 in 4", panel.MetricRepaired: "0.000 of 4 in 4",
				panel.MetricNative: "1.000 of 4 in 4", panel.MetricOverCall: "0.500 of 2 in 2",
				"over_call_rate_by_task": "0.250 of 4 in 4", panel.MetricMiss: "0.500 of 2 in 2",
				panel.MetricAbstention: "0.500 of 2 in 2", "overall": "0.500 of 4 in 4",
				"repaired_rate_by_call": "0.000 of 1 in 1", "schema_valid_by_call": "0.000 of 1 in 1",
				"schema_valid_by_task":   "0.000 of 1 in 1",
				"tool_selection_by_call": "0.500 of 2 in 2", "tool_selection_by_task": "0.500 of 2 in 2",
				"unknown_tool_rate": "0.500 of 2 in 2",
			},
			verdicts: panel.Verdicts{Pass: 2, Fail: 2},
			confusion: []panel.Confused{
				{Expected: panel.None, Called: panel.None, N: 1},
				{Expected: panel.None, Called: panel.Unknown, N: 1},
				{Expected: "Weather", Called: "Weather", N: 1},
				{Expected: "weather", Called: panel.None, N: 1},
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := collect(t, target, tc.cases, tc.cells...)
			got := p.Targets[0]
			if d := cmp.Diff(tc.rates, rates(&got.Overall)); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(tc.verdicts, got.Overall.Verdicts); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(tc.confusion, slices.Clip(got.Confusion)); d != "" &&
				len(tc.confusion)+len(got.Confusion) > 0 {
				t.Error(d)
			}
			if b, err := json.Marshal(p); err != nil || strings.Contains(string(b), "NaN") {
				t.Errorf("%s: %v", b, err)
			}
		})
	}
}

func TestUnparseableIsNoAbstention(t *testing.T) {
	t.Parallel()
	cell := attempt(0, 0, callvet.VerdictFail)
	cell.Trace.Outcome, cell.Result.Class = callvet.OutcomeUnparseable, callvet.ClassUnparseable
	p := collect(t, Config{Targets: []callvet.Target{{Name: "m"}}}, []callvet.Case{noCall("a")}, cell)
	if m := p.Targets[0].Overall.Metric(panel.MetricAbstention); m == nil || m.Interval.Point != 0 ||
		m.Interval.N != 1 {
		t.Errorf("abstention %+v", m)
	}
	if d := cmp.Diff([]panel.Confused{{Expected: panel.None, Called: panel.Unreadable, N: 1}},
		p.Targets[0].Confusion); d != "" {
		t.Error(d)
	}
}

// TestUnneededCalls: calls in addition to the expected one are unneeded, whatever name an older
// version gave its score.
func TestUnneededCalls(t *testing.T) {
	t.Parallel()
	cell := attempt(0, 0, callvet.VerdictPass, "login", "weather", "weather", "weather")
	for _, name := range []string{"over_call", "overcall"} { // the second is that of older results
		cell.Result.Scores = []callvet.Score{
			{Name: name, Value: 0.25, Scored: true},
			{Name: "miss", Value: 0, Scored: true},
		}
		p := collect(t, Config{Targets: []callvet.Target{{Name: "m"}}}, []callvet.Case{oneCall("a", "weather")}, cell)
		if m := p.Targets[0].Overall.Metric(panel.MetricOverCall); m.Interval.Point != 0.75 || m.Interval.N != 4 {
			t.Errorf("%s: %+v", name, m)
		}
		if m := p.Targets[0].Overall.Metric("over_call"); m == nil || m.Interval.Point != 0.25 {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

func TestPrerequisitesAreNeeded(t *testing.T) {
	t.Parallel()
	c := oneCall("a", "book")
	c.MultiTurn = &callvet.MultiTurn{ValidPrerequisites: []string{"search"}}
	p := collect(t, Config{Targets: []callvet.Target{{Name: "m"}}}, []callvet.Case{c},
		attempt(0, 0, callvet.VerdictPass, "search", "book"))
	if m := p.Targets[0].Overall.Metric(panel.MetricOverCall); m.Interval.Point != 0 || m.Interval.N != 2 {
		t.Errorf("%+v", m)
	}
	if d := cmp.Diff([]panel.Confused{
		{Expected: "book", Called: "book", N: 1},
		{Expected: "search", Called: "search", N: 1},
	}, p.Targets[0].Confusion); d != "" {
		t.Error(d)
	}
}

func TestRepeatsAreClusters(t *testing.T) {
	t.Parallel()
	var cases []callvet.Case
	var cells []*callvet.Cell
	for i := range 10 {
		cases = append(cases, oneCall(fmt.Sprint("c", i), "weather", "all", "half"))
		if i%2 == 1 {
			cases[i].Tags = []string{"all"}
		}
		for r := range 4 {
			v := callvet.VerdictPass
			if i < 3 || (i == 3 && r > 1) {
				v = callvet.VerdictFail
			}
			cells = append(cells, attempt(i, r, v, "weather"))
		}
	}
	cfg := Config{Targets: []callvet.Target{{Name: "m"}}}
	want := collect(t, cfg, cases, cells...)
	s := &want.Targets[0].Overall
	if m := s.Metric(panel.MetricPass); m.Interval.N != 40 || m.Interval.Clusters != 10 || m.Interval.NEff >= 40 {
		t.Errorf("pass %+v", m.Interval)
	}
	if m := s.Metric("pass^4"); m == nil || math.Abs(m.Interval.Point-0.6) > 1e-12 {
		t.Errorf("pass^4 %+v", m)
	}
	if m := s.Metric("pass@4"); m == nil || math.Abs(m.Interval.Point-0.7) > 1e-12 {
		t.Errorf("pass@4 %+v", m)
	}
	if len(want.Targets[0].Slices) != 1 || want.Targets[0].Slices[0].Value != "half" {
		t.Errorf("slices %+v", want.Targets[0].Slices)
	}
	r := rand.New(rand.NewPCG(3, 4))
	r.Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
	again := collect(t, cfg, cases, cells...)
	for _, p := range []*panel.Panels{want, again} { // the first examples of another order are others
		for i := range p.Findings {
			p.Findings[i].Examples = nil
		}
	}
	a, _ := json.Marshal(want)
	b, _ := json.Marshal(again)
	if d := cmp.Diff(string(a), string(b)); d != "" {
		t.Errorf("the order of attempts shows: %s", d)
	}
}

func TestTimeoutsAreSlow(t *testing.T) {
	t.Parallel()
	var cases []callvet.Case
	var cells []*callvet.Cell
	for i := range 40 {
		cases = append(cases, oneCall(fmt.Sprint(i), "weather"))
		c := attempt(i, 0, callvet.VerdictPass, "weather")
		if i >= 32 {
			c = errored(i, 0)
			c.Trace.Fault.Kind, c.Trace.WallMS = callvet.FaultTimeout, 30000
		}
		cells = append(cells, c)
	}
	p := collect(t, Config{Targets: []callvet.Target{{Name: "m"}}}, cases, cells...)
	s := &p.Targets[0].Overall
	if m := s.Metric(panel.MetricLatencyP90); m.Interval.Status != "censored" || m.Interval.Point != 30000 {
		t.Errorf("p90 %+v", m)
	}
	if len(s.Warnings) == 0 || !strings.Contains(s.Warnings[0], "inconclusive") {
		t.Errorf("warnings %q", s.Warnings)
	}
}

// TestUnknownIsNotInapplicable: an attempt without a value of a score counts as unknown if it could
// have one, and not if the score does not apply to its case.
func TestUnknownIsNotInapplicable(t *testing.T) {
	t.Parallel()
	var cases []callvet.Case
	var cells []*callvet.Cell
	for i := range 30 {
		c := oneCall(fmt.Sprint("c", i), "f")
		if i < 10 {
			c = noCall(c.ID)
		}
		cases = append(cases, c)
		cell := attempt(i, 0, callvet.VerdictPass, "f")
		switch {
		case i < 10:
			cell = attempt(i, 0, callvet.VerdictPass)
		case i < 25: // the rest asserts no arguments
			cell.Result.Scores = append(cell.Result.Scores, callvet.Score{Name: "arg_em", Value: 1, Scored: true})
		}
		if i == 29 {
			cell.Result.Scores = append(cell.Result.Scores,
				callvet.Score{Name: "grounded_args", Reason: "not recorded"})
		}
		cells = append(cells, cell)
	}
	s := collect(t, Config{Targets: make([]callvet.Target, 1)}, cases, cells...).Targets[0].Overall
	if m := s.Metric("arg_em"); m == nil || m.Interval.N != 15 || m.Excluded != 15 || m.Unknown != 5 {
		t.Errorf("%+v", m)
	}
}

// TestBudgets: the promises of tools' contracts are compared with the attempts of a run.
func TestBudgets(t *testing.T) {
	t.Parallel()
	mid, budget := 100.0, 500.0
	tools := []callvet.Tool{
		{Name: "Weather", LatencyP50MS: &mid, LatencyBudgetMS: &budget},
		{Name: "pay", RateLimit: &callvet.RateLimit{Calls: 2, PerSeconds: 60}},
	}
	var cases []callvet.Case
	var cells []*callvet.Cell
	for i := range 60 {
		cases = append(cases, oneCall(fmt.Sprint(i), "weather"))
		c := attempt(i, 0, callvet.VerdictPass)
		c.Trace.Turns = []callvet.Turn{{Role: callvet.RoleAssistant, Calls: []callvet.Call{
			{Tool: "weather", Status: callvet.StatusOK, ExecMS: float64(20 * (i + 1))},
			{Tool: "weather"}, // not executed
			{Tool: "pay", Status: callvet.StatusExecErr, Result: []byte(`{"error":{"status":429}}`), ExecMS: 1},
			{Tool: "pay", Status: callvet.StatusOK, ExecMS: 1},
		}}}
		if i == 59 {
			c.Trace.Turns[0].Calls[0] = callvet.Call{Tool: "weather", Status: callvet.StatusTimeout}
		}
		cells = append(cells, c)
	}
	s := &collect(t, Config{Targets: []callvet.Target{{Name: "m"}}, Tools: tools}, cases, cells...).Targets[0].Overall
	got := rates(s)
	want := map[string]string{
		panel.MetricInBudget: "0.417 of 60 in 60", panel.MetricInP50: "0.083 of 60 in 60",
		panel.MetricRateLimited: "0.333 of 180 in 60",
	}
	for name, rate := range want {
		if d := cmp.Diff(rate, got[name]); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	for name, text := range map[string]string{
		panel.MetricInBudget: "budget exceeded: it is for 90 % of the executions",
		panel.MetricInP50:    "budget exceeded: it is for 50 %",
	} {
		if w := strings.Join(s.Metric(name).Warnings, "; "); !strings.Contains(w, text) {
			t.Errorf("%s: %q", name, w)
		}
	}
	notes := panel.BudgetNotes(tools, &cases[39], &cells[39].Trace)
	if d := cmp.Diff([]string{
		"Weather: 1 execution took longer than the latency budget of 500 ms",
		"Weather: 1 execution took longer than the 100 ms that half should stay below",
		"pay: 1 call was refused because of the rate limit of 2 in 60 s",
	}, notes); d != "" {
		t.Error(d)
	}
	// A case with its own tools has none of the suite's contracts.
	cases[0].Tools = []callvet.Tool{{Name: "weather"}}
	if m := collect(t, Config{Targets: []callvet.Target{{Name: "m"}}, Tools: tools}, cases[:1],
		cells[0]).Targets[0].Overall.Metric(panel.MetricInBudget); m != nil {
		t.Errorf("%+v", m)
	}
}

// findingsOf returns the findings of a kind in short.
func findingsOf(p *panel.Panels, kind string) []string {
	var out []string
	for _, f := range p.Findings {
		if !strings.HasPrefix(f.Code, kind) {
			continue
		}
		out = append(out, fmt.Sprintf("%s: %d of %d, %.2f", f.Code, f.Count, f.Of, f.Share))
		out = append(out, f.Evidence...)
		for _, e := range f.Examples {
			out = append(out, fmt.Sprintf("see %s %s %s", e.Target, e.Task, e.Why))
		}
	}
	return out
}

// TestSymptoms: a run shows the common issues, with their evidence and a remedy.
func TestSymptoms(t *testing.T) {
	t.Parallel()
	silent := func(i int, choice string) *callvet.Cell {
		c := failed(attempt(i, 0, ""), callvet.ClassMissedCall,
			callvet.CallMatch{State: callvet.StateMissing, Actual: -1, Want: []string{"weather"}})
		c.Trace.ToolChoice = choice
		return c
	}
	called := func(i int, choice string, em float64) *callvet.Cell {
		c := attempt(i, 0, callvet.VerdictPass, "weather")
		c.Trace.ToolChoice = choice
		c.Result.Scores = []callvet.Score{
			{Name: "tool_selection", Value: 1, Scored: true},
			{Name: "arg_em", Value: em, Scored: true},
		}
		if em < 1 {
			failed(c, callvet.ClassWrongArgs,
				callvet.CallMatch{
					State: callvet.StatePartial, Want: []string{"weather"}, Got: "weather",
					Args: []callvet.ArgDiff{
						{Path: "city", Expected: json.RawMessage(`"Lisbon"`), Actual: json.RawMessage(`"Lisboa"`)},
						{Path: "days", Matched: true},
					},
				})
		}
		return c
	}
	with := func(c *callvet.Cell, edit func(*callvet.Trace)) *callvet.Cell {
		edit(&c.Trace)
		return c
	}
	mended := func(tr *callvet.Trace) {
		tr.Format, tr.Repairs, tr.Turns[0].Calls[0].Repairs = callvet.FormatNormalized, []string{"in_name"},
			[]string{"in_name", "fenced"}
	}
	untaken := func(tr *callvet.Trace) { tr.Omitted = []string{"tool_choice"} }
	for _, c := range []struct {
		name  string
		cells []*callvet.Cell
		want  []string
	}{
		{"text under auto", []*callvet.Cell{silent(0, "auto"), silent(1, "auto"), called(2, "auto", 1)}, []string{
			"T1: 2 of 3, 1.00", "see m c0 ", "see m c1 ",
		}},
		{
			"text now and then is what models do",
			[]*callvet.Cell{silent(0, "auto"), called(1, "auto", 1), called(2, "auto", 1)},
			nil,
		},
		{"none is asked for text", []*callvet.Cell{silent(0, "none"), silent(1, "none")}, nil},
		{"an older trace without a decision", []*callvet.Cell{silent(0, ""), silent(1, "")}, nil},
		{
			"wrong values everywhere",
			[]*callvet.Cell{called(0, "auto", 0), called(1, "auto", 0), called(2, "auto", 0)},
			[]string{
				"T2: 3 of 3, 1.00", "weather.city (3)",
				"see m c0 weather.city", "see m c1 weather.city", "see m c2 weather.city",
			},
		},
		{
			"wrong values now and then",
			[]*callvet.Cell{called(0, "auto", 0), called(1, "auto", 0), called(2, "auto", 1)},
			nil,
		},
		{
			"mended calls",
			[]*callvet.Cell{with(called(0, "auto", 1), mended), called(1, "auto", 1), silent(2, "none")},
			[]string{
				"T3: 1 of 3, 0.00", "fenced (1), in_name (1)", "see m c0 in an attempt that passed",
			},
		},
		{
			"required is refused or ignored",
			[]*callvet.Cell{with(called(0, "auto", 1), untaken), silent(1, "required"), called(2, "required", 1)},
			[]string{
				"T4: 2 of 3, 1.00", "see m c1 ",
			},
		},
		{"errors are no silence", []*callvet.Cell{errored(0, 0), errored(1, 0)}, []string{
			"T9: 2 of 2, 0.00", "server (2)", "see m c0 server", "see m c1 server",
		}},
	} {
		cases := []callvet.Case{oneCall("c0", "weather"), oneCall("c1", "weather"), oneCall("c2", "weather")}
		got := collect(t, Config{Targets: []callvet.Target{{Name: "m"}, {Name: "floor", Floor: true}}},
			cases, c.cells...)
		if d := cmp.Diff(c.want, findingsOf(got, "T")); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
		for _, f := range got.Findings {
			if p := panel.Playbook(f.Code); f.Title != p.Title || f.Test == "" || f.Fix == "" {
				t.Errorf("%s: %+v", c.name, f)
			}
		}
	}
}

// TestContractFindings: runs report the tools that exceed their budgets and limits, as traces do.
func TestContractFindings(t *testing.T) {
	t.Parallel()
	budget := 500.0
	tools := []callvet.Tool{
		{Name: "weather", LatencyBudgetMS: &budget},
		{Name: "pay", RateLimit: &callvet.RateLimit{Calls: 1, PerSeconds: 60}},
	}
	cell := attempt(0, 0, callvet.VerdictPass, "weather")
	cell.Trace.Turns[0].Calls = []callvet.Call{
		{Tool: "weather", Status: callvet.StatusOK, ExecMS: 900},
		{Tool: "weather", Status: callvet.StatusOK, ExecMS: 100},
		{Tool: "pay", Status: callvet.StatusOK},
		{Tool: "pay", Status: callvet.StatusOK},
		{Tool: "pay", Status: callvet.StatusExecErr, Error: "429 too many requests"},
	}
	got := findingsOf(collect(t, Config{Targets: []callvet.Target{{Name: "m"}}, Tools: tools},
		[]callvet.Case{oneCall("a", "weather")}, cell), "B")
	want := []string{
		"B2: 2 of 5, 0.00", "1 of 5 executed calls were refused (20.00 %)",
		"1 call that was not refused is more than the limits allow in the time of their attempts",
		"pay: 2 calls, its limit is 1 in 60 s", "see m a pay, in an attempt that passed",
		"see m a pay, in an attempt that passed",
		"B1: 1 of 2, 0.00", "weather: 1 of 2 executions took longer than 500 ms (50.0 %, and the budget allows 10 %)",
		"see m a weather, in an attempt that passed",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestDecisionsInPanels(t *testing.T) {
	t.Parallel()
	layers := []callvet.LayerTime{{Layer: callvet.SelectRoute}, {Layer: callvet.SelectTools}}
	cases := []callvet.Case{
		{ID: "1", Expect: callvet.Expect{Selection: &callvet.Selection{Route: "action", Tools: []string{"a"}}}},
		{ID: "2", Expect: callvet.Expect{Selection: &callvet.Selection{Route: "smalltalk", Tools: []string{}}}},
		{ID: "3", Expect: callvet.Expect{Selection: &callvet.Selection{Tools: []string{"a", "b"}}}},
	}
	decisions := []callvet.Decision{
		{Route: "knowledge", Tools: []callvet.Ranked{{Tool: "b"}, {Tool: "a"}}, Layers: layers},
		{Route: "smalltalk", Abstained: true, Layers: layers},
		{Tools: []callvet.Ranked{{Tool: "b"}}, Layers: layers},
	}
	var cells []*callvet.Cell
	for i := range cases {
		tr := callvet.Trace{CaseID: cases[i].ID, Decision: &decisions[i]}
		tr.Classify("")
		cells = append(cells, &callvet.Cell{
			Case: i, Trace: tr,
			Result: score.JudgeSelection(cases[i].Expect.Selection, &decisions[i], score.SelectionDefaults()),
		})
	}
	tp := collect(t, Config{Targets: []callvet.Target{{Name: "r", Selects: true}}}, cases, cells...).Targets[0]
	for name, want := range map[string]float64{
		panel.MetricPass: 2. / 3, score.Route: .5, score.MRR: .75,
		score.HitAt + "1": .5, score.SelectionAbstention: 1, score.ToolsBlocked: -1,
	} {
		m := tp.Overall.Metric(name)
		if want < 0 {
			if m != nil {
				t.Errorf("%s = %v", name, m.Interval.Point)
			}
			continue
		}
		if m == nil || m.Interval.Point != want {
			t.Errorf("%s = %+v, want %v", name, m, want)
		}
	}
	for _, name := range []string{panel.MetricNative, panel.MetricOverCall, panel.MetricMiss} {
		if tp.Overall.Metric(name) != nil {
			t.Errorf("%s has a value for a target that makes no calls", name)
		}
	}
	if diff := cmp.Diff([]panel.Confused{
		{Expected: "action", Called: "knowledge", N: 1},
		{Expected: "smalltalk", Called: "smalltalk", N: 1},
	}, tp.Routes); diff != "" {
		t.Error(diff)
	}
	want := []panel.Confused{
		{Expected: panel.None, Called: panel.None, N: 1},
		{Expected: "a", Called: "b", N: 1},
		{Expected: "b", Called: "b", N: 1},
	}
	sort := func(x, y panel.Confused) int {
		return slices.Compare([]string{x.Expected, x.Called}, []string{y.Expected, y.Called})
	}
	slices.SortFunc(want, sort)
	slices.SortFunc(tp.Confusion, sort)
	if diff := cmp.Diff(want, tp.Confusion); diff != "" {
		t.Error(diff)
	}
	if !panel.Describe(score.FalseAbstention).LowerIsBetter || panel.Describe("ndcg@10").Title != "nDCG@10" {
		t.Error("the panel does not know the scores of decisions")
	}
}

// Repeats of a search with equal results contain no more evidence than one.
func TestRepeatsOfASearch(t *testing.T) {
	t.Parallel()
	upper := func(provider string, repeats int) float64 {
		cases := make([]callvet.Case, 30)
		for i := range cases {
			cases[i] = callvet.Case{
				ID:     string(rune('a' + i)),
				Expect: callvet.Expect{Selection: &callvet.Selection{Tools: []string{"x"}}},
			}
		}
		var cells []*callvet.Cell
		for i := range cases {
			for k := range repeats {
				d := callvet.Decision{
					Tools:  []callvet.Ranked{{Tool: "y"}},
					Layers: []callvet.LayerTime{{Layer: callvet.SelectTools}},
				}
				cells = append(cells,
					&callvet.Cell{
						Case: i, Repeat: k,
						Trace:  callvet.Trace{Decision: &d, Outcome: callvet.OutcomeCalled},
						Result: score.JudgeSelection(cases[i].Expect.Selection, &d, score.SelectionDefaults()),
					})
			}
		}
		return collect(t, Config{Targets: []callvet.Target{{Name: "r", Selects: true, Provider: provider}}}, cases,
			cells...).Targets[0].Overall.Metric(score.ToolsRight).Interval.Upper
	}
	once, often, service := upper("retrieve", 1), upper("retrieve", 3), upper("retrieve:host", 3)
	if once != often || service != once {
		t.Errorf("once %v, three times %v, of a service %v", once, often, service)
	}
}
