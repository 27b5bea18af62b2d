// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/internal/mcp"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/stats"
)

// TestDirectedByEach: a target names itself where its requests go with any of these, and not with a model alone.
func TestDirectedByEach(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]TargetSpec{
		"address":    {Target: "openai/m", BaseURL: "http://a.example"},
		"key":        {Target: "openai/m", APIKeyEnv: "K"},
		"header":     {Target: "openai/m", Headers: map[string]string{"A": "b"}},
		"body":       {Target: "openai/m", Body: map[string]any{"a": 1}},
		"agent":      {Target: "openai/m", Agent: map[string]string{"a": "b"}},
		"variable":   {Target: "openai/m", ExecEnv: []string{"A"}},
		"two":        {Target: "openai/m", Headers: map[string]string{"A": "b"}, Body: map[string]any{"a": 1}},
		"three":      {Target: "openai/m", Headers: map[string]string{"A": "b"}, Agent: map[string]string{"a": "b"}},
		"service":    {Target: "http://a.example/x"},
		"retriever":  {Target: "retrieve:http://a.example/x"},
		"program":    {Target: "exec:./agent"},
		"a model":    {Target: "openai/m", Concurrency: 3, Rate: 2},
		"no command": {Target: "exec:"},
	} {
		if got, want := s.Directed(), name != "a model" && name != "no command"; got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestKeyVariables: a variable that a target names is read in place of that of its provider.
func TestKeyVariables(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		of   TargetSpec
		want []string
	}{
		{TargetSpec{Target: "openai/m"}, []string{"OPENAI_API_KEY"}},
		{TargetSpec{Target: "openai/m", APIKeyEnv: "MINE"}, []string{"MINE"}},
		{TargetSpec{
			Target: "openai/m", APIKeyEnv: "MINE",
			Headers: map[string]string{"A": "Bearer ${MINE}", "B": "${OTHER}"},
		}, []string{"MINE", "OTHER"}},
		{TargetSpec{Target: "exec:agent"}, nil},
	} {
		if d := cmp.Diff(tc.want, tc.of.KeyVariables()); d != "" {
			t.Errorf("%+v: %s", tc.of, d)
		}
	}
}

// TestGivesFacts: recorded and scripted targets and floors answer the same each time.
func TestGivesFacts(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		of   callvet.Target
		want bool
	}{
		{callvet.Target{Provider: "openai"}, false},
		{callvet.Target{Provider: "script"}, true},
		{callvet.Target{Provider: "openai", Recorded: true}, true},
		{callvet.Target{Provider: "offline", Floor: true}, true},
	} {
		if got := givesFacts(&tc.of); got != tc.want {
			t.Errorf("%+v: %t", tc.of, got)
		}
	}
}

// TestSharedToolNames: a tool of another server with the name of one of the suite is noted, and the prefix
// that keeps both apart has only what may stand in a name. An equal tool is the same one.
func TestSharedToolNames(t *testing.T) {
	t.Parallel()
	tool := func(name, text string) mcp.Tool { return mcp.Tool{Tool: callvet.Tool{Name: name, Description: text}} }
	list := &mcp.Listing{Tools: []mcp.Tool{tool("pay", "Pays."), tool("ask", "Asks."), tool("new", "New.")}}
	old := &callvet.Suite{
		Name: "shop", Description: madeOf + "first 1.0",
		Tools: []callvet.Tool{{Name: "ask", Description: "Asks."}, {Name: "pay", Description: "Another."}},
	}
	r := &ImportMCPResult{Server: mcp.Server{Name: "az AZ/09-_{`:@[é"}}
	r.shared(old, list)
	if len(r.Problems) != 1 || r.Problems[0].Key != "pay" ||
		!strings.Contains(r.Problems[0].Fix, "--prefix mcp__az_AZ_09-_________; ") {
		t.Errorf("%+v", r.Problems)
	}
	for _, same := range []ImportMCPResult{{Server: mcp.Server{Name: "first"}}, {Server: mcp.Server{Name: "shop"}}} {
		if same.shared(old, list); len(same.Problems) > 0 {
			t.Errorf("the own server: %+v", same.Problems)
		}
	}
}

// TestChosenOf: positions count once for each chosen one, and all without a choice.
func TestChosenOf(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		chosen []int
		want   int
	}{{nil, 3}, {[]int{}, 0}, {[]int{2, 7}, 1}, {[]int{5, 1, 2}, 3}} {
		if got := chosenOf([]int{1, 2, 5}, tc.chosen); *got != tc.want {
			t.Errorf("%v: %d", tc.chosen, *got)
		}
	}
}

