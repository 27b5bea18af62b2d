// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tune

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/value"
)

// Evidence describes a failed attempt to the model that writes prompts: the question, the calls,
// and the mistakes. It contains no expectation of the case: no tool, argument, value or text that
// is only in the expectations.
type Evidence struct {
	// Candidate is the position of the candidate that the attempt was made with.
	Candidate int            `json:"-"`
	Asked     []EvidenceTurn `json:"asked"`
	Called    []EvidenceCall `json:"called"`
	Answered  string         `json:"answered,omitempty"`
	// Found are sentences of this package about the failure.
	Found []string `json:"found"`

	class callvet.Class
	// gold are texts that the case expects: no prompt may contain them. They are never shown.
	gold []string
}

// EvidenceTurn is a turn of the conversation before the attempt.
type EvidenceTurn struct {
	Role callvet.Role `json:"role"`
	Text string       `json:"text"`
}

// EvidenceCall is a call of the attempt. Arguments are as they were emitted.
type EvidenceCall struct {
	Tool      string         `json:"tool"`
	Arguments string         `json:"arguments,omitempty"`
	Status    callvet.Status `json:"status,omitempty"`
}

// Limits of evidence.
const (
	evidenceTurns = 6
	evidenceCalls = 8
	evidenceFound = 8
)

// EvidenceOf returns the evidence of an attempt of a candidate; false if the attempt did not fail.
// The case and the attempt must be redacted, and the case must be of the training half. Messages of
// the result and of the world are not used: they may quote expectations.
func EvidenceOf(candidate int, c *callvet.Case, cell *callvet.Cell) (Evidence, bool) {
	r, t := &cell.Result, &cell.Trace
	if r.Verdict != callvet.VerdictFail {
		return Evidence{}, false
	}
	e := Evidence{Candidate: candidate, Called: []EvidenceCall{}, class: r.Class, gold: gold(c)}
	if c.Context != "" {
		e.Asked = append(e.Asked, EvidenceTurn{callvet.RoleSystem, plain.Limited(c.Context, questionText)})
	}
	messages := slices.DeleteFunc(slices.Clone(c.Input), func(t callvet.Turn) bool {
		return t.Role != callvet.RoleUser && t.Role != callvet.RoleAssistant || strings.TrimSpace(t.Content) == ""
	})
	for _, turn := range messages[max(0, len(messages)-evidenceTurns):] {
		e.Asked = append(e.Asked, EvidenceTurn{turn.Role, plain.Limited(turn.Content, questionText)})
	}
	calls := t.Calls()
	for i := range calls[:min(len(calls), evidenceCalls)] {
		call := &calls[i]
		args := string(call.Args)
		if call.Args == nil {
			args = call.ArgsRaw
		}
		e.Called = append(e.Called,
			EvidenceCall{plain.Limited(call.Tool, 200), plain.Limited(args, questionText), known(call.Status)})
	}
	e.Answered = plain.Limited(t.Answer, questionText)
	e.find(r, t, calls)
	return e, true
}

// known returns a status of a call if it is in the format, else "".
func known(s callvet.Status) callvet.Status {
	switch s {
	case callvet.StatusOK, callvet.StatusRejected, callvet.StatusExecErr, callvet.StatusTimeout:
		return s
	}
	return ""
}

// find describes the mistakes in the result, without quoting it.
func (e *Evidence) find(r *callvet.Result, t *callvet.Trace, calls []callvet.Call) {
	if s := classSentence(r.Class); s != "" {
		e.found(s)
	}
	if r.Class == callvet.ClassUnparseable && t.Reason != "" {
		e.found(t.Reason.Sentence())
	}
	e.findCalls(r, calls)
	for i := range r.Assertions {
		if a := &r.Assertions[i]; a.State == callvet.AssertFailed {
			e.found(assertionSentence(a))
		}
	}
	if len(e.Found) == 0 {
		e.found("the attempt is not what the task asks for")
	}
}

// findCalls describes the mistakes of each call.
func (e *Evidence) findCalls(r *callvet.Result, calls []callvet.Call) {
	missing := 0
	for i := range r.Calls {
		m := &r.Calls[i]
		if m.State == callvet.StateMissing {
			missing++
		}
		if m.Actual < 0 || m.Actual >= len(calls) {
			continue
		}
		who := "call " + strconv.Itoa(m.Actual+1)
		if m.State == callvet.StateExtra {
			e.found(who + " was not wanted")
		}
		named := false
		for _, d := range m.Args {
			if name := argument(&calls[m.Actual], d.Path); name != "" && !d.Matched {
				named = true
				e.found(fmt.Sprintf("%s: the value of %q is not right", who, name))
			}
		}
		if m.State == callvet.StatePartial && !named {
			e.found(who + ": an argument is missing or not right")
		}
		for _, v := range m.Violations {
			if !v.Unknown() {
				e.found(fmt.Sprintf("%s breaks the schema of its tool: %s", who,
					plain.Limited(v.Message, questionText)))
			}
		}
	}
	if missing > 0 && len(calls) > 0 {
		e.found(plain.Count(missing, "wanted call was", "wanted calls were") + " not made")
	}
}

// found adds a sentence once.
func (e *Evidence) found(s string) {
	if len(e.Found) < evidenceFound && !slices.Contains(e.Found, s) {
		e.Found = append(e.Found, s)
	}
}

