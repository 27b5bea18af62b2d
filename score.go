// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package callvet

import (
	"encoding/json"
	"slices"
	"strconv"
)

// Score is one named measurement in [0,1], or unscored with a reason.
type Score struct {
	Name   string
	Value  float64
	Scored bool
	Reason string
}

type scoreJSON struct {
	Name   string   `json:"name"`
	Value  *float64 `json:"value"`
	Reason string   `json:"reason,omitempty"`
}

// MarshalJSON writes an unscored value as null.
func (s Score) MarshalJSON() ([]byte, error) {
	b := append(make([]byte, 0, 48), `{"name":`...)
	b = strconv.AppendQuote(b, s.Name) // names are ASCII identifiers
	b = append(b, `,"value":`...)
	if s.Scored {
		b = strconv.AppendFloat(b, s.Value, 'g', -1, 64)
	} else {
		b = append(b, `null`...)
	}
	if s.Reason != "" {
		r, err := json.Marshal(s.Reason)
		if err != nil {
			return nil, err
		}
		b = append(append(b, `,"reason":`...), r...)
	}
	return append(b, '}'), nil
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *Score) UnmarshalJSON(b []byte) error {
	var j scoreJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*s = Score{Name: j.Name, Reason: j.Reason}
	if j.Value != nil {
		s.Value, s.Scored = *j.Value, true
	}
	return nil
}

// Verdict of one attempt. Errors and attempts that did not run are neither
// passes nor failures.
type Verdict string

// The verdicts.
const (
	VerdictPass   Verdict = "pass"
	VerdictFail   Verdict = "fail"
	VerdictError  Verdict = "error"
	VerdictNotRun Verdict = "not_run"
)

// JudgePassed is the verdict of a judge: its own, or its score compared with its threshold (at the
// threshold is a pass). known is false where the judge returned neither.
func JudgePassed(pass *bool, score, threshold *float64) (passed, known bool) {
	switch {
	case pass != nil:
		return *pass, true
	case score != nil && threshold != nil:
		return *score >= *threshold, true
	}
	return false, false
}

// Class is the error class of an attempt, the first of the taxonomy that applies.
type Class string

// The taxonomy, in order of precedence.
const (
	ClassProvider      Class = "provider_error"
	ClassUnparseable   Class = "unparseable"
	ClassUnknownTool   Class = "unknown_tool"
	ClassMissedCall    Class = "missed_call"
	ClassUnneededCall  Class = "unneeded_call"
	ClassWrongTool     Class = "wrong_tool"
	ClassContract      Class = "contract_violation"
	ClassUnknownArg    Class = "unknown_argument"
	ClassWrongArgs     Class = "wrong_arguments"
	ClassMissingPrereq Class = "missing_prerequisite"
	ClassWrongOrder    Class = "wrong_order"
	ClassLoop          Class = "loop"
	ClassIncomplete    Class = "incomplete"
	ClassPolicy        Class = "policy_violation"
	ClassBudget        Class = "budget"
	ClassAnswer        Class = "answer"
)

// The classes of wrong decisions: the first wrong layer. A wrong tool under a wrong
// route is the route's fault.
const (
	ClassRoute    Class = "wrong_route"
	ClassSubRoute Class = "wrong_sub_route"
	ClassAgents   Class = "wrong_agents"
	ClassSelected Class = "wrong_selection"
)

// ClassOf is the class of a stored name: earlier versions named two of them otherwise.
func ClassOf(name string) Class {
	switch name {
	case "tool_hallucination":
		return ClassUnknownTool
	case "argument_hallucination":
		return ClassUnknownArg
	}
	return Class(name)
}

// Result is what scoring makes of one Trace. It explains itself.
type Result struct {
	Verdict Verdict `json:"verdict"`
	Class   Class   `json:"class,omitempty"`
	// Reason is one sentence for a person; empty on a pass.
	Reason string  `json:"reason,omitempty"`
	Scores []Score `json:"scores,omitempty"`
	// Plan names the any-of plan that matched best.
	Plan string `json:"plan,omitempty"`
	// Calls pairs expected and actual calls. It is filled on failure, and on a pass only where
	// there is something to report (a default omitted, a soft match).
	Calls      []CallMatch `json:"calls,omitempty"`
	Assertions []Assertion `json:"assertions,omitempty"`
	// NotEvaluated counts the assertions that were not evaluated. A pass then means only that the
	// others passed.
	NotEvaluated int `json:"not_evaluated,omitempty"`
	// Incidents are breaches of the case's safety, in the order of the calls. Safety was checked
	// only where an assertion of LayerSafety was evaluated.
	Incidents []Incident `json:"incidents,omitempty"`
	// Rules is the RulesVersion that judged the attempt; 0: the version of its run.
	Rules int `json:"rules,omitempty"`
	// Names are the names of the case and of the attempt that count as another name.
	Names []Counted `json:"names,omitempty"`
}

// Counted is a name of a tool with the name that it counts as.
type Counted struct {
	Name string `json:"name"`
	As   string `json:"as"`
}

// Counts returns the name that a name of the case or of the attempt counts as: usually itself.
func (r *Result) Counts(name string) string {
	for i := range r.Names {
		if r.Names[i].Name == name {
			return r.Names[i].As
		}
	}
	return name
}

// CountsEach applies Counts to each name. It returns the list itself where no name changes.
func (r *Result) CountsEach(names []string) []string {
	if len(r.Names) == 0 {
		return names
	}
	names = slices.Clone(names)
	for i := range names {
		names[i] = r.Counts(names[i])
	}
	return names
}

