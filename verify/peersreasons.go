// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/value"
)

// A row differs for a reason of principle if it is of the reason's kind and agrees once the peer's
// rule is applied: without repetitions, with the calls in prose. A row with another reason still
// differs then.
const (
	ofRepeats = "A call counts as often as it was made. ragas compares sets of calls."
	ofNothing = "Expecting nothing is met where nothing is called. ragas gives 0."
	ofProse   = "Calls in a code fence are read. promptfoo reads lines of JSON in prose and leaves out fences."
	ofNone    = "An attempt without an output is an error. promptfoo gives 0."
	ofBlank   = "An output that holds no call is an abstention, also where it is blank, as for the leaderboard's own checker."
	ofSteps   = "Steps that are no calls are not read from a recording of promptfoo, so that the case is skipped."
	ofAnswer  = "The row does not have the answer that the test compares."
	ofProgram = "Suites hold no programs."
	ofReading = "The test is of reading spans, which importing traces does, and compares no calls."
)

// unsayable returns the reason of principle why no suite expresses a row; "" if there is none.
func (r *peerRow) unsayable() string {
	for _, x := range []struct{ kind, why string }{
		{"user-supplied compare function", ofProgram},
		{"extraction from .*spans, no scoring rule", ofReading},
	} {
		if regexp.MustCompile(x.kind).MatchString(r.Unsaid) {
			return x.why
		}
	}
	return ""
}

// principle returns the reason of principle why a row differs; "" if there is none.
func (r *peerRow) principle(ctx context.Context, tools json.RawMessage) (string, error) {
	for _, x := range []struct {
		peer, why string
		as        func(r *peerRow) []peerRow // the row in the peer's form; none if it is the same
	}{
		{"ragas", ofRepeats, (*peerRow).withoutRepeats},
		{"promptfoo", ofProse, (*peerRow).withCallsOfProse},
		{"", ofAnswer, (*peerRow).withAnswer},
	} {
		if !strings.HasPrefix(r.Peer, x.peer) {
			continue
		}
		for _, again := range x.as(r) {
			differs, err := again.differs(ctx, tools)
			if err != nil {
				return "", err
			}
			if differs == "" {
				return x.why, nil
			}
		}
	}
	return r.onPurpose(ctx, tools)
}

// onPurpose returns the reason why a row differs if callvet cannot have the peer's input: then each
// verdict must be right by its own rules.
func (r *peerRow) onPurpose(ctx context.Context, tools json.RawMessage) (string, error) {
	result, err := r.scored(ctx, tools)
	if err != nil {
		return "", err
	}
	ofPromptfoo, zero := strings.HasPrefix(r.Peer, "promptfoo"),
		r.Expected.Verdict == "fail" && allAre(r.Expected.Scores, 0)
	for _, x := range []struct {
		why  string
		kind bool
		got  callvet.Verdict
	}{
		{
			ofNothing, r.Peer == "ragas" && zero && len(r.Expected.Scores) > 0 && r.expectsNothing() && r.makesNothing(),
			callvet.VerdictPass,
		},
		{ofNone, ofPromptfoo && zero && r.blankOutput("null"), callvet.VerdictError},
		{ofBlank, r.Route == bfclRoute && zero && strings.Contains(string(r.Suite.BFCL["category"]), "irrelevance") &&
			r.blankOutput(`""`), callvet.VerdictPass},
		{ofSteps, r.Route == promptfooRoute && r.ofOtherSteps(), callvet.VerdictNotRun},
	} {
		if x.kind && result.Verdict == x.got {
			return x.why, nil
		}
	}
	return "", nil
}

// withoutRepeats returns the row with each call once, if some are repeated.
func (r *peerRow) withoutRepeats() []peerRow {
	var calls, kept []json.RawMessage
	if json.Unmarshal(r.Suite.Actual, &calls) != nil {
		return nil
	}
	for _, c := range calls {
		if !slices.ContainsFunc(kept, func(k json.RawMessage) bool { return bytes.Equal(k, c) }) {
			kept = append(kept, c)
		}
	}
	if len(kept) == len(calls) {
		return nil
	}
	return []peerRow{r.with(kept)}
}

func (r *peerRow) with(actual any) peerRow {
	b, err := json.Marshal(actual)
	if err != nil { // values that were read can be written
		return *r
	}
	again, suite := *r, *r.Suite
	suite.Actual, suite.ActualOutput, suite.Result = b, nil, nil
	again.Suite = &suite
	return again
}

// withCallsOfProse returns the row with the calls that the peer reads in a text with other words:
// JSON objects on separate lines, outside of code fences.
func (r *peerRow) withCallsOfProse() []peerRow {
	var text string
	if json.Unmarshal(r.Suite.ActualOutput, &text) != nil {
		return nil
	}
	unfenced := withoutFences(text)
	names, rest := callsIn(unfenced)
	if unfenced == text && strings.Trim(rest, "[], \t\r\n") == "" {
		return nil // only calls
	}
	if t, err := r.Suite.attempt(r.Route, "", callvet.NewToolset(r.Suite.named())); err != nil ||
		!onlyFenced(t.Calls(), text, names) {
		return nil
	}
	calls := []any{}
	for _, name := range names {
		calls = append(calls, map[string]any{"tool": name, "args": map[string]any{}})
	}
	return []peerRow{r.with(calls)}
}

