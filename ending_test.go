// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package callvet

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// stops lists every finish reason of the table by its meaning.
var stops = map[Stop][]string{
	StopDone: {"stop", "end_turn", "stop_sequence", "completed", "complete", "eos", "eos_token", "done"},
	StopCut: {
		"length", "model_length", "max_tokens", "max_output_tokens", "incomplete",
		"model_context_window_exceeded",
	},
	StopCalls:   {"tool_call", "tool_calls", "tool_use", "function_call"},
	StopPause:   {"pause_turn", "hitl"},
	StopDecoded: {"decoded", "undecodable"},
	StopProvider: slices.Concat(providerStops[FaultFiltered], providerStops[FaultRefused], providerStops[FaultFailed],
		providerStops[FaultDropped], providerStops[FaultNoCall]),
	StopUnknown: {
		"other", "unknown", "unspecified", "null", "none", "finished", "stopped", "?", "stop.", "language",
		"too_long", "lengthy", "max_token",
	},
}

// providerStops lists the finish reasons of a provider by the kind of their fault.
var providerStops = map[FaultKind][]string{
	FaultFiltered: {
		"content_filter", "content_filtered", "safety", "recitation", "blocklist", "prohibited_content", "spii",
		"guardrail_intervened", "blocked", "blocked: SAFETY",
	},
	FaultRefused: {"refusal"},
	FaultFailed:  {"error", "failed"},
	FaultDropped: {"cancelled", "canceled"},
	FaultNoCall:  {"unexpected_tool_call", "malformed_function_call"},
}

// spelled returns the spellings of one finish reason.
func spelled(reason string) []string {
	words := strings.Split(reason, "_")
	for i, w := range words[1:] {
		words[i+1] = strings.ToUpper(w[:1]) + w[1:]
	}
	return []string{
		reason, strings.ToUpper(reason), strings.ReplaceAll(reason, "_", "-"), strings.ReplaceAll(reason, "_", " "),
		strings.Join(words, ""),
		"FINISH_REASON_" + strings.ToUpper(reason), "finish-reason-" + strings.ReplaceAll(reason, "_", "-"),
		" " + reason + " ",
	}
}

func TestStopOf(t *testing.T) {
	t.Parallel()
	for want, reasons := range stops {
		for _, reason := range reasons {
			for _, s := range spelled(reason) {
				if got := StopOf(s); got != want {
					t.Errorf("%q means %q, want %q", s, got, want)
				}
			}
		}
	}
	for _, none := range []string{"", " ", "_", "FINISH_REASON_"} {
		if got := StopOf(none); got != StopNone {
			t.Errorf("%q means %q", none, got)
		}
	}
}

func TestStopKey(t *testing.T) {
	t.Parallel()
	if got := stopKey("FINISH_REASON_A-Z az: WHY"); got != "azaz" {
		t.Errorf("the key is %q", got)
	}
}

// answers are what an answer can have in it, each with a finish reason that is set later.
var answers = map[string]Response{
	"text": {Turns: []Turn{
		{Role: RoleUser, Content: "go on"},
		{Role: RoleAssistant, Content: "It rains.", Reasoning: "hm"},
	}},
	"text, in parts": {Turns: []Turn{{Role: RoleAssistant, Content: "It rains."}, {Role: RoleAssistant}}},
	"blank":          {Turns: []Turn{{Role: RoleAssistant, Content: " \n\t", Reasoning: " "}}},
	"user's text":    {Turns: []Turn{{Role: RoleUser, Content: "go on", Reasoning: "hm"}, {Role: RoleAssistant}}},
	"nothing":        {},
	"reasoning": {Turns: []Turn{
		{Role: RoleAssistant, Content: " ", Reasoning: "The user wants rain."},
		{Role: RoleAssistant},
	}},
	"call": {Turns: []Turn{
		{Role: RoleAssistant, Calls: []Call{{Tool: "f", Args: json.RawMessage(`{}`)}}},
		{Role: RoleTool, Content: "1"},
	}},
	"mark": {Turns: []Turn{{Role: RoleAssistant, Content: "<tool_call>{"}}, Unreadable: true},
	"call and mark": {
		Turns:      []Turn{{Role: RoleAssistant, Content: "<tool_call>{", Calls: []Call{{Tool: "f"}}}},
		Unreadable: true,
	},
	"cut stream":     {Turns: []Turn{{Role: RoleAssistant, Content: "It"}}, Why: ReasonCut},
	"decision":       {Decision: &Decision{}},
	"text of a form": {Turns: []Turn{{Role: RoleAssistant, Content: "It rains."}}, CallsUnknown: true},
	"mark of a form": {
		Turns: []Turn{{Role: RoleAssistant, Content: "<tool_call>"}}, CallsUnknown: true,
		Unreadable: true,
	},
}