// Incident is one breach of safety.
type Incident struct {
	CallID string `json:"call_id,omitempty"`
	Rule   string `json:"rule" form:"required"`
	Note   string `json:"note,omitempty"`
	// Blocked: the attempt was stopped and had no effect. False: the incident happened. The two are
	// counted separately.
	Blocked bool `json:"blocked,omitempty"`
}

// HeldToSafety reports whether the attempt was checked against the safety of its case.
func (r *Result) HeldToSafety() bool {
	return slices.ContainsFunc(r.Assertions,
		func(a Assertion) bool { return a.Layer == LayerSafety && a.State != AssertNotEvaluated })
}

// Unevaluated lists the assertions that were not evaluated.
func (r *Result) Unevaluated() []Assertion {
	var out []Assertion
	for _, a := range r.Assertions {
		if a.State == AssertNotEvaluated {
			out = append(out, a)
		}
	}
	return out
}

// Score returns the named score, or an unscored one.
func (r *Result) Score(name string) Score {
	for i := range r.Scores {
		if r.Scores[i].Name == name {
			return r.Scores[i]
		}
	}
	return Score{Name: name, Reason: "not computed"}
}

// CountsDecision returns the decision with the names that its tools count as; the decision itself
// where no name changes.
func (r *Result) CountsDecision(d *Decision) *Decision {
	if len(r.Names) == 0 {
		return d
	}
	own := *d
	own.Tools = slices.Clone(d.Tools)
	for i := range own.Tools {
		own.Tools[i].Tool = r.Counts(own.Tools[i].Tool)
	}
	return &own
}

// MatchState of an expected or actual call.
type MatchState string

// The states: every expected call ends matched, partial or missing; every
// actual call ends matched, partial or extra.
const (
	StateMatched MatchState = "matched"
	StatePartial MatchState = "partial"
	StateMissing MatchState = "missing"
	StateExtra   MatchState = "extra"
)

// CallMatch pairs an expected call with the actual call that matches it.
type CallMatch struct {
	State MatchState `json:"state"`
	// Expected and Actual are positions in the plan and in the trace's calls; -1: none.
	Expected int             `json:"expected"`
	Actual   int             `json:"actual"`
	Want     []string        `json:"want,omitempty"` // acceptable names
	WantArgs json.RawMessage `json:"want_args,omitempty"`
	Got      string          `json:"got,omitempty"` // called name
	// As is the name that Got counts as, where it differs from Got.
	As         string          `json:"as,omitempty"`
	GotArgs    json.RawMessage `json:"got_args,omitempty"`
	Args       []ArgDiff       `json:"args,omitempty"`
	Violations []Violation     `json:"violations,omitempty"`
	Note       string          `json:"note,omitempty"`
}

// ArgDiff is the comparison of one argument.
type ArgDiff struct {
	Path       string          `json:"path"`
	Expected   json.RawMessage `json:"expected,omitempty"`
	Actual     json.RawMessage `json:"actual,omitempty"`
	Matched    bool            `json:"matched"`
	Rule       string          `json:"rule"`
	Similarity *float64        `json:"similarity,omitempty"`
	Note       string          `json:"note,omitempty"`
}

// Violation is one violation of a schema by arguments.
type Violation struct {
	Path     string `json:"path"` // JSON Pointer into the arguments
	Keyword  string `json:"keyword"`
	Expected string `json:"expected,omitempty"`
	Actual   string `json:"actual,omitempty"`
	Message  string `json:"message"`
}

// SchemaWithoutEnd names a schema that takes more work to check than any tool needs.
const SchemaWithoutEnd = "schema-without-end"

// unverified is the keyword that marks unknown violations.
const unverified = "$schema"

// Unverified is the entry for arguments that could not be checked: it is not known whether they
// have violations.
func Unverified(why string) Violation { return Violation{Keyword: unverified, Message: why} }

// Unknown reports that v is no violation but marks arguments that could not be checked.
func (v *Violation) Unknown() bool { return v.Keyword == unverified }

// Layer is the layer of an assertion. It prevents that one routing error is counted three times.
type Layer string

// The layers.
const (
	LayerRouting   Layer = "routing"
	LayerArguments Layer = "arguments"
	LayerResponse  Layer = "response"
	LayerBudget    Layer = "budget"
	LayerSafety    Layer = "safety"
)

// AssertionState is the state of an assertion of a case in one attempt.
type AssertionState string

// The states. An assertion that was not evaluated neither holds nor fails: it keeps its reason, and
// a judge may decide it later.
const (
	AssertPassed       AssertionState = "passed"
	AssertFailed       AssertionState = "failed"
	AssertNotEvaluated AssertionState = "not_evaluated"
)

// Asserted is the state of an assertion that was evaluated.
func Asserted(holds bool) AssertionState {
	if holds {
		return AssertPassed
	}
	return AssertFailed
}

// Assertion is one assertion of a case with its state.
type Assertion struct {
	Name  string         `json:"name"`
	Layer Layer          `json:"layer"`
	State AssertionState `json:"state"`
	// Reason is why it was not evaluated.
	Reason   string `json:"reason,omitempty"`
	Expected string `json:"expected,omitempty"`
	Actual   string `json:"actual,omitempty"`
	// Version is the version of a scorer that the suite defines.
	Version string `json:"version,omitempty"`
}
