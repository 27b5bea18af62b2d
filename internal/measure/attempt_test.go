// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package measure

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/steps"
	"github.com/callvet/callvet/score"
	"github.com/callvet/callvet/value"
)

// chance makes random attempts.
type chance struct{ *rand.Rand }

func pick[T any](c chance, of ...T) T { return of[c.IntN(len(of))] }

func maybe[T any](c chance, v T) *T {
	if c.IntN(2) == 0 {
		return nil
	}
	return &v
}

func (c chance) yes() bool { return c.IntN(3) == 0 }

func (c chance) attempt(id string) trace.Attempt {
	a := trace.Attempt{
		Pass: maybe(c, c.yes()), Reward: maybe(c, pick(c, 0, 0.5, 1)), Unbilled: c.yes(), Floor: c.yes(),
		Skipped: c.yes(),
		Tags:    pick(c, nil, []string{"a"}, []string{`<"b">`, "tier:gold"}),
		Fields:  pick(c, nil, map[string]string{"language": "sv"}, map[string]string{"z": "1", "a": "é"}),
		Expects: pick(c, nil, []string{"f"}, []string{"g@v2", "F"}),
		Safety:  pick(c, nil, []trace.Incident{}, []trace.Incident{{Rule: "r"}, {Rule: "s", Blocked: true}}),
		Gold: pick(c, nil, &trace.TaskGold{Checks: []string{"ok"}}, &trace.TaskGold{Steps: []trace.GoldStep{}},
			&trace.TaskGold{Steps: []trace.GoldStep{{Tool: "f"}, {Tool: "g", By: "user"}, {Tool: "F@v1"}}}),
		Judged: pick(c, nil, []trace.Judged{
			{Judge: "j", Pass: maybe(c, true), Score: maybe(c, 0.7), Threshold: maybe(c, 0.5)},
			{Judge: "k", Score: maybe(c, 0.1), Threshold: maybe(c, 0.5)},
		}),
		Scored: pick(c, nil, &trace.Scored{Reason: "why"}, &trace.Scored{
			Class:  pick(c, panel.Classes()...),
			Scores: map[string]float64{"b": c.Float64(), "a": 1, "c": 1.5, "d": 1e-9}, Unknown: []string{"x", "y"},
			NotEvaluated: []trace.NotEvaluated{{Name: "n", Reason: "r"}},
			Signs:        []score.Sign{{Code: "T1", Shown: c.yes()}, {Code: "T2", Why: []string{"p"}}},
			Routes:       []trace.Confused{{Expected: "a", Called: "b"}}, Tools: []trace.Confused{{Expected: "a"}},
		}),
	}
	t := &a.Trace
	t.CaseID, t.Target, t.Repeat = id, pick(c, "", "m", "n"), c.IntN(3)
	t.Outcome, t.Reason = pick(c, panel.Outcomes()...), pick(c, "", callvet.ReasonCut)
	t.Format, t.Attempts = pick(c, "", callvet.FormatPass, callvet.FormatFail), c.IntN(3)
	t.WallMS, t.FirstTokenMS, t.Cached = pick(c, 0, 1.25, 1e12, -1), pick(c, 0, 3.5), c.yes()
	t.Fault = pick(c, nil, &callvet.Fault{Kind: callvet.FaultTimeout}, &callvet.Fault{Kind: callvet.FaultServer})
	t.Decision = pick(c, nil, nil, &callvet.Decision{Route: "r"})
	t.Usage = callvet.Usage{
		Known: c.yes(), InputTokens: pick(c, 0, 7, 2_000_000_000), OutputTokens: 3,
		ReasoningTokens: pick(c, 0, 2, 2_000_000_000),
		CostUSD:         pick(c, nil, new(float64), maybe(c, 0.0000001), maybe(c, 2e6)),
	}
	for i := range c.IntN(4) {
		turn := callvet.Turn{Role: callvet.RoleAssistant}
		for range c.IntN(3) {
			turn.Calls = append(turn.Calls, callvet.Call{
				ID: pick(c, "", "1", "2"), Tool: pick(c, "", "f", "F", "g", "nil"), Version: pick(c, "", "v1"),
				Args:    json.RawMessage(pick(c, `{"x":1}`, `{"x":"é"}`, `{}`, `null`)),
				ArgsRaw: pick(c, "", `{"x": 1}`, `{"x`), Result: json.RawMessage(pick(c, `{"n":1}`, `"<t>"`, `[]`)),
				Error: pick(c, "", "boom"), ExecMS: pick(c, 0.0, 12.5), QueueMS: pick(c, 0.0, 1),
				Status: pick(c, "", callvet.StatusOK, callvet.StatusRejected, callvet.StatusTimeout),
			})
		}
		t.Turns = append(t.Turns, turn)
		if n := len(t.Calls()); n > 0 && c.yes() {
			a.Steps = map[int]trace.StepNote{n - 1: {TurnID: i, AcceptMS: maybe(c, 2.0), Gold: &trace.Gold{
				Needed: maybe(c, c.yes()), Tool: pick(c, "", "f"), ResultCheck: "n >= 1",
				Args:    json.RawMessage(pick(c, `{"x":1}`, `{"x":"é"}`)),
				Scoring: pick(c, nil, json.RawMessage(`{"mode":"strict"}`), json.RawMessage(`{"extra_args":"ignore"}`)),
			}}}
		}
	}
	return a
}