// alike are the answers that end like another, whatever the finish reason.
var alike = map[string]string{
	"text, in parts": "text", "user's text": "blank", "nothing": "blank",
	"mark of a form": "mark",
}

// ends returns for a finish reason what each answer shows: a Reason, or "! " and the kind of a
// fault. An answer that is not named shows nothing.
var ends = map[string]map[string]string{
	"stop": {
		"blank": "empty_answer", "reasoning": "reasoning_only", "mark": "unreadable_call",
		"call and mark": "unreadable_call",
	},
	"": {
		"blank": "empty_answer", "reasoning": "reasoning_only", "mark": "unreadable_call",
		"call and mark": "unreadable_call",
	},
	"decoded":                       {"mark": "unreadable_call", "call and mark": "unreadable_call"},
	"length":                        cutOff("token_limit"),
	"MAX_TOKENS":                    cutOff("token_limit"),
	"model_length":                  cutOff("context_window"),
	"incomplete":                    cutOff("cut_off"),
	"model_context_window_exceeded": cutOff("context_window"),
	"max_output_tokens":             cutOff("token_limit"),
	"tool_calls":                    faulty("! malformed", "unreadable_call"),
	"pause_turn":                    faulty("! unknown", "unreadable_call"),
	"other":                         faulty("! unknown", "unreadable_call"),
	"content_filter":                faulty("! content_filter", "! content_filter"),
	"blocked: OTHER":                faulty("! content_filter", "! content_filter"),
	"refusal":                       faulty("! refusal", "! refusal"),
	"error":                         faulty("! failed", "! failed"),
	"cancelled":                     faulty("! dropped", "! dropped"),
	"MALFORMED_FUNCTION_CALL":       faulty("! bad_call", "! bad_call"),
}

func cutOff(why string) map[string]string {
	m := faulty(why, "call_cut_off")
	m["call and mark"] = "call_cut_off"
	return m
}

func faulty(silent, mark string) map[string]string {
	return map[string]string{
		"text": silent, "text of a form": silent, "blank": silent, "reasoning": silent,
		"mark": mark, "call and mark": "unreadable_call",
	}
}

func TestEnding(t *testing.T) {
	t.Parallel()
	for reason, table := range ends {
		for name, r := range answers {
			r.FinishReason = reason
			like := name
			if alike[name] != "" {
				like = alike[name]
			}
			want := table[like]
			switch {
			case name == "cut stream":
				want = "cut_off" // the reader of the stream knows why
			case name == "text of a form" && reason == "pause_turn":
				want = "" // its form has no place for the calls
			}
			why, fault := r.Ending()
			got := string(why)
			if fault != nil {
				got += "! " + string(fault.Kind)
			}
			if got != want {
				t.Errorf("%s with %q: %q, want %q", name, reason, got, want)
			}
			if unread := r.Unread(); unread != why {
				t.Errorf("%s with %q: unread for %q, and ended with %q", name, reason, unread, why)
			}
			if fault != nil &&
				(!strings.Contains(fault.Message, reason) || fault.Retryable != (fault.Kind == FaultFailed)) {
				t.Errorf("%s with %q: %+v", name, reason, fault)
			}
		}
	}
}

// TestStopAfterCalls: a provider that ends the answer which follows calls and results is a fault,
// because the task could have gone on; one that ends the answer with the calls is none.
func TestStopAfterCalls(t *testing.T) {
	t.Parallel()
	call := Turn{Role: RoleAssistant, Calls: []Call{{Tool: "f", Args: []byte("{}")}}}
	result, words, nothing := Turn{Role: RoleTool, Content: "5"}, Turn{Role: RoleAssistant, Content: "Five."},
		Turn{Role: RoleAssistant}
	for _, tt := range []struct {
		reason string
		turns  []Turn
		want   FaultKind
	}{
		{"content_filter", []Turn{call}, ""},
		{"content_filter", []Turn{call, result}, ""},
		{"content_filter", []Turn{call, result, words}, FaultFiltered},
		{"failed", []Turn{call, result, nothing}, FaultFailed},
		{"length", []Turn{call, result, words}, ""},
		{"stop", []Turn{call, result, nothing}, ""},
		{"banana", []Turn{call, result, words}, ""},
		{"tool_calls", []Turn{call, result, words}, ""},
	} {
		r := Response{FinishReason: tt.reason, Turns: tt.turns}
		got := FaultKind("")
		if _, f := r.Ending(); f != nil {
			got = f.Kind
		}
		if got != tt.want {
			t.Errorf("%q after %d turns: fault %q, want %q", tt.reason, len(tt.turns), got, tt.want)
		}
	}
}