// argument returns the name of the call's argument at the beginning of a path; "" if the call
// does not have it, because the name is then an expectation.
func argument(c *callvet.Call, path string) string {
	name := path
	if i := strings.IndexAny(path, ".["); i >= 0 {
		name = path[:i]
	}
	v, err := value.Parse(c.Args)
	if err != nil {
		return ""
	}
	for _, n := range []string{path, name} {
		if _, ok := v.Get(n); ok {
			return plain.Limited(n, 200)
		}
	}
	return ""
}

// classSentence describes an error class; "" for one that the rest describes.
func classSentence(c callvet.Class) string {
	switch c {
	case callvet.ClassUnparseable:
		return "the output cannot be read as a call or as an answer"
	case callvet.ClassUnknownTool:
		return "a tool was called that does not exist"
	case callvet.ClassMissedCall:
		return "nothing was called although a tool was needed"
	case callvet.ClassUnneededCall:
		return "a tool was called although none was needed"
	case callvet.ClassWrongTool:
		return "the wrong tool was called"
	case callvet.ClassContract:
		return "the arguments of a call break the schema of the tool"
	case callvet.ClassUnknownArg:
		return "a call has an argument that is not wanted"
	case callvet.ClassWrongArgs:
		return "the arguments of a call are not right"
	case callvet.ClassMissingPrereq:
		return "a call was made without the call that has to come before it"
	case callvet.ClassWrongOrder:
		return "the calls are not in the right order"
	case callvet.ClassLoop:
		return "the same call was made again and again"
	case callvet.ClassIncomplete:
		return "the attempt ended before everything was done"
	case callvet.ClassPolicy:
		return "a call breaks a rule of safety"
	case callvet.ClassBudget:
		return "the attempt took more than is allowed"
	case callvet.ClassAnswer:
		return "the answer in words is not what the task asks for"
	case callvet.ClassRoute, callvet.ClassSubRoute, callvet.ClassAgents, callvet.ClassSelected:
		return "the wrong tools were selected"
	case callvet.ClassProvider:
	}
	return ""
}

// assertionSentence describes a failed assertion by its name in the suite format; names that a suite gives
// are not used.
func assertionSentence(a *callvet.Assertion) string {
	switch a.Name {
	case "response_non_empty":
		return "the answer has no words"
	case "response_contains", "response_contains_any", "response_matches":
		return "something that the answer has to contain is not in it"
	case "response_not_contains":
		return "the answer contains something that must not be in it"
	case "response_json":
		return "the answer is not the JSON that is wanted"
	case "no_ungrounded_numbers":
		return "the answer has a number that neither the user nor a tool gave"
	case "no_tool_errors":
		return "a call failed"
	case "tools_not_called":
		return "a tool was called that must not be called"
	case "min_tool_calls":
		return "too few calls were made"
	case "max_tool_calls", "max_requests":
		return "too many calls or rounds were made"
	case "max_same_calls":
		return "the same call was made too often"
	}
	switch a.Layer {
	case callvet.LayerRouting:
		return "the choice of tools is not right"
	case callvet.LayerArguments:
		return "the arguments of the calls are not right"
	case callvet.LayerResponse:
		return "the answer in words is not what the task asks for"
	case callvet.LayerBudget:
		return "the attempt took more time, tokens or money than is allowed"
	case callvet.LayerSafety:
		return "a rule of safety is broken"
	}
	return "something that the task asks for is missing"
}

// gold returns, folded, the texts that a case expects and does not show to the target: values of
// its expectations, of its rules for several turns and of its safety, and the arguments of its
// mocks.
func gold(c *callvet.Case) []string {
	of := struct {
		Expect    *callvet.Expect
		MultiTurn *callvet.MultiTurn
		Safety    *callvet.Safety
		Mocks     []json.RawMessage
	}{Expect: &c.Expect, MultiTurn: c.MultiTurn, Safety: c.Safety}
	for i := range c.Mocks {
		of.Mocks = append(of.Mocks, c.Mocks[i].Args)
	}
	b, err := json.Marshal(of)
	if err != nil { // arguments that are no JSON; lint refuses them
		return nil
	}
	v, err := value.Parse(b)
	if err != nil {
		return nil
	}
	given := fold(c.Context) + " " + definitions(c.Tools)
	for i := range c.Input {
		given += " " + fold(c.Input[i].Content)
	}
	var out []string
	leaves(v, func(s string) {
		if s = fold(s); distinctive(s) && !strings.Contains(given, s) && !slices.Contains(out, s) {
			out = append(out, s)
		}
	})
	return out
}

// distinctive reports whether a text is unusual enough to prove that a prompt took it from the
// expectations: a word or two may occur in any prompt.
func distinctive(s string) bool {
	return len(s) >= 6 && (strings.ContainsAny(s, "0123456789_@/") || strings.Count(s, " ") >= 2)
}

// definitions returns the folded definitions of tools.
func definitions(tools []callvet.Tool) string {
	var b strings.Builder
	for i := range tools {
		t := &tools[i]
		b.WriteString(t.Name + " " + t.Description + " " + string(t.Parameters) + " ")
	}
	return fold(b.String())
}

// settings are members of expectations that contain only words of the suite format and names that
// the case shows, and no expected values.
var settings = []string{"mode", "order", "extra_args", "id", "after", "type", "kind", "tolerance"}

// leaves calls f for each text and each number in a value.
func leaves(v value.Value, f func(string)) {
	switch v.Kind() {
	case value.String:
		f(v.Str())
	case value.Number:
		f(string(v.Raw()))
	case value.Array, value.Object:
		for m, ok := v.First(); ok; m, ok = v.Next(m) {
			if !slices.Contains(settings, m.Key()) || m.Kind() != value.String {
				leaves(m, f)
			}
		}
	}
}

// fold removes differences of letter case and of the amount of white space.
func fold(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
