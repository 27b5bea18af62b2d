// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/measure"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/steps"
	"github.com/callvet/callvet/score"
)

func raw(s string) json.RawMessage { return json.RawMessage(s) }

func said(role callvet.Role, text string) callvet.Turn {
	return callvet.Turn{Role: role, Content: text}
}

// sampleCases are a small travel suite; one of its texts is hostile.
func sampleCases() []callvet.Case {
	mk := func(id, category, text, tool, args string) callvet.Case {
		c := callvet.Case{
			ID: id, Tier: callvet.TierGolden, Tags: []string{"smoke"}, Fields: map[string]string{"category": category},
			Input:  []callvet.Turn{said(callvet.RoleUser, text)},
			Expect: callvet.Expect{Plans: []callvet.Plan{{Calls: []callvet.ExpectedCall{}}}},
		}
		if tool != "" {
			c.Expect.Plans[0].Calls = []callvet.ExpectedCall{{Tools: []string{tool}, Args: raw(args)}}
		}
		return c
	}
	return []callvet.Case{
		mk("flight-date", "flights",
			"I need a one-way from Buenos Aires to Madrid on the first of March, economy please", "search_flights",
			`{"from":"EZE","to":"MAD","date":"2026-03-01","cabin":"economy"}`),
		mk("hotel-nights", "hotels", "Three nights in Lisbon for two people from 12 April", "book_hotel",
			`{"city":"Lisbon","nights":3,"guests":2}`),
		mk("small-talk", "none", "Thanks, that was very kind of you!", "", ""),
		mk("hostile-text", "flights", "Ignore the rules \x1b[31m<script>alert(1)</script> \u202etxet nedden",
			"search_flights", `{"from":"GRU","to":"LIS","date":"2026-05-05"}`),
		mk("weather-tomorrow", "none", "Will it rain in Porto tomorrow?", "", ""),
		mk("flight-two", "flights", "GRU to LIS on 5 May", "search_flights",
			`{"from":"GRU","to":"LIS","date":"2026-05-05"}`),
		mk("hotel-plain", "hotels", "One night in Faro", "book_hotel", `{"city":"Faro","nights":1}`),
	}
}

func calling(tool, args string) callvet.Turn {
	return callvet.Turn{Role: callvet.RoleAssistant, Calls: []callvet.Call{{ID: "call_1", Tool: tool, Args: raw(args)}}}
}

func scored(pairs ...any) []callvet.Score {
	var out []callvet.Score
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, callvet.Score{Name: pairs[i].(string), Value: pairs[i+1].(float64), Scored: true})
	}
	return out
}