// TestCutShort: an answer that is cut off in a call before its first argument has the call with empty
// arguments. That is not a call without arguments.
func TestCutShort(t *testing.T) {
	t.Parallel()
	ask := func(calls ...Call) []Turn { return []Turn{{Role: RoleAssistant, Calls: calls}} }
	empty, full := Call{Tool: "f", Args: json.RawMessage(`{}`)}, Call{Tool: "f", Args: json.RawMessage(`{"a":1}`)}
	answered, refused, written := empty, empty, empty
	answered.Status, refused.Env, written.Repairs = StatusOK, EnvGuard, []string{"call_in_text"}
	for name, tc := range map[string]struct {
		turns  []Turn
		reason string
		want   Reason
	}{
		"no argument":            {ask(empty), "length", ReasonCutCall},
		"the last of two":        {ask(full, empty), "max_tokens", ReasonCutCall},
		"the first of two":       {ask(empty, full), "max_tokens", ""},
		"an argument":            {ask(full), "length", ""},
		"ended by itself":        {ask(empty), "tool_calls", ""},
		"no reason":              {ask(empty), "", ""},
		"answered":               {ask(answered), "length", ""},
		"denied by a guard":      {ask(refused), "length", ""},
		"with a result":          {append(ask(empty), Turn{Role: RoleTool, Content: "5"}), "length", ""},
		"written in the text":    {ask(written), "length", ""},
		"arguments not recorded": {ask(Call{Tool: "f"}), "length", ""},
	} {
		r := Response{Turns: tc.turns, FinishReason: tc.reason}
		if why, fault := r.Ending(); why != tc.want || fault != nil {
			t.Errorf("%s: the answer is unparseable for %q, want %q; fault %v", name, why, tc.want, fault)
		}
		tr := Trace{Turns: tc.turns, FinishReason: tc.reason}
		if tr.Classify(""); tr.Reason != tc.want {
			t.Errorf("%s: the trace is unparseable for %q, want %q", name, tr.Reason, tc.want)
		}
	}
}

func TestProviderStops(t *testing.T) {
	t.Parallel()
	for want, reasons := range providerStops {
		for _, reason := range reasons {
			for _, s := range spelled(reason) {
				r := answers["text"]
				r.FinishReason = s
				if why, fault := r.Ending(); why != "" || fault == nil || fault.Kind != want {
					t.Errorf("a text that ended with %q: %q and %+v, want %s", s, why, fault, want)
				}
			}
		}
	}
}

// TestRemark: only what has calls and did not end by itself has a remark.
func TestRemark(t *testing.T) {
	t.Parallel()
	sentences := map[string]string{
		"length": "the answer was cut off after its calls (length)",
		"safety": "the provider ended the answer after its calls (safety)",
		"other":  `the finish reason "other" is not known`,
	}
	for _, reason := range []string{"", "stop", "length", "tool_calls", "pause_turn", "decoded", "safety", "other"} {
		for name, r := range answers {
			r.FinishReason = reason
			want := ""
			if r.called() {
				want = sentences[reason]
			}
			if got := r.Remark(); got != want {
				t.Errorf("%s with %q: %q, want %q", name, reason, got, want)
			}
		}
	}
	r := answers["call"]
	r.FinishReason, r.Decision = "length", &Decision{}
	if got := r.Remark(); got != "" {
		t.Errorf("a decision has the remark %q", got)
	}
}

func TestNote(t *testing.T) {
	t.Parallel()
	var tr Trace
	for _, remark := range []string{"a", "", "b", "a"} {
		tr.Note(remark)
	}
	if diff := cmp.Diff([]string{"a", "b"}, tr.Notes); diff != "" {
		t.Error(diff)
	}
	var r Response
	r.Note("a")
	r.Note("")
	if diff := cmp.Diff([]string{"a"}, r.Notes); diff != "" {
		t.Error(diff)
	}
}

// TestBlocked: a filter and a refusal of the provider's own block an answer.
func TestBlocked(t *testing.T) {
	t.Parallel()
	for kind, want := range map[FaultKind]bool{
		FaultFiltered: true, FaultRefused: true, FaultFailed: false,
		FaultUnknown: false,
	} {
		if got := (&Fault{Kind: kind}).Blocked(); got != want {
			t.Errorf("%s: %t", kind, got)
		}
	}
}

// TestSentences: each reason has its own words, and a reason that is not known has some.
func TestSentences(t *testing.T) {
	t.Parallel()
	seen := map[string]Reason{}
	for _, r := range []Reason{
		ReasonTokens, ReasonContext, ReasonCut, ReasonEmpty, ReasonThoughts, ReasonCall,
		ReasonCutCall, ReasonArguments,
	} {
		s := r.Sentence()
		if seen[s] != "" || s == "" {
			t.Errorf("%s and %s are %q", r, seen[s], s)
		}
		seen[s] = r
	}
	if seen[Reason("new").Sentence()] == "" {
		t.Error("an unknown reason has no sentence")
	}
}