// TestLabelNextAsks: what cannot be asked for is refused by its name.
func TestLabelNextAsks(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		req  LabelNextRequest
		want string // "": it can be asked for
	}{
		"tasks of a run": {LabelNextRequest{Side: Side{Run: "r"}, Role: labels.Calibrating}, ""},
		"for validation": {LabelNextRequest{Side: Side{Run: "r"}, Role: labels.Validation}, ""},
		"for tests":      {LabelNextRequest{Side: Side{Run: "r"}, Role: labels.Test}, ""},
		"for a design":   {LabelNextRequest{Side: Side{Run: "r"}, Role: labels.Design}, ""},
		"for nothing": {
			LabelNextRequest{Side: Side{Run: "r"}, Role: "x"},
			"it is calibration, validation, test or design",
		},
		"a unit": {
			LabelNextRequest{Side: Side{Run: "r"}, Role: labels.Test, Unit: "word"},
			"it is task, turn or call",
		},
		"tools of a file": {LabelNextRequest{
			Side: Side{Traces: "t"}, Role: labels.Test, Unit: labels.Call,
			Tools: []string{"f"},
		}, ""},
		"calls of a run": {LabelNextRequest{Side: Side{Run: "r"}, Role: labels.Test, Unit: labels.Call}, ""},
		"tools of tasks": {
			LabelNextRequest{Side: Side{Traces: "t"}, Role: labels.Test, Tools: []string{"f"}},
			"is shown to people who label calls or turns",
		},
		"tools of a run": {LabelNextRequest{
			Side: Side{Run: "r"}, Role: labels.Test, Unit: labels.Call,
			Tools: []string{"f"},
		}, "is for trace files: a run has its own"},
		"neither of the both": {LabelNextRequest{Role: labels.Test}, "one of both"},
	} {
		err := tc.req.check()
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}