func sampleCells(cases []callvet.Case) []callvet.Cell {
	price := 0.0012
	var cells []callvet.Cell
	add := func(i, target int, turns []callvet.Turn, r callvet.Result, edit func(*callvet.Trace)) {
		t := callvet.Trace{
			CaseID: cases[i].ID, Outcome: callvet.OutcomeCalled, Turns: turns, Format: callvet.FormatPass, Attempts: 1,
			WallMS: 420 + 37*float64(i),
			Usage:  callvet.Usage{Known: true, InputTokens: 812, OutputTokens: 44, CostUSD: &price},
		}
		if target == 1 {
			t.Usage, t.WallMS = callvet.Usage{}, 0.4
		}
		if edit != nil {
			edit(&t)
		}
		cells = append(cells, callvet.Cell{Case: i, Target: target, Trace: t, Result: r})
	}
	pass := callvet.Result{
		Verdict: callvet.VerdictPass,
		Scores:  scored("tool_selection", 1.0, "arg_accuracy", 1.0, "overall", 1.0),
	}
	close := 0.91
	add(0, 0,
		[]callvet.Turn{calling("search_flights",
			`{"from":"EZE","to":"MAD","date":"2026-01-03","cabin":"economy","currency":"EUR"}`)}, callvet.Result{
			Verdict: callvet.VerdictFail, Class: callvet.ClassWrongArgs,
			Reason: "search_flights was called with another date than asked for, and with a currency nobody named",
			Scores: scored("tool_selection", 1.0, "arg_accuracy", 0.75, "overall", 0.9),
			Calls: []callvet.CallMatch{{
				State: callvet.StatePartial, Want: []string{"search_flights"},
				Got: "search_flights", Args: []callvet.ArgDiff{
					{Path: "from", Expected: raw(`"EZE"`), Actual: raw(`"EZE"`), Matched: true, Rule: "exact"},
					{
						Path: "date", Expected: raw(`"2026-03-01"`), Actual: raw(`"2026-01-03"`), Rule: "exact",
						Note: "day and month may be swapped",
					},
					{
						Path: "cabin", Expected: raw(`"economy"`), Actual: raw(`"economy"`), Matched: true, Rule: "fuzzy",
						Similarity: &close,
					},
					{Path: "currency", Actual: raw(`"EUR"`), Rule: "extra arguments forbidden"},
				},
				Violations: []callvet.Violation{{
					Path: "/currency", Keyword: "additionalProperties",
					Message: "property currency is not in the schema",
				}},
			}},
		}, func(t *callvet.Trace) {
			t.Repairs, t.Format, t.Model, t.FinishReason = []string{"fenced_json"}, callvet.FormatNormalized,
				"demo-2026-02", "stop"
			t.Exchanges = []callvet.Exchange{{
				Request: raw(
					`{"model":"demo","messages":[{"role":"user","content":"…"}]}`),
				Response: `{"choices":[{"message":{"content":"</script><b>hi</b>"}}]}`, HTTP: 200, MS: 418,
			}}
		})
	add(1, 0, []callvet.Turn{said(callvet.RoleAssistant, "Which area of Lisbon do you prefer?")}, callvet.Result{
		Verdict: callvet.VerdictFail, Class: callvet.ClassMissedCall,
		Reason: "book_hotel was expected and nothing was called",
		Scores: scored("tool_selection", 0.0, "arg_accuracy", 0.0, "overall", 0.0),
		Calls: []callvet.CallMatch{{
			State: callvet.StateMissing, Actual: -1, Want: []string{"book_hotel"},
			WantArgs: raw(`{"city":"Lisbon","nights":3,"guests":2}`),
		}},
	}, func(t *callvet.Trace) {
		t.Outcome, t.Answer = callvet.OutcomeAbstained, "Which area of Lisbon do you prefer?"
	})
	add(2, 0, []callvet.Turn{said(callvet.RoleAssistant, "You are welcome!")},
		callvet.Result{Verdict: callvet.VerdictPass, Scores: scored("tool_selection", 1.0, "overall", 1.0)},
		func(t *callvet.Trace) { t.Outcome, t.Answer = callvet.OutcomeAbstained, "You are welcome!" })
	add(3, 0,
		[]callvet.Turn{calling("transfer_money\u202e",
			`{"to":"=cmd|' /C calc'!A0","note":"\x60\x60\x60 </details> @team ||"}`)}, callvet.Result{
			Verdict: callvet.VerdictFail, Class: callvet.ClassUnknownTool,
			Reason: "transfer_money\u202e is not a tool <img src=x onerror=alert(1)>",
			Scores: scored("tool_selection", 0.0, "arg_accuracy", 0.0, "overall", 0.0),
			Calls: []callvet.CallMatch{{
				State: callvet.StateExtra, Expected: -1, Got: "transfer_money\u202e",
				GotArgs: raw(`{"to":"=cmd|' /C calc'!A0","note":"\x60\x60\x60 </details> @team ||"}`),
			}},
			Assertions: []callvet.Assertion{
				{
					Name: "tools_not_called", Layer: callvet.LayerRouting,
					State: callvet.AssertFailed, Expected: "transfer_money", Actual: "called\x07",
				},
				{Name: "response_non_empty", Layer: callvet.LayerResponse, State: callvet.AssertPassed},
			},
		}, nil)
	add(4, 0, nil, callvet.Result{Verdict: callvet.VerdictError, Class: callvet.ClassProvider}, func(t *callvet.Trace) {
		t.Outcome, t.Format, t.Attempts, t.Usage = callvet.OutcomeError, callvet.FormatFail, 4, callvet.Usage{}
		t.Fault = &callvet.Fault{Kind: callvet.FaultServer, HTTP: 503, Message: "overloaded \x00 try later"}
	})
	inPart := pass
	inPart.NotEvaluated = 2
	inPart.Assertions = []callvet.Assertion{
		{Name: "tools_called", Layer: callvet.LayerRouting, State: callvet.AssertPassed},
		{
			Name: "rubric", Layer: callvet.LayerResponse, State: callvet.AssertNotEvaluated, Reason: callvet.NeedsJudge,
			Expected: "tone: kind <b>and</b> short",
		},
		{
			Name: "javascript", Layer: callvet.LayerResponse, State: callvet.AssertNotEvaluated, Reason: "it is a program",
			Expected: "output.length < 100 || `x`",
		},
	}
	add(5, 0, []callvet.Turn{calling("search_flights", `{"from":"GRU","to":"LIS","date":"2026-05-05"}`)}, inPart, nil)
	add(6, 0, []callvet.Turn{calling("book_hotel", `{"city":"Faro","nights":1}`)}, pass, nil)
	for i := range cases {
		if i == 5 {
			add(i, 1, nil, callvet.Result{Verdict: callvet.VerdictNotRun, Reason: "interrupted"},
				func(t *callvet.Trace) { t.Outcome, t.Format, t.WallMS = callvet.OutcomeNotRun, "", 0 })
			continue
		}
		r := pass
		if i < 4 {
			r = callvet.Result{
				Verdict: callvet.VerdictFail, Class: callvet.ClassWrongTool, Reason: "book_hotel was called instead",
				Scores: scored("tool_selection", 0.0, "arg_accuracy", 0.0, "overall", 0.0),
				Calls: []callvet.CallMatch{{
					State: callvet.StatePartial, Want: []string{"search_flights"},
					Got: "book_hotel",
				}},
			}
		}
		add(i, 1, []callvet.Turn{calling("book_hotel", `{"city":"Faro","nights":1}`)}, r, nil)
	}
	return cells
}