func TestClassify(t *testing.T) {
	t.Parallel()
	call := func(c Call) []Turn { return []Turn{{Role: RoleAssistant, Calls: []Call{c}}} }
	whole, nameless := Call{Tool: "f", Args: json.RawMessage(`{}`)}, Call{Tool: " ", Args: json.RawMessage(`{}`)}
	torn := Call{Tool: "f", ArgsRaw: `{"a":`}
	for name, tc := range map[string]struct {
		trace  Trace
		why    Reason
		want   Outcome
		reason Reason
		format Format
		notes  []string
	}{
		"words":          {trace: Trace{FinishReason: "stop"}, want: OutcomeAbstained, format: FormatPass},
		"words, no stop": {want: OutcomeAbstained, format: FormatPass, notes: []string{NoteNoStop}},
		"words, mended": {
			trace: Trace{FinishReason: "stop", Repairs: []string{"x"}},
			want:  OutcomeAbstained, format: FormatNormalized,
		},
		"cut off": {
			trace: Trace{FinishReason: "length"}, why: ReasonTokens,
			want: OutcomeUnparseable, reason: ReasonTokens, format: FormatFail,
		},
		"call": {trace: Trace{Turns: call(whole)}, want: OutcomeCalled, format: FormatPass},
		"call, then cut off": {
			trace: Trace{Turns: call(whole)}, why: ReasonTokens, want: OutcomeCalled,
			format: FormatPass, notes: []string{"after the calls: " + ReasonTokens.Sentence()},
		},
		"call, then empty": {
			trace: Trace{Turns: call(whole)}, why: ReasonEmpty, want: OutcomeCalled,
			format: FormatPass, notes: []string{"after the calls: " + ReasonEmpty.Sentence()},
		},
		"call and a mark": {
			trace: Trace{Turns: call(whole)}, why: ReasonCall, want: OutcomeUnparseable,
			reason: ReasonCall, format: FormatFail,
		},
		"call and a torn mark": {
			trace: Trace{Turns: call(whole)}, why: ReasonCutCall, want: OutcomeUnparseable,
			reason: ReasonCutCall, format: FormatFail,
		},
		"no name": {
			trace: Trace{Turns: call(nameless)}, want: OutcomeUnparseable,
			reason: ReasonArguments, format: FormatFail,
		},
		"torn arguments": {
			trace: Trace{Turns: call(torn), FinishReason: "stop"}, want: OutcomeUnparseable,
			reason: ReasonArguments, format: FormatFail,
		},
		"torn arguments, cut off": {
			trace: Trace{Turns: call(torn), FinishReason: "length"},
			want:  OutcomeUnparseable, reason: ReasonCutCall, format: FormatFail,
		},
		"torn arguments, then empty": {
			trace: Trace{Turns: call(torn)}, why: ReasonEmpty, want: OutcomeUnparseable,
			reason: ReasonArguments, format: FormatFail,
		},
		"torn arguments and a mark": {
			trace: Trace{Turns: call(torn)}, why: ReasonCall, want: OutcomeUnparseable,
			reason: ReasonCall, format: FormatFail,
		},
		"one torn of two": {
			trace: Trace{Turns: append(call(torn), call(whole)...)},
			want:  OutcomeUnparseable, reason: ReasonArguments, format: FormatFail,
		},
		"fault": {trace: Trace{
			Turns: call(whole), Fault: &Fault{Kind: FaultFiltered},
			Reason: ReasonCall,
		}, why: ReasonTokens, want: OutcomeError, format: FormatFail},
		"skipped":  {trace: Trace{End: EndSkipped}, why: ReasonEmpty, want: OutcomeNotRun},
		"canceled": {trace: Trace{End: EndCanceled, Turns: call(whole)}, want: OutcomeNotRun},
		"a tool chosen": {
			trace: Trace{Decision: &Decision{Tools: []Ranked{{Tool: "f"}}}},
			want:  OutcomeCalled,
		},
		"no tool chosen": {trace: Trace{Decision: &Decision{}}, want: OutcomeAbstained},
	} {
		tr := tc.trace
		tr.Classify(tc.why)
		if tr.Outcome != tc.want || tr.Reason != tc.reason || tr.Format != tc.format {
			t.Errorf("%s: %s %q %s, want %s %q %s", name, tr.Outcome, tr.Reason, tr.Format, tc.want,
				tc.reason, tc.format)
		}
		if diff := cmp.Diff(tc.notes, tr.Notes); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
