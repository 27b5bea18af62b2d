// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
)

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
		if got := GivesFacts(&tc.of); got != tc.want {
			t.Errorf("%+v: %t", tc.of, got)
		}
	}
}

// TestNewestJudges: the newest judge of each name counts, and one of turns is none of calls.
func TestNewestJudges(t *testing.T) {
	t.Parallel()
	p := parts{Newest: map[partJudge]string{
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
	if got := p.Judges(); !slices.Equal(got, want) {
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
		(&JudgedRun{}).setTrueSuccess(s, x, names, 0)
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
	(&JudgedRun{}).setTrueSuccess(s, x, names, 0)
	(&JudgedRun{}).setTrueSuccess(s, nil, names, 0)
	if len(s.Metrics) != 1 {
		t.Errorf("a table without the judged share: %+v", s.Metrics)
	}
	(&JudgedRun{hasVerdicts: true}).setTrueSuccess(s, x, names, 0)
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
	judgement := func(id, name string, pass *bool) labels.Judgement {
		return labels.Judgement{Key: key(id), Verdict: labels.Verdict{Judge: labels.Judge{Name: name}, Pass: pass}}
	}
	r := &JudgedRun{}
	r.Parts.All = []labels.Judgement{
		judgement("right", necessity, &yes), judgement("missed", necessity, &no), judgement("let", necessity, &yes),
		judgement("unread", necessity, nil),
		judgement("unlabelled", necessity, &no), judgement("right", "another", &no),
	}
	r.Parts.Newest = map[partJudge]string{
		{labels.Call, necessity}: r.Parts.All[0].ID(),
		{labels.Call, "another"}: r.Parts.All[5].ID(),
	}
	right := map[labels.Key]bool{key("right"): true, key("missed"): true, key("let"): false, key("unread"): true}
	if got, want := r.agree(right), (Agreement{of: 3, passedWrong: 1, failedRight: 1}); got != want {
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
		u.unneeded.Of, u.unneeded.Unused, u.needed.Of, u.needed.Unused = 4, 3, needed, 1
		p := &panel.Panels{Findings: []panel.Finding{{Code: findingChatter}}}
		if u.fill(p); len(p.Findings[0].Evidence) != 1 || p.Findings[0].Evidence[0] != want {
			t.Errorf("%q, want %q", p.Findings[0].Evidence, want)
		}
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

// TestVerdictsOfLabelsFile: verdicts of another judge in a labels file count, but only on the same output. The
// run's own verdicts of a judge have priority.
func TestVerdictsOfLabelsFile(t *testing.T) {
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
		opinion  labels.Label
		received bool
		unknown  int
	}{
		"another judge":      {opinion("f", by("new", &no)), true, 0},
		"the judge of a run": {opinion("f", by("own", &no)), false, 0},
		"another output":     {opinion("g", by("new", &no)), false, 0},
		"of no output":       {opinion("", by("new", &no)), false, 1},
	} {
		r := &JudgedRun{Items: []labels.CalibrationItem{{
			Key: key, Fingerprint: "f",
			Judged: []labels.Verdict{by("own", &yes)},
		}}}
		r.AddOpinions([]labels.Label{tc.opinion})
		want := []labels.Verdict{by("own", &yes)}
		if tc.received {
			want = append(want, by("new", &no))
		}
		if d := cmp.Diff(want, r.Items[0].Judged); d != "" || r.hasVerdicts != tc.received || r.unknown != tc.unknown {
			t.Errorf("%s: heard %t, %d unknown: %s", name, r.hasVerdicts, r.unknown, d)
		}
	}
}
