// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tune

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score"
)

// planter fills values with markers: every text, every key of a map, and a JSON object in every raw message.
type planter struct {
	n       int
	markers []string
}

const planted0 = "zq_planted_"

func (p *planter) marker(path string) string {
	p.n++
	m := fmt.Sprintf("%s%03d_%s", planted0, p.n, path)
	p.markers = append(p.markers, m)
	return m
}

func (p *planter) fill(v reflect.Value, path string, depth int) {
	if !v.CanSet() || depth > 12 {
		return
	}
	if v.Type() == reflect.TypeFor[json.RawMessage]() {
		v.SetBytes([]byte(fmt.Sprintf(`{%q: [%q, {"deep": %q}]}`, p.marker(path), p.marker(path), p.marker(path))))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(p.marker(path))
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		p.fill(v.Elem(), path, depth+1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			p.fill(v.Index(i), path, depth+1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range 2 {
			key, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			p.fill(key, path, depth+1)
			p.fill(elem, path, depth+1)
			v.SetMapIndex(key, elem)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			p.fill(v.Field(i), path+"."+v.Type().Field(i).Name, depth+1)
		}
	}
}

// visible are the fields of a case that the target itself sees, so that evidence may hold them.
var visible = []string{"Input", "Context", "Tools"}

// TestEvidenceLeaksNothing plants a marker in every field of a case that the target does not see, in every field of a
// result, and in what the world and the guard write into a call. Neither the evidence nor a question has one.
// A field that is added to a case or to a result is planted without a change here.
func TestEvidenceLeaksNothing(t *testing.T) {
	t.Parallel()
	var p planter
	var c callvet.Case
	of := reflect.ValueOf(&c).Elem()
	for i := range of.NumField() {
		if name := of.Type().Field(i).Name; !slices.Contains(visible, name) {
			p.fill(of.Field(i), name, 0)
		}
	}
	if len(p.markers) < 150 {
		t.Fatalf("only %d markers are planted", len(p.markers))
	}
	c.Input = []callvet.Turn{
		{Role: callvet.RoleSystem, Content: "hidden system text"},
		{Role: callvet.RoleUser, Content: "Weather in Lund?"},
	}
	c.Context = "It is Monday."
	var call callvet.Call
	p.fill(reflect.ValueOf(&call).Elem(), "call", 0)
	call.Tool, call.Args, call.ArgsRaw = "get_weather", json.RawMessage(`{"town": "Lund"}`), ""
	for _, class := range classes() {
		for _, state := range []callvet.MatchState{
			callvet.StateMatched, callvet.StatePartial, callvet.StateMissing, callvet.StateExtra,
		} {
			var r callvet.Result
			p.fill(reflect.ValueOf(&r).Elem(), "result", 0)
			r.Verdict, r.Class = callvet.VerdictFail, class
			for i := range r.Calls {
				r.Calls[i].State, r.Calls[i].Actual = state, i-1
				r.Calls[i].Violations = []callvet.Violation{{
					Keyword: "required",
					Message: `required property "city" is missing`,
				}}
				r.Calls[i].Args[0].Matched, r.Calls[i].Args[1].Matched = false, false
			}
			for i := range r.Assertions {
				r.Assertions[i].State = callvet.AssertFailed
			}
			cell := callvet.Cell{Result: r}
			cell.Trace.Turns = []callvet.Turn{{Role: callvet.RoleAssistant, Calls: []callvet.Call{call}}}
			cell.Trace.Answer = "It rains."
			e, ok := EvidenceOf(0, &c, &cell)
			if !ok || len(e.Found) == 0 {
				t.Fatalf("%s, %s: %+v", class, state, e)
			}
			ev := evolution(t, EvolveConfig{Mode: Reflect, Population: 4})
			qs, _ := ev.Ask([]float64{0}, []Evidence{e})
			text := qs[0].Turns[0].Content
			for _, want := range []string{
				"Weather in Lund?", "It is Monday.", "get_weather", `town`, "It rains.",
				e.Found[0],
			} {
				if b, err := json.Marshal(want); err != nil || !strings.Contains(text, strings.Trim(string(b), `"`)) {
					t.Errorf("the question lacks %q", want)
				}
			}
			if strings.Contains(text, "hidden system text") {
				t.Error("the question holds another system prompt")
			}
			if i := strings.Index(text, planted0); i >= 0 {
				t.Fatalf("%s, %s: the question holds %.60s", class, state, text[i:])
			}
		}
	}
}

func classes() []callvet.Class {
	return []callvet.Class{
		callvet.ClassProvider, callvet.ClassUnparseable, callvet.ClassUnknownTool, callvet.ClassMissedCall,
		callvet.ClassUnneededCall, callvet.ClassWrongTool, callvet.ClassContract, callvet.ClassUnknownArg,
		callvet.ClassWrongArgs, callvet.ClassMissingPrereq, callvet.ClassWrongOrder, callvet.ClassLoop,
		callvet.ClassIncomplete, callvet.ClassPolicy, callvet.ClassBudget, callvet.ClassAnswer, callvet.ClassRoute,
		callvet.ClassSubRoute, callvet.ClassAgents, callvet.ClassSelected, "new_class",
	}
}

// TestExpectedValues: a prompt that holds a value of any expectation is refused.
func TestExpectedValues(t *testing.T) {
	t.Parallel()
	var p planter
	var c callvet.Case
	p.fill(reflect.ValueOf(&c.Expect).Elem(), "expect", 0)
	p.fill(reflect.ValueOf(&c.MultiTurn).Elem(), "turns", 0)
	p.fill(reflect.ValueOf(&c.Safety).Elem(), "safety", 0)
	values := gold(&c)
	// Names and settings are no values: keys of objects, modes, orders, identities.
	free := 0
	for _, m := range p.markers {
		if !slices.Contains(values, fold(m)) {
			free++
			continue
		}
		ev := evolution(t, EvolveConfig{Mode: Reflect, Population: 3})
		ev.Ask([]float64{0}, []Evidence{{gold: values, Found: []string{}}})
		got := ev.Take([]Answer{{Text: fmt.Sprintf(`{"prompt": "Answer with %s.", "note": ""}`, strings.ToUpper(m))}})
		if k := kinds(got.Failures); len(k) == 0 || k[0] != FailureExpected ||
			strings.Contains(got.Failures[0].Detail, planted0) {
			t.Fatalf("%s: %+v", m, got)
		}
	}
	if share := float64(free) / float64(len(p.markers)); share > .5 || len(values) < 60 {
		t.Errorf("%d of %d markers are no values", free, len(p.markers))
	}
	// What the user or a tool gives, and plain words, are no secret.
	c = callvet.Case{
		Input: []callvet.Turn{{Role: callvet.RoleUser, Content: "Order 12-345-X, please."}},
		Tools: []callvet.Tool{{Name: "find_order"}},
		Expect: callvet.Expect{
			ToolsCalled: []string{"find_order"}, ResponseContains: []string{"12-345-x", "delivered", "on 2026-05-01"},
		},
	}
	if got := gold(&c); !slices.Equal(got, []string{"on 2026-05-01"}) {
		t.Errorf("values %q", got)
	}
}

// TestEvidenceOfScored: the findings of the scorer are described without its expectations.
func TestEvidenceOfScored(t *testing.T) {
	t.Parallel()
	expect := callvet.Expect{
		Plans: []callvet.Plan{{Calls: []callvet.ExpectedCall{
			{
				Tools: []string{"get_weather"},
				Args:  json.RawMessage(`{"city": "zq_planted_city", "unit": "zq_planted_unit"}`),
			},
			{Tools: []string{"zq_planted_tool"}},
		}}},
		ResponseContains: []string{"zq_planted_answer"}, ToolsNotCalled: []string{"send_mail"},
	}
	suite := &callvet.Suite{
		Tools: []callvet.Tool{{
			Name: "get_weather",
			Parameters: json.RawMessage(
				`{"type":"object","properties":{"city":{"type":"string"},"unit":{"type":"string"}},"required":["city"]}`),
		}, {Name: "send_mail"}, {Name: "zq_planted_tool"}},
		Cases: []callvet.Case{{
			ID: "a", Expect: expect, Input: []callvet.Turn{{Role: callvet.RoleUser, Content: "Weather in Lund?"}},
		}},
	}
	scorer, ps := score.New(suite, score.Config{})
	if len(ps) > 0 {
		t.Fatal(ps)
	}
	compiled, ps := scorer.Compile(&suite.Cases[0])
	if len(ps) > 0 {
		t.Fatal(ps)
	}
	for _, tt := range []struct {
		name  string
		calls []callvet.Call
		found []string
	}{
		{"no call", nil, []string{"nothing was called although a tool was needed"}},
		{
			"a wrong argument, one is missing",
			[]callvet.Call{{Tool: "get_weather", Args: json.RawMessage(`{"city": "Lund"}`)}},
			[]string{`call 1: the value of "city" is not right`, "1 wanted call was not made"},
		},
		{
			"a call too many",
			[]callvet.Call{{Tool: "send_mail", Args: json.RawMessage(`{}`)}},
			[]string{"the wrong tool was called", "call 1 was not wanted", "a tool was called that must not be called"},
		},
		{
			"a broken contract",
			[]callvet.Call{{Tool: "get_weather", Args: json.RawMessage(`{"city": 7}`)}},
			[]string{"call 1 breaks the schema of its tool"},
		},
		{
			"no such tool",
			[]callvet.Call{{Tool: "weather", Args: json.RawMessage(`{}`)}},
			[]string{"a tool was called that does not exist"},
		},
	} {
		cell := callvet.Cell{Trace: callvet.Trace{
			CaseID: "a", Outcome: callvet.OutcomeCalled, End: callvet.EndAnswered, FinishReason: "stop",
			Answer: "It rains.",
			Turns:  []callvet.Turn{{Role: callvet.RoleAssistant, Content: "It rains.", Calls: tt.calls}},
		}}
		cell.Trace.Classify("")
		cell.Result = compiled.Score(&cell.Trace)
		e, ok := EvidenceOf(0, &suite.Cases[0], &cell)
		b, err := json.Marshal(e)
		if !ok || err != nil || strings.Contains(string(b), planted0) {
			t.Errorf("%s: %v %s", tt.name, err, b)
		}
		for _, want := range tt.found {
			if !slices.ContainsFunc(e.Found, func(s string) bool { return strings.HasPrefix(s, want) }) {
				t.Errorf("%s: found %q, and not %q", tt.name, e.Found, want)
			}
		}
	}
	if _, ok := EvidenceOf(0, &suite.Cases[0],
		&callvet.Cell{Result: callvet.Result{Verdict: callvet.VerdictPass}}); ok {
		t.Error("a pass is evidence")
	}
}
