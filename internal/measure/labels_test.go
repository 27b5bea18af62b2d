// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package measure_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/measure"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/panel/steps"
	"github.com/callvet/callvet/score"
)

// TestOnePanel: the panel of steps of a run is that of the trace file which is written of it, and each call
// is compared as the verdict of its case compares it.
func TestOnePanel(t *testing.T) {
	t.Parallel()
	const args, result = `{"city":"Oslo"}`, `{"temp":3}`
	half := 0.5
	expect := func(args string, c callvet.ExpectedCall) callvet.Expect {
		c.Tools, c.Args = []string{"f"}, json.RawMessage(args)
		return callvet.Expect{Plans: []callvet.Plan{{Calls: []callvet.ExpectedCall{c}}}}
	}
	for name, tt := range map[string]struct {
		expect  callvet.Expect
		scoring *callvet.Scoring
		suite   callvet.Scoring
		want    string // the metrics that labels of arguments and results give
	}{
		"the arguments": {expect: expect(args, callvet.ExpectedCall{}), want: "arg_em_by_call=1"},
		"other arguments": {
			expect: expect(`{"city":"Rome"}`, callvet.ExpectedCall{}),
			want:   "arg_em_by_call=0",
		},
		"a matcher": {expect: expect(``,
			callvet.ExpectedCall{Matchers: map[string]callvet.Matcher{"city": {
				Mode:  "regex",
				Value: json.RawMessage(`"O.*"`),
			}}}), want: "arg_em_by_call=1"},
		"the mode of the suite": {
			expect: expect(`{"city":"osl"}`, callvet.ExpectedCall{}),
			suite:  callvet.Scoring{Mode: "contains"}, want: "arg_em_by_call=1",
		},
		"the mode of the case": {
			expect:  expect(`{"city":"Osla"}`, callvet.ExpectedCall{}),
			scoring: &callvet.Scoring{Mode: "fuzzy", Threshold: &half}, want: "arg_em_by_call=1",
		},
		"further arguments": {
			expect: expect(`{}`, callvet.ExpectedCall{ExtraArgs: callvet.ExtraIgnore}),
			want:   "arg_em_by_call=1",
		},
		"a check": {
			expect: expect(args, callvet.ExpectedCall{ResultCheck: "temp == 3"}),
			want:   "arg_em_by_call=1 postconditions=1",
		},
		"a check that fails": {
			expect: expect(args, callvet.ExpectedCall{ResultCheck: "temp > 3"}),
			want:   "arg_em_by_call=1 postconditions=0",
		},
		"a result": {
			expect: expect(args, callvet.ExpectedCall{Result: json.RawMessage(result)}),
			want:   "arg_em_by_call=1 result_consistency=1",
		},
		"another result": {
			expect: expect(args, callvet.ExpectedCall{Result: json.RawMessage(`{"temp":4}`)}),
			want:   "arg_em_by_call=1 result_consistency=0",
		},
		"names only": {expect: callvet.Expect{ToolsCalled: []string{"f"}}},
		"arguments of a notation": {
			expect: expect(`{"city":["Oslo"]}`, callvet.ExpectedCall{}),
			suite:  callvet.Scoring{Profile: "bfcl"},
		},
	} {
		c := callvet.Case{ID: "c", Scoring: tt.scoring, Expect: tt.expect}
		s, problems := score.New(&callvet.Suite{Defaults: callvet.Defaults{Scoring: tt.suite}}, score.Config{})
		k, more := s.Compile(&c)
		if len(problems)+len(more) > 0 {
			t.Fatal(name, problems, more)
		}
		cell := &callvet.Cell{Trace: callvet.Trace{
			CaseID: "c",
			Turns: []callvet.Turn{{Role: callvet.RoleAssistant, Calls: []callvet.Call{{
				ID: "1", Tool: "f", Args: json.RawMessage(args), Status: callvet.StatusOK,
				Result: json.RawMessage(result),
			}}}},
		}}
		cell.Trace.Classify("")
		cell.Result = k.Score(&cell.Trace)
		pass := cell.Result.Verdict == callvet.VerdictPass
		rows := func(yield func(measure.Row, error) bool) { yield(measure.Row{Case: &c, Cell: cell}, nil) }
		ofRun := measure.Source{Name: "run", Attempts: measure.Cells(rows, []callvet.Target{{Name: "m"}}, &tt.suite)}
		var lines bytes.Buffer
		w := trace.NewWriter(&lines)
		at := trace.OfCell(&c, &callvet.Target{Name: "m"}, cell, &tt.suite)
		if err := w.Attempt(&at); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		for _, src := range []measure.Source{
			ofRun,
			{
				Name: "t.jsonl",
				Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(lines.String())), nil },
			},
		} {
			scorer, _ := score.NewStepScorer(score.StepConfig{Matchers: plainMatchers})
			res, err := measure.Run(t.Context(), []measure.Source{src},
				measure.Config{Steps: steps.Config{SliceBy: []string{}}, Scorer: scorer})
			if err != nil || len(res.Problems) > 0 || res.Log.Bad > 0 {
				t.Fatal(name, err, res.Problems, res.Log)
			}
			all := &res.Sheet.Panels().Targets[0].Overall
			var got []string
			for _, of := range []string{"arg_em_by_call", "postconditions", "result_consistency"} {
				if m := all.Metric(of); m != nil && m.Interval.N > 0 {
					got = append(got, fmt.Sprintf("%s=%g", of, m.Interval.Point))
				}
			}
			if d := cmp.Diff(tt.want, strings.Join(got, " ")); d != "" {
				t.Errorf("%s, %s (-want +got):\n%s%s", name, src.Name, d, lines.String())
			}
			if held := !strings.Contains(tt.want, "=0"); held != pass && tt.suite.Profile == "" {
				t.Errorf("%s: the verdict is %s", name, cell.Result.Verdict)
			}
		}
	}
}

func plainMatchers(object []byte) (m map[string]callvet.Matcher, _ []callvet.Problem) {
	if err := json.Unmarshal(object, &m); err != nil {
		return nil, []callvet.Problem{{Message: err.Error()}}
	}
	return m, nil
}