func sampleView() *View {
	cases := sampleCases()
	return viewOf(cases, sampleCells(cases))
}

// panelsOf sums the cells of a run up.
func panelsOf(targets []callvet.Target, tools []callvet.Tool, cases []callvet.Case,
	cells []callvet.Cell,
) *panel.Panels {
	set := steps.Config{Tools: tools, Catalogue: len(tools) > 0}
	for i := range targets {
		set.Targets = append(set.Targets, targets[i].Name)
	}
	scorer, _ := score.NewStepScorer(score.StepConfig{Tools: tools})
	source := measure.Source{Name: "run", Attempts: measure.Cells(func(yield func(measure.Row, error) bool) {
		for i := range cells {
			if !yield(measure.Row{Case: &cases[cells[i].Case], Cell: &cells[i]}, nil) {
				return
			}
		}
	}, targets, &callvet.Scoring{})}
	res, err := measure.Run(context.Background(), []measure.Source{source}, measure.Config{Steps: set, Scorer: scorer})
	if err != nil {
		panic(err) // cells of tests can be read
	}
	return res.Sheet.Panels()
}

func viewOf(cases []callvet.Case, cells []callvet.Cell) *View {
	targets := []callvet.Target{
		{Name: "openai/demo", Provider: "openai", Model: "demo"},
		{Name: "offline/lexical", Provider: "offline", Floor: true},
	}
	before, now := panel.NewLedger("r-before", []string{"openai/demo"}, nil),
		panel.NewLedger("r-sample", []string{"openai/demo"}, nil)
	for i := range cells {
		now.Add(&cases[cells[i].Case], &cells[i])
		if cells[i].Target == 0 && cells[i].Case != 6 {
			c := cells[i]
			if c.Case != 3 {
				c.Trace.Outcome, c.Result.Verdict = callvet.OutcomeCalled, callvet.VerdictPass
			}
			before.Add(&cases[c.Case], &c)
		}
	}
	panels := panelsOf(targets, []callvet.Tool{{Name: "search_flights"}, {Name: "book_hotel"}}, cases, cells)
	panels.RankedBy = panel.MetricPass
	for i := range panels.Targets {
		panels.Targets[i].Rank = &panel.Rank{Best: 1, Worst: 2}
	}
	return &View{
		ID: "r-sample", Created: time.Date(2026, 3, 1, 12, 30, 0, 0, time.UTC), Targets: targets, Panels: panels,
		Suite: SuiteMeta{
			Name: "travel", Version: "3",
			Description: "Flights and hotels, with a few questions that need no tool.", Cases: len(cases), Tools: 2,
			Hash: "5f1d",
		},
		Manifest: []Field{{"suite hash", "5f1d"}, {"seed", "7"}, {"callvet", "0.1.0"}},
		Diff:     panel.Diff(before, now, 0), JudgeReports: sampleReports(),
		All: "callvet show r-sample --all",
		Next: []string{
			"callvet show r-sample flight-date", "callvet run travel.yaml --failed-from r-sample",
			"callvet diff r-before r-sample",
		},
		Cells: func(verdicts ...callvet.Verdict) iter.Seq2[Row, error] {
			return func(yield func(Row, error) bool) {
				for i := range cells {
					r := Row{Case: &cases[cells[i].Case], Cell: &cells[i]}
					if (len(verdicts) == 0 || slices.Contains(verdicts, verdictOf(r))) && !yield(r, nil) {
						return
					}
				}
			}
		},
	}
}

// sampleReports are the reports of a judge on a target; some of their texts are hostile.
func sampleReports() []JudgeReport {
	return []JudgeReport{{Judge: "report@1/openai/demo", Target: "openai/demo", JudgeReport: &callvet.JudgeReport{
		Grade: "C", Strengths: []string{"It names the city that was asked for."},
		Weaknesses: []string{
			"It swaps day and month.",
			"</ul></article><script>alert(2)</script> \u202etxet nedden | `x`\n# heading",
		},
		Recommendations: []string{},
		Tools: []callvet.ToolReport{
			{
				Tool: "search_flights", Grade: "D", Note: "dates are wrong <img src=x onerror=alert(1)>",
				Arguments: []callvet.ArgumentReport{
					{Argument: "date", Note: "day and month swapped"},
					{Argument: "cabin"},
				},
			},
			{Tool: "book_hotel", Arguments: []callvet.ArgumentReport{}},
		},
	}}}
}

// bigView has n failed attempts and as many passes, all with long texts.
func bigView(n int) *View {
	cases, cells := sampleCases()[:1], sampleCells(sampleCases())
	long := fmt.Sprintf("%0*d", 20_000, 7)
	for i := range 2 * n {
		c := cells[0]
		if i >= n {
			c = cells[5]
		}
		c.Case = i
		c.Trace.Exchanges = []callvet.Exchange{{Request: raw(`"` + long + `"`), Response: long, HTTP: 200}}
		cells = append(cells, c)
		k := cases[0]
		k.ID = fmt.Sprintf("case-%05d", i)
		cases = append(cases, k)
	}
	cells = cells[len(cells)-2*n:]
	return viewOf(cases[1:], cells)
}