// onlyFenced reports whether all calls are in blocks of code.
func onlyFenced(calls []callvet.Call, text string, unfenced []string) bool {
	all, _ := callsIn(text)
	return !slices.ContainsFunc(calls,
		func(c callvet.Call) bool { return !slices.Contains(all, c.Tool) || slices.Contains(unfenced, c.Tool) })
}

// withoutFences removes blocks of code with their content, also an unclosed one. A fence ends with at
// least as many marks.
func withoutFences(text string) string {
	var out strings.Builder
	open := ""
	for line := range strings.Lines(text) {
		marks := strings.TrimSpace(line)
		switch run := fenceOf(marks); {
		case open == "" && run != "":
			open = run
		case open == "":
			out.WriteString(line)
		case run == marks && strings.HasPrefix(run, open):
			open = ""
		}
	}
	return out.String()
}

// fenceOf returns the marks at the start of a line that begin a block of code.
func fenceOf(line string) string {
	for _, mark := range []string{"`", "~"} {
		if run := line[:len(line)-len(strings.TrimLeft(line, mark))]; len(run) >= 3 {
			return run
		}
	}
	return ""
}

// callsIn returns the names of the calls that are JSON objects on separate lines of a text, and the
// text without objects.
func callsIn(text string) (names []string, rest string) {
	var kept strings.Builder
	for {
		at := strings.IndexByte(text, '{')
		if at < 0 {
			return names, kept.String() + text
		}
		kept.WriteString(text[:at])
		text = text[at:]
		var o map[string]json.RawMessage
		d := json.NewDecoder(strings.NewReader(text))
		if d.Decode(&o) != nil {
			kept.WriteByte('{')
			text = text[1:]
			continue
		}
		object := text[:d.InputOffset()]
		text = text[d.InputOffset():]
		if name := callOf(o, object); name != "" && begins.MatchString(kept.String()) && ends.MatchString(text) {
			names = append(names, name)
			continue
		}
		kept.WriteString("{}")
	}
}

var (
	begins = regexp.MustCompile(`(?:^|\n)[ \t]*$`)
	ends   = regexp.MustCompile(`^[ \t\r]*(?:\n|$)`)
)

// callOf returns the name of the call that an object is; "" if it is no call or only contains one.
func callOf(o map[string]json.RawMessage, text string) string {
	isCall := slices.ContainsFunc([]string{"functionCall", "toolCall", "tool_calls", "function"},
		func(key string) bool { return o[key] != nil })
	v, err := value.Parse([]byte(text))
	if t := string(o["type"]); err != nil || !isCall && t != `"tool_use"` && t != `"function_call"` {
		return ""
	}
	if held := message.Holds(v, nil); len(held) > 0 {
		return held[0].Tool
	}
	return ""
}

// withAnswer returns the row with the answer that it requires, if it has no record of an answer.
func (r *peerRow) withAnswer() []peerRow {
	var e struct {
		Response struct{ Contains []string }
	}
	var calls []json.RawMessage
	if json.Unmarshal(r.Suite.Case["expect"], &e) != nil || len(e.Response.Contains) == 0 ||
		json.Unmarshal(r.Suite.Actual, &calls) != nil {
		return nil
	}
	return []peerRow{r.with(map[string]any{"calls": calls, "output": strings.Join(e.Response.Contains, " ")})}
}

func (r *peerRow) expectsNothing() bool {
	var e struct {
		NoCall bool `json:"no_call"`
		Calls  []json.RawMessage
	}
	return r.Suite.Case["expect"] != nil && json.Unmarshal(r.Suite.Case["expect"], &e) == nil &&
		(e.NoCall || e.Calls != nil && len(e.Calls) == 0)
}

func (r *peerRow) makesNothing() bool { return strings.TrimSpace(string(r.Suite.Actual)) == "[]" }

// blankOutput reports whether the row has no calls and an output that is the given one or blank.
func (r *peerRow) blankOutput(as string) bool {
	out := r.Suite.ActualOutput
	if r.Route == bfclRoute {
		out = r.Suite.Result
	}
	var text string
	return r.Suite.Actual == nil &&
		(string(out) == as || out == nil && as == "null" || string(out) != "null" &&
			json.Unmarshal(out, &text) == nil && strings.TrimSpace(text) == "")
}

// ofOtherSteps reports whether an assertion is about steps that are not calls.
func (r *peerRow) ofOtherSteps() bool {
	var asserts []struct {
		Type  string
		Value json.RawMessage
	}
	if json.Unmarshal(r.Suite.Assert, &asserts) != nil {
		return false
	}
	for _, a := range asserts {
		var v struct{ Type any }
		if strings.HasSuffix(a.Type, "trajectory:step-count") && json.Unmarshal(a.Value, &v) == nil &&
			v.Type != "tool" {
			return true
		}
	}
	return false
}

func allAre(scores map[string]float64, want float64) bool {
	for _, v := range scores {
		if v != want {
			return false
		}
	}
	return true
}