func stepScorer(t *testing.T) *score.StepScorer {
	t.Helper()
	scorer, ps := score.NewStepScorer(score.StepConfig{
		Tools: []callvet.Tool{
			{Name: "f", Parameters: json.RawMessage(`{"properties":{"x":{"type":"integer"}}}`)},
			{Name: "g"},
		},
		Scoring: callvet.Scoring{ToolNames: &callvet.ToolNames{Aliases: map[string]string{"F": "f"}}},
	})
	if len(ps) > 0 {
		t.Fatal(ps)
	}
	return scorer
}

// TestRecorded: a task record has the same result as the line that is written of it.
func TestRecorded(t *testing.T) {
	t.Parallel()
	w := newWorker(&run{cfg: Config{Scorer: stepScorer(t)}, sheet: steps.New(steps.Config{})})
	shown := func(x steps.Task) string {
		scorer := fmt.Sprintf("%+v", x.ScorerResult)
		slices := fmt.Sprintf("%s %s", x.Tags.Raw(), x.Fields.Raw())
		x.Tags, x.Fields = value.Value{}, value.Value{}
		x.ScorerResult, x.Content = nil, 0
		return fmt.Sprintf("%+v\n%s\n%s", x, slices, scorer)
	}
	c := chance{rand.New(rand.NewPCG(5, 6))}
	taken := map[string]bool{}
	for range 1000 {
		a := c.attempt("a")
		task := a.Task()
		task.Line, task.Corrects = 1, c.yes()
		var line bytes.Buffer
		out := trace.NewWriter(&line)
		if err := out.Task(&task); err != nil {
			t.Fatal(err)
		}
		if err := out.Flush(); err != nil {
			t.Fatal(err)
		}
		w.batch = w.sheet.Batch()
		if err := w.scan.Scan(trace.Block{Data: line.Bytes(), Line: 1}, w.line); err != nil || w.scan.Log.Bad > 0 {
			t.Fatalf("%v %+v", err, w.scan.Log)
		}
		set(reflect.ValueOf(w.task), taken)
		want := shown(w.task)
		w.add(w.recorded(&task))
		if d := cmp.Diff(want, shown(w.task)); d != "" {
			t.Fatalf("%s(-line +attempt):\n%s", line.Bytes(), d)
		}
	}
	for i, of := 0, reflect.TypeFor[steps.Task](); i < of.NumField(); i++ {
		if name := of.Field(i).Name; !taken[name] && name != "Content" { // of the line itself
			t.Errorf("%s is never set: draw what sets it, so that it is compared", name)
		}
	}
}

// set notes the fields of a struct that are not zero.
func set(v reflect.Value, seen map[string]bool) {
	for i := range v.NumField() {
		if !v.Field(i).IsZero() {
			seen[v.Type().Field(i).Name] = true
		}
	}
}

// place is where an example is in a file; attempts have none.
var place = regexp.MustCompile(`,"file":"f","line":\d+`)

// TestAttemptsAsLines: attempts add up to the same as a file of their lines.
func TestAttemptsAsLines(t *testing.T) {
	t.Parallel()
	c := chance{rand.New(rand.NewPCG(7, 8))}
	for _, n := range []int{0, 1, 3 * jobAttempts} {
		var list []trace.Attempt
		var lines bytes.Buffer
		out := trace.NewWriter(&lines)
		for i := range n {
			list = append(list, c.attempt(fmt.Sprint(i)))
			if err := out.Attempt(&list[i]); err != nil {
				t.Fatal(err)
			}
		}
		if err := out.Flush(); err != nil {
			t.Fatal(err)
		}
		sum := func(src Source) (panels string, rows []Scored, log trace.Log) {
			res, err := Run(t.Context(), []Source{src}, Config{
				Steps: steps.Config{Catalogue: true, Files: true}, Scorer: stepScorer(t), Jobs: 2,
				Each: func(list []Scored) error {
					rows = append(rows, list...)
					return nil
				},
			})
			if err != nil || res.Log.Bad > 0 {
				t.Fatal(err, res.Log)
			}
			b, err := json.Marshal(res.Sheet.Panels())
			if err != nil {
				t.Fatal(err)
			}
			for i := range rows {
				rows[i].Line = 0
			}
			return place.ReplaceAllString(string(b), ""), rows, res.Log
		}
		want, wantRows, wantLog := sum(Source{Name: "f", Open: func() (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(lines.Bytes())), nil
		}})
		got, rows, log := sum(Source{Name: "f", Attempts: func(yield func(trace.Attempt, error) bool) {
			for _, a := range list {
				if !yield(a, nil) {
					return
				}
			}
		}})
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("panels (-lines +attempts):\n%s", d)
		}
		if d := cmp.Diff(wantRows, rows); d != "" {
			t.Fatalf("rows (-lines +attempts):\n%s", d)
		}
		if d := cmp.Diff(wantLog, log); d != "" {
			t.Fatalf("log (-lines +attempts):\n%s", d)
		}
	}
}