// TestAboutTool: a case is about the first tool that it names, and a pattern names none.
func TestAboutTool(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		expect callvet.Expect
		want   string
	}{
		"nothing": {callvet.Expect{}, ""},
		"two": {callvet.Expect{Plans: []callvet.Plan{{Calls: []callvet.ExpectedCall{
			{Tools: []string{"pay"}},
			{Tools: []string{"ask"}},
		}}}}, "pay"},
		"a pattern": {callvet.Expect{Plans: []callvet.Plan{{Calls: []callvet.ExpectedCall{{Tools: []string{"pay_*"}}}}}}, ""},
	} {
		if got := AboutTool(&callvet.Case{Expect: tc.expect}); got != tc.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestNewestJudges: the newest judge of each name counts, and one of turns is none of calls.
func TestNewestJudges(t *testing.T) {
	t.Parallel()
	p := parts{newest: map[partJudge]string{
		{labels.Call, "both"}: "1", {labels.Turn, "both"}: "1", {labels.Call, "own"}: "1", {labels.Turn, "own"}: "2",
		{labels.Call, "calls"}: "3", {labels.Turn, "turns"}: "3",
	}}
	want := []partJudge{
		{labels.Call, "calls"},
		{labels.Call, "own"},
		{labels.Turn, "both"},
		{labels.Turn, "own"},
		{labels.Turn, "turns"},
	}
	if got := p.judges(); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

// TestCorrectedMetrics: the corrected share stands behind the judged one. Each lost attempt may have any value,
// and verdicts that cannot be read are counted.
func TestCorrectedMetrics(t *testing.T) {
	t.Parallel()
	near := func(a, b float64) bool { return a-b < 1e-12 && b-a < 1e-12 }
	names := &judgedNames{judged: "judged_pass", corrected: "true_success"}
	x := &labels.Success{
		Judged: 80, Unread: 4, Labels: 30, Raw: stats.ClopperPearson(60, 80, 0.95, stats.TwoSided),
		True: stats.Interval{Point: 0.5, Lower: 0.4, Upper: 0.6, Confidence: 0.95, Status: stats.StatusOK},
	}
	for name, lost := range map[string]int{"none": 0, "some": 20} {
		s := &panel.Slice{
			Verdicts: panel.Verdicts{Pass: 60, Fail: 20, Error: lost},
			Metrics:  []panel.Metric{{Name: "first"}, {Name: "judged_pass"}, {Name: "last"}},
		}
		(&judgedRun{}).setTrueSuccess(s, x, names, 0)
		if len(s.Metrics) != 4 || s.Metrics[2].Name != "true_success" || s.Metrics[3].Name != "last" {
			t.Fatalf("%s: %+v", name, s.Metrics)
		}
		switch l := s.Metrics[2].Lost; {
		case lost == 0:
			if l != nil {
				t.Errorf("nothing is lost: %+v", l)
			}
		case l == nil || l.N != 20 || l.Of != 100 || !near(l.Low.Point, 0.4) || !near(l.Low.Lower, 0.32) ||
			!near(l.Low.Upper, 0.48) || !near(l.High.Point, 0.6) ||
			!near(l.High.Lower, 0.52) || !near(l.High.Upper, 0.68):
			t.Errorf("lost: %+v", l)
		}
	}
	s := &panel.Slice{Metrics: []panel.Metric{{Name: "first"}}}
	(&judgedRun{}).setTrueSuccess(s, x, names, 0)
	(&judgedRun{}).setTrueSuccess(s, nil, names, 0)
	if len(s.Metrics) != 1 {
		t.Errorf("a table without the judged share: %+v", s.Metrics)
	}
	(&judgedRun{hasVerdicts: true}).setTrueSuccess(s, x, names, 0)
	if len(s.Metrics) != 3 || s.Metrics[1].Excluded != 4 ||
		!slices.Contains(s.Metrics[1].Warnings, "4 of 84 got no verdict that can be read") {
		t.Errorf("of a file of labels: %+v", s.Metrics)
	}
	x.Unread = 0
	if m := judgedMetric(&panel.Slice{}, x, names, 0); slices.ContainsFunc(m.Warnings,
		func(w string) bool { return strings.Contains(w, "can be read") }) || m.Lost != nil {
		t.Errorf("%q %+v", m.Warnings, m.Lost)
	}
}

// TestAgreement: the verdicts of the newest judge of necessity are compared with the labels of calls.
func TestAgreement(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	key := func(id string) labels.Key { return labels.Key{TaskID: "t", Unit: labels.Call, CallID: id} }
	said := func(id, name string, pass *bool) labels.Judgement {
		return labels.Judgement{Key: key(id), Verdict: labels.Verdict{Judge: labels.Judge{Name: name}, Pass: pass}}
	}
	r := &judgedRun{}
	r.parts.all = []labels.Judgement{
		said("right", necessity, &yes), said("missed", necessity, &no), said("let", necessity, &yes),
		said("unread", necessity, nil),
		said("unlabelled", necessity, &no), said("right", "another", &no),
	}
	r.parts.newest = map[partJudge]string{
		{labels.Call, necessity}: r.parts.all[0].ID(),
		{labels.Call, "another"}: r.parts.all[5].ID(),
	}
	right := map[labels.Key]bool{key("right"): true, key("missed"): true, key("let"): false, key("unread"): true}
	if got, want := r.agree(right), (agreement{of: 3, passedWrong: 1, failedRight: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestSameTool: a label without a version accepts any, and one with a version only that.
func TestSameTool(t *testing.T) {
	t.Parallel()
	for gold, want := range map[string]bool{"pay": true, "pay@2": true, "pay@1": false, "ask": false, "ask@2": false} {
		if got := sameTool(&callvet.Call{Tool: "pay", Version: "2"}, gold); got != want {
			t.Errorf("%s: %t", gold, got)
		}
	}
}

// TestUnusedResults: needed calls are named where there are some.
func TestUnusedResults(t *testing.T) {
	t.Parallel()
	for want, needed := range map[string]int{
		"of 4 unneeded calls, the results of 3 are used in no answer":                                0,
		"of 4 unneeded calls, the results of 3 are used in no answer; of 2 needed calls, those of 1": 2,
	} {
		var u resultUse
		u.unneeded.of, u.unneeded.unused, u.needed.of, u.needed.unused = 4, 3, needed, 1
		p := &panel.Panels{Findings: []panel.Finding{{Code: findingChatter}}}
		if u.fill(p); len(p.Findings[0].Evidence) != 1 || p.Findings[0].Evidence[0] != want {
			t.Errorf("%q, want %q", p.Findings[0].Evidence, want)
		}
	}
}

// TestStamp: labels without a fingerprint get that of their attempt, where the run has one and it is no other's.
func TestStamp(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	judged := func(pass *bool) []labels.Verdict {
		return []labels.Verdict{{Judge: labels.Judge{Name: "j"}, Pass: pass}}
	}
	item := func(target, task string) labels.CalibrationItem {
		return labels.CalibrationItem{
			Key:         labels.Key{Target: target, TaskID: task, Unit: labels.Task},
			Fingerprint: target + task, Judged: judged(&yes),
		}
	}
	r := &judgedRun{
		id: "run", at: map[labels.Key]int{},
		items: []labels.CalibrationItem{item("a", "one"), item("a", "both"), item("b", "both")},
	}
	for i := range r.items {
		r.at[r.items[i].Key] = i
	}
	label := func(target, task, print string, pass *bool) labels.Label {
		return labels.Label{Key: labels.Key{Target: target, TaskID: task}, Fingerprint: print, Judged: judged(pass)}
	}
	all := []labels.Label{
		label("", "one", "", &yes), label("a", "one", "", &no), label("b", "both", "", nil),
		label("", "both", "", &yes), label("", "none", "", &yes),
		label("", "one", "f", &yes),
	}
	want := &LabelsStamped{Stamped: 3, Had: 1, Absent: 2, Compared: 2, Contradict: 1}
	if d := cmp.Diff(want, r.stamp(all, labels.Stamp{By: "ann"})); d != "" {
		t.Error(d)
	}
	var prints []string
	for _, l := range all {
		prints = append(prints, l.Fingerprint)
	}
	if d := cmp.Diff([]string{"aone", "aone", "bboth", "", "", "f"}, prints); d != "" {
		t.Error(d)
	}
}

// TestRepeatsText: a range where cases have their own numbers.
func TestRepeatsText(t *testing.T) {
	t.Parallel()
	for want, own := range map[string]map[int]int{"3": nil, "3 to 5": {1: 5}} {
		if got := (&Run{Manifest: &Manifest{
			Repeats: 3, OwnRepeats: own,
			Cases: []int{0, 1},
		}}).repeatsText(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestHear: verdicts of another judge in a labels file count, but only on the same output. The
// run's own verdicts of a judge have priority.
func TestHear(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	by := func(name string, pass *bool) labels.Verdict {
		return labels.Verdict{Judge: labels.Judge{Name: name}, Pass: pass}
	}
	key := labels.Key{Target: "a", TaskID: "t", Unit: labels.Task}
	opinion := func(print string, v labels.Verdict) labels.Label {
		return labels.Label{Key: key, Fingerprint: print, Judged: []labels.Verdict{v}}
	}
	for name, tc := range map[string]struct {
		opinion labels.Label
		heard   bool
		unknown int
	}{
		"another judge":      {opinion("f", by("new", &no)), true, 0},
		"the judge of a run": {opinion("f", by("own", &no)), false, 0},
		"another output":     {opinion("g", by("new", &no)), false, 0},
		"of no output":       {opinion("", by("new", &no)), false, 1},
	} {
		r := &judgedRun{items: []labels.CalibrationItem{{
			Key: key, Fingerprint: "f",
			Judged: []labels.Verdict{by("own", &yes)},
		}}}
		r.hear([]labels.Label{tc.opinion})
		want := []labels.Verdict{by("own", &yes)}
		if tc.heard {
			want = append(want, by("new", &no))
		}
		if d := cmp.Diff(want, r.items[0].Judged); d != "" || r.hasVerdicts != tc.heard || r.unknown != tc.unknown {
			t.Errorf("%s: heard %t, %d unknown: %s", name, r.hasVerdicts, r.unknown, d)
		}
	}
}

// TestComparedFor: differences about this suite are there where a gate against a baseline asks for them.
func TestComparedFor(t *testing.T) {
	t.Parallel()
	led := panel.NewLedger("r", []string{"agent"}, []string{})
	for name, tc := range map[string]struct {
		gate gates.Gate
		want bool
	}{
		"this suite":           {gates.Gate{Kind: gates.Regression, Population: panel.ThisSuite}, true},
		"tasks like these":     {gates.Gate{Kind: gates.Regression, Population: panel.TasksLikeThese}, false},
		"a bound on the suite": {gates.Gate{Kind: gates.Bound, Population: panel.ThisSuite}, false},
	} {
		got := comparedFor([]gates.Gate{{Kind: gates.Zero}, tc.gate}, led, led, panel.DiffConfig{})
		if (got.Suite != nil) != tc.want || got.Suite != nil && got.Suite.Population != panel.ThisSuite {
			t.Errorf("%s: %+v", name, got.Suite)
		}
	}
}
