// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/google/go-cmp/cmp"
)

func oneCall(id, tool string, tags ...string) callvet.Case {
	return callvet.Case{
		ID: id, Tags: tags, Input: []callvet.Turn{{Role: callvet.RoleUser, Content: id}},
		Expect: callvet.Expect{Plans: []callvet.Plan{{Calls: []callvet.ExpectedCall{{Tools: []string{tool}}}}}},
	}
}

func noCall(id string) callvet.Case {
	return callvet.Case{ID: id, Expect: callvet.Expect{Plans: []callvet.Plan{{Calls: []callvet.ExpectedCall{}}}}}
}

// attempt makes a cell whose trace called the tools; the verdict is as given.
func attempt(i, repeat int, v callvet.Verdict, tools ...string) *callvet.Cell {
	c := &callvet.Cell{Case: i, Repeat: repeat}
	c.Trace.Outcome = callvet.OutcomeAbstained
	for _, t := range tools {
		c.Trace.Outcome = callvet.OutcomeCalled
		c.Trace.Turns = append(c.Trace.Turns, callvet.Turn{Role: callvet.RoleAssistant, Calls: []callvet.Call{{Tool: t}}})
	}
	c.Trace.Format, c.Trace.WallMS, c.Trace.Attempts = callvet.FormatPass, float64(100+i), 1
	c.Result.Verdict = v
	value := 0.0
	if v == callvet.VerdictPass {
		value = 1
	}
	c.Result.Scores = []callvet.Score{{Name: "overall", Value: value, Scored: true}, {Name: "arg_accuracy", Reason: "no expected arguments"}}
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

func pointers(cases []callvet.Case) func(yield func(*callvet.Case) bool) {
	return func(yield func(*callvet.Case) bool) {
		for i := range cases {
			if !yield(&cases[i]) {
				return
			}
		}
	}
}

func collect(cfg Config, cases []callvet.Case, cells ...*callvet.Cell) *Panels {
	a := New(cfg, pointers(cases))
	for _, c := range cells {
		a.Add(&cases[c.Case], c)
	}
	return a.Panels()
}

func rates(s *Slice) map[string]string {
	m := map[string]string{}
	for _, x := range s.Metrics {
		if x.Unit == UnitRate {
			m[x.Name] = fmt.Sprintf("%.3f of %d in %d", x.Interval.Point, x.Interval.N, x.Interval.Clusters)
		}
	}
	return m
}

func TestPanels(t *testing.T) {
	t.Parallel()
	target := Config{Targets: []callvet.Target{{Name: "m"}}, Tools: []callvet.Tool{{Name: "weather"}, {Name: "maps"}}}
	wrong := callvet.CallMatch{State: callvet.StatePartial, Expected: 0, Actual: 0, Want: []string{"weather"}, Got: "maps"}
	for _, tc := range []struct {
		name      string
		cases     []callvet.Case
		cells     []*callvet.Cell
		rates     map[string]string
		verdicts  Verdicts
		confusion []Confused
	}{
		{
			name:  "nothing ran",
			cases: []callvet.Case{oneCall("a", "weather")},
			rates: map[string]string{MetricPass: "0.000 of 0 in 0"},
		},
		{
			name:  "an error is in no mean",
			cases: []callvet.Case{oneCall("a", "weather"), oneCall("b", "weather"), oneCall("c", "weather")},
			cells: []*callvet.Cell{attempt(0, 0, callvet.VerdictPass, "weather"), errored(1, 0), failed(attempt(2, 0, "", "maps"), callvet.ClassWrongTool, wrong)},
			rates: map[string]string{
				MetricPass: "0.500 of 2 in 2", MetricError: "0.333 of 3 in 3", MetricUnparseable: "0.000 of 2 in 2", MetricRepaired: "0.000 of 2 in 2",
				MetricNative: "1.000 of 2 in 2", MetricOverCall: "0.000 of 2 in 2", MetricMiss: "0.000 of 2 in 2", "overall": "0.500 of 2 in 2",
			},
			verdicts:  Verdicts{Pass: 1, Fail: 1, Error: 1},
			confusion: []Confused{{"weather", "maps", 1}, {"weather", "weather", 1}},
		},
		{
			name:  "calls too many, calls missing, a name from nowhere",
			cases: []callvet.Case{oneCall("a", "weather"), noCall("b"), noCall("c"), oneCall("d", "weather")},
			cells: []*callvet.Cell{
				failed(attempt(0, 0, ""), callvet.ClassMissedCall, callvet.CallMatch{State: callvet.StateMissing, Actual: -1, Want: []string{"weather"}}),
				failed(attempt(1, 0, "", "teleport"), callvet.ClassToolHalluc, callvet.CallMatch{State: callvet.StateExtra, Expected: -1, Got: "teleport"}),
				attempt(2, 0, callvet.VerdictPass),
				attempt(3, 0, callvet.VerdictPass, "Weather"),
			},
			rates: map[string]string{
				MetricPass: "0.500 of 4 in 4", MetricError: "0.000 of 4 in 4", MetricUnparseable: "0.000 of 4 in 4", MetricRepaired: "0.000 of 4 in 4",
				MetricNative: "1.000 of 4 in 4", MetricOverCall: "0.500 of 2 in 2", MetricMiss: "0.500 of 2 in 2", MetricAbstention: "0.500 of 2 in 2", "overall": "0.500 of 4 in 4",
			},
			verdicts:  Verdicts{Pass: 2, Fail: 2},
			confusion: []Confused{{None, None, 1}, {None, Unknown, 1}, {"weather", None, 1}, {"weather", "weather", 1}},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := collect(target, tc.cases, tc.cells...)
			got := p.Targets[0]
			if d := cmp.Diff(tc.rates, rates(&got.Overall)); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(tc.verdicts, got.Overall.Verdicts); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(tc.confusion, slices.Clip(got.Confusion)); d != "" && len(tc.confusion)+len(got.Confusion) > 0 {
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
	p := collect(Config{Targets: []callvet.Target{{Name: "m"}}}, []callvet.Case{noCall("a")}, cell)
	if m := p.Targets[0].Overall.Metric(MetricAbstention); m == nil || m.Interval.Point != 0 || m.Interval.N != 1 {
		t.Errorf("abstention %+v", m)
	}
	if d := cmp.Diff([]Confused{{None, Unreadable, 1}}, p.Targets[0].Confusion); d != "" {
		t.Error(d)
	}
}

func TestScorerDecidesWhatIsUnneeded(t *testing.T) {
	t.Parallel()
	cell := attempt(0, 0, callvet.VerdictPass, "login", "weather", "weather", "weather")
	for _, name := range []string{"over_call", "overcall"} { // the second is that of older results
		cell.Result.Scores = []callvet.Score{{Name: name, Value: 0.25, Scored: true}, {Name: "miss", Value: 0, Scored: true}}
		p := collect(Config{Targets: []callvet.Target{{Name: "m"}}}, []callvet.Case{oneCall("a", "weather")}, cell)
		if m := p.Targets[0].Overall.Metric(MetricOverCall); m.Interval.Point != 0.25 || m.Interval.N != 4 {
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
	p := collect(Config{Targets: []callvet.Target{{Name: "m"}}}, []callvet.Case{c}, attempt(0, 0, callvet.VerdictPass, "search", "book"))
	if m := p.Targets[0].Overall.Metric(MetricOverCall); m.Interval.Point != 0 || m.Interval.N != 2 {
		t.Errorf("%+v", m)
	}
	if d := cmp.Diff([]Confused{{"book", "book", 1}}, p.Targets[0].Confusion); d != "" {
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
	cfg := Config{Targets: []callvet.Target{{Name: "m"}}, Repeats: 4}
	want := collect(cfg, cases, cells...)
	s := &want.Targets[0].Overall
	if m := s.Metric(MetricPass); m.Interval.N != 40 || m.Interval.Clusters != 10 || m.Interval.NEff >= 40 {
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
	again := collect(cfg, cases, append(cells, cells[:5]...)...)
	if again.Duplicates != 5 {
		t.Errorf("%d duplicates", again.Duplicates)
	}
	again.Duplicates, again.Warnings = 0, nil
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
	p := collect(Config{Targets: []callvet.Target{{Name: "m"}}}, cases, cells...)
	s := &p.Targets[0].Overall
	if m := s.Metric(MetricLatencyP90); m.Interval.Status != "censored" || m.Interval.Point != 30000 {
		t.Errorf("p90 %+v", m)
	}
	if len(s.Warnings) == 0 || !strings.Contains(s.Warnings[0], "inconclusive") {
		t.Errorf("warnings %q", s.Warnings)
	}
}

// TestTwins: a tag that says what a field says has no table of its own, unless
// tags were asked for.
func TestTwins(t *testing.T) {
	t.Parallel()
	var cases []callvet.Case
	for i := range 20 {
		c := oneCall(fmt.Sprintf("c%02d", i), "weather", []string{"es-AR", "pt-BR"}[i%2])
		c.Fields = map[string]string{"language": c.Tags[0]}
		if i < 9 {
			c.Tags = append(c.Tags, "hard")
		}
		c.Fields["difficulty"] = "hard" // of all
		cases = append(cases, c)
	}
	for _, tc := range []struct {
		by   []string
		want string
	}{{nil, "language=es-AR language=pt-BR tag=hard"}, {[]string{"language", "tag"}, "language=es-AR language=pt-BR tag=es-AR tag=hard tag=pt-BR"}} {
		a := New(Config{Targets: []callvet.Target{{Name: "m"}}, SliceBy: tc.by}, pointers(cases))
		l := NewLedger("A", []string{"m"}, tc.by)
		for i := range cases {
			a.Add(&cases[i], attempt(i, 0, callvet.VerdictPass, "weather"))
			l.Add(&cases[i], attempt(i, 0, callvet.VerdictPass, "weather"))
		}
		var tables, differences []string
		for _, s := range a.Panels().Targets[0].Slices {
			tables = append(tables, s.Key+"="+s.Value)
		}
		for _, s := range Diff(l, l, 0).Targets[0].Slices {
			differences = append(differences, s.Key+"="+s.Value)
		}
		if got := strings.Join(tables, " "); got != tc.want {
			t.Errorf("tables by %v: %s", tc.by, got)
		}
		if got := strings.Join(differences, " "); got != tc.want {
			t.Errorf("differences by %v: %s", tc.by, got)
		}
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	var cases []callvet.Case
	for i := range 20 {
		c := oneCall(fmt.Sprintf("c%02d", i), "weather")
		c.Fields = map[string]string{"category": []string{"x", "y"}[i%2]}
		cases = append(cases, c)
	}
	ledger := func(run string, cases []callvet.Case, fails ...int) *Ledger {
		l := NewLedger(run, []string{"m"}, nil)
		for i := range cases {
			v := callvet.VerdictPass
			if slices.Contains(fails, i) {
				v = callvet.VerdictFail
			}
			l.Add(&cases[i], attempt(i, 0, v, "weather"))
		}
		return l
	}
	changed := slices.Clone(cases[1:])
	changed[18].Input = []callvet.Turn{{Role: callvet.RoleUser, Content: "another question"}}
	d := Diff(ledger("A", cases, 5), ledger("B", changed, 0, 1, 2, 3, 5, 6, 8), 0)
	if d := cmp.Diff([]string{"c00"}, d.OnlyBaseline); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"c19"}, d.Changed); d != "" {
		t.Error(d)
	}
	o := d.Targets[0].Overall
	if o.Cases != 18 || o.NewlyFailing != 7 || o.NewlyPassing != 1 || o.Test != "mcnemar_midp" || o.Verdict != ChangeWorse {
		t.Errorf("overall %+v", o)
	}
	if math.Abs(o.Change.Point+6.0/18) > 1e-12 || o.Change.Upper >= 0 {
		t.Errorf("change %+v", o.Change)
	}
	var kinds []string
	for _, c := range d.Targets[0].Changes {
		kinds = append(kinds, c.Case+" "+c.Kind)
	}
	if len(kinds) != 8 || kinds[0] != "c01 newly_failing" || kinds[7] != "c05 newly_passing" {
		t.Errorf("changes %q", kinds)
	}
	if len(d.Targets[0].Slices) != 2 || *d.Targets[0].Slices[0].PHolm < d.Targets[0].Slices[0].P {
		t.Errorf("slices %+v", d.Targets[0].Slices)
	}
	same := Diff(ledger("A", cases, 5), ledger("B", cases, 5), 0).Targets[0].Overall
	if same.P != 1 || same.Verdict != ChangeUnclear || same.Change.Lower >= 0 || same.Change.Upper <= 0 {
		t.Errorf("identical runs: %+v", same)
	}
	if _, err := json.Marshal(d); err != nil {
		t.Error(err)
	}
}

func TestMemoryStaysFlat(t *testing.T) {
	const n = 100_000
	c := oneCall("a", "weather", "t1", "t2")
	c.Fields = map[string]string{"category": "x", "language": "es"}
	cell := attempt(0, 0, callvet.VerdictPass, "weather")
	for _, name := range []string{"tool_selection", "arg_em", "arg_f1", "schema_valid", "completion"} {
		cell.Result.Scores = append(cell.Result.Scores, callvet.Score{Name: name, Value: 0.5, Scored: true})
	}
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	a := New(Config{Targets: []callvet.Target{{Name: "m"}}}, func(yield func(*callvet.Case) bool) {
		for range n {
			if !yield(&c) {
				return
			}
		}
	})
	for i := range n {
		cell.Case = i
		a.Add(&c, cell)
	}
	if grown := int64(heap()) - int64(before); grown > 8<<20 {
		t.Errorf("%d bytes for %d cases", grown, n)
	}
	if m := a.Panels().Targets[0].Overall.Metric(MetricPass); m.Interval.N != n {
		t.Errorf("%+v", m)
	}
}

// BenchmarkAdd takes an attempt with 25 scores at a case of four slices.
func BenchmarkAdd(b *testing.B) {
	a, c, cell := benched(100)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		cell.Case = i % 100
		a.Add(c, cell)
		i++
		if i%100 == 0 {
			a, c, cell = benched(100)
		}
	}
}

// BenchmarkPanels makes all tables of a run of 100,000 attempts.
func BenchmarkPanels(b *testing.B) {
	a, c, cell := benched(100_000)
	for i := range 100_000 {
		cell.Case, cell.Trace.WallMS = i, float64(i%977)+1
		a.Add(c, cell)
	}
	for b.Loop() {
		a.Panels()
	}
}

func benched(n int) (*Accumulator, *callvet.Case, *callvet.Cell) {
	c := oneCall("a", "weather", "t1", "t2")
	c.Fields = map[string]string{"category": "x", "language": "es"}
	other := oneCall("b", "weather")
	cell := attempt(0, 0, callvet.VerdictPass, "weather")
	for i := range 25 {
		cell.Result.Scores = append(cell.Result.Scores, callvet.Score{Name: fmt.Sprint("score_", i), Value: 0.5, Scored: true})
	}
	a := New(Config{Targets: []callvet.Target{{Name: "m"}}}, func(yield func(*callvet.Case) bool) {
		for range n - 1 {
			if !yield(&c) {
				return
			}
		}
		yield(&other)
	})
	return a, &c, cell
}
