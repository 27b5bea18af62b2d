// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score"
)

// Scored are the results of a scorer for an attempt in addition to its verdict, which is Pass. An
// attempt with Scored and without verdict and fault could not be judged.
type Scored struct {
	Class  callvet.Class `json:"class,omitempty"`
	Reason string        `json:"reason,omitempty"`
	Plan   string        `json:"plan,omitempty"`
	// Rules is the callvet.RulesVersion of the verdict; 0: unknown.
	Rules int `json:"rules,omitempty"`
	// Scores are in [0,1], by name. Unknown are the names of applicable scores with an unknown
	// value.
	Scores  map[string]float64 `json:"scores,omitempty"`
	Unknown []string           `json:"unknown,omitempty"`
	// NotEvaluated are the assertions that were not evaluated.
	NotEvaluated []NotEvaluated `json:"not_evaluated,omitempty"`
	// Signs are the signs of issues that most runs share.
	Signs []score.Sign `json:"signs,omitempty"`
	// Layers are the judged layers of a router or retriever. Routes and Tools are pairs of expected
	// and actual selections.
	Layers []string   `json:"layers,omitempty"`
	Routes []Confused `json:"routes,omitempty"`
	Tools  []Confused `json:"tools,omitempty"`
}

// NotEvaluated is an assertion that was not evaluated, with the reason.
type NotEvaluated struct {
	Name   string `json:"name" form:"required"`
	Reason string `json:"reason,omitempty"`
}

// Confused is a pair of an expected and an actual selection; "" is none.
type Confused struct {
	Expected string `json:"expected"`
	Called   string `json:"called"`
}

// OfCell converts a cell of a run to an attempt. It has the target's turns and calls, the case's
// labels and slices, and the scorer's results. Cell, case and target are not changed, and share
// memory with the attempt, except turns and calls.
func OfCell(c *callvet.Case, target *callvet.Target, cell *callvet.Cell, suite *callvet.Scoring) Attempt {
	a := Attempt{
		Trace: cell.Trace, Input: c.Input, AsOf: c.AsOf, Floor: target.Floor,
		Repeatable: target.Selects && target.Provider == "retrieve",
	}
	a.Skipped = c.Skip != "" && cell.Trace.Outcome == callvet.OutcomeNotRun
	t := &a.Trace
	t.CaseID, t.Target, t.Repeat, t.Turns = c.ID, target.Name, cell.Repeat, writable(t.Turns)
	t.ToolChoice = cmp.Or(target.ToolChoice, t.ToolChoice)
	a.Unbilled = target.Free || target.Floor || target.Recorded || t.Fault != nil && !t.Fault.Billable()
	switch cell.Result.Verdict {
	case callvet.VerdictPass, callvet.VerdictFail:
		if t.Outcome != callvet.OutcomeError && t.Outcome != callvet.OutcomeNotRun {
			pass := cell.Result.Verdict == callvet.VerdictPass
			a.Pass = &pass
		}
	case callvet.VerdictNotRun:
	default: // from earlier versions: no result means an error
		t.Outcome = cmp.Or(t.Outcome, callvet.OutcomeError)
	}
	a.Annotate(c, target, &cell.Result, suite)
	a.Scored.Rules = cell.Result.Rules
	return a
}

// writable are copies of the turns with writable calls: invalid JSON becomes a text. Calls get the
// values of their arguments.
func writable(turns []callvet.Turn) []callvet.Turn {
	turns = slices.Clone(turns)
	for i := range turns {
		turns[i].Calls = slices.Clone(turns[i].Calls)
		for j := range turns[i].Calls {
			c := &turns[i].Calls[j]
			if v, err := c.ArgsValue(); err == nil {
				c.Parsed = callvet.ParsedOf(v)
			}
			if c.Args != nil && !c.Parsed.IsOf(c.Args) && !json.Valid(c.Args) {
				c.Args, c.ArgsRaw = nil, cmp.Or(c.ArgsRaw, string(c.Args))
			}
			if c.Result != nil && !json.Valid(c.Result) {
				c.Result = AppendQuoted(nil, string(c.Result))
			}
		}
	}
	return turns
}

// Annotate adds the case's and the scorer's data to the attempt, under the settings of the suite.
// These are the tags and fields of the case, the needed calls, the labels if no call is labelled,
// and the result. Existing data stays. The verdict is not set.
func (a *Attempt) Annotate(c *callvet.Case, target *callvet.Target, r *callvet.Result, suite *callvet.Scoring) {
	if r.HeldToSafety() {
		list := append([]Incident{}, a.Safety...)
		for _, in := range r.Incidents {
			if !slices.ContainsFunc(a.Safety,
				func(o Incident) bool { return o.Rule == in.Rule && o.CallID == in.CallID }) {
				list = append(list, in)
			}
		}
		a.Safety = list
	}
	for _, t := range c.Tags {
		if !slices.Contains(a.Tags, t) {
			a.Tags = append(slices.Clip(a.Tags), t)
		}
	}
	a.Fields = FieldsOf(c, a.Fields)
	if a.Expects == nil {
		a.Expects = c.Expect.Tools()
	}
	if c.Scoring != nil && c.Scoring.ToolNames != nil {
		a.Counts = r.Names
	}
	t := &a.Trace
	noteNames(t, r)
	set := judgedBy(c, suite)
	var calls, needed []score.Label
	known := false
	if t.Decision == nil {
		calls, needed, known = score.Labels(c, t, r)
		a.label(calls, &set)
	}
	switch {
	case a.Scored != nil:
	case t.Outcome == callvet.OutcomeError:
		a.Scored = &Scored{Class: r.Class, Reason: r.Reason}
		a.Scored.values(r)
	case t.Outcome == callvet.OutcomeNotRun:
		a.Scored = &Scored{Reason: r.Reason}
		a.Scored.open(r)
	default:
		if a.Gold == nil && t.Decision == nil {
			a.Gold = taskGold(c, needed, known, &set)
		}
		a.Scored = scored(c, target, t, r, len(needed), known)
	}
}

// noteNames notes the calls with a name that differs in letter case or white space only.
func noteNames(t *callvet.Trace, r *callvet.Result) {
	for i := range r.Calls {
		m := &r.Calls[i]
		for _, name := range m.Want {
			if m.Actual >= 0 && !slices.Contains(m.Want, m.Got) {
				t.Note(callvet.Misnamed(m.Got, name))
			}
		}
	}
}

// open adds the assertions that were not evaluated.
func (s *Scored) open(r *callvet.Result) {
	for _, as := range r.Unevaluated() {
		s.NotEvaluated = append(s.NotEvaluated, NotEvaluated{as.Name, as.Reason})
	}
}

// FieldsOf are the fields of a case with its tier; the attempt's own fields have priority.
func FieldsOf(c *callvet.Case, own map[string]string) map[string]string {
	if len(c.Fields) == 0 && c.Tier == "" {
		return own
	}
	fields := maps.Clone(c.Fields)
	if fields == nil {
		fields = map[string]string{}
	}
	if c.Tier != "" {
		fields["tier"] = string(c.Tier)
	}
	maps.Copy(fields, own)
	return fields
}

// Labelled reports whether a call has a label.
func (a *Attempt) Labelled() bool {
	for i := range a.Steps {
		if a.Steps[i].Gold != nil {
			return true
		}
	}
	return false
}

// label labels the calls, where none is labelled.
func (a *Attempt) label(calls []score.Label, set *callvet.Scoring) {
	if len(calls) == 0 || a.Labelled() {
		return
	}
	if a.Steps == nil {
		a.Steps = make(map[int]StepNote, len(calls))
	}
	for i := range calls {
		n, ok := a.Steps[i]
		if !ok {
			n.TurnID = -1
		}
		g := GoldOf(&calls[i], set)
		n.Gold = &g
		a.Steps[i] = n
	}
}

func scored(c *callvet.Case, target *callvet.Target, t *callvet.Trace, r *callvet.Result, needed int,
	known bool,
) *Scored {
	s := &Scored{Class: r.Class, Reason: r.Reason, Plan: r.Plan}
	if r.Verdict == callvet.VerdictPass {
		s.Class = ""
	}
	s.open(r)
	if r.Verdict == callvet.VerdictNotRun {
		return s
	}
	s.values(r)
	if d := t.Decision; d != nil {
		for i := range r.Assertions {
			if as := &r.Assertions[i]; as.Layer == callvet.LayerRouting && !slices.Contains(s.Layers, as.Name) {
				s.Layers = append(s.Layers, as.Name)
			}
		}
		s.decided(c, d, r)
		return s
	}
	if !known || needed > 0 {
		s.Unknown = unasserted(r)
	}
	if _, ok := s.Scores[score.Abstention]; !ok && known && needed == 0 {
		s.set(score.Abstention, truth(t.Outcome == callvet.OutcomeAbstained))
	}
	s.Signs = score.Signs(c, target, t, r, needed)
	return s
}

// unasserted are the scores of arguments that the attempt could have, but does not.
func unasserted(r *callvet.Result) []string {
	var out []string
	for _, name := range [...]string{
		score.ArgAccuracy, score.ArgEM, score.ArgEMKeys, score.ArgPrecision,
		score.ArgRecall, score.ArgF1,
	} {
		if !slices.ContainsFunc(r.Scores, func(s callvet.Score) bool { return s.Name == name }) {
			out = append(out, name)
		}
	}
	return out
}

// values copies the scores.
func (s *Scored) values(r *callvet.Result) {
	for i := range r.Scores {
		if x := &r.Scores[i]; x.Scored && x.Value >= 0 && x.Value <= 1 { // a NaN is neither
			s.set(scoreName(x.Name), x.Value)
		}
	}
}

func (s *Scored) set(name string, v float64) {
	if s.Scores == nil {
		s.Scores = map[string]float64{}
	}
	s.Scores[name] = v
}

// scoreName is the present name of a score with a different name in earlier versions.
func scoreName(name string) string {
	if name == "overcall" {
		return score.OverCall
	}
	return name
}

func truth(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// decided records the expected and actual selections of a router or retriever.
func (s *Scored) decided(c *callvet.Case, d *callvet.Decision, r *callvet.Result) {
	want, ok := score.SelectionOf(&c.Expect)
	if !ok {
		return
	}
	d, want.Tools = r.CountsDecision(d), r.CountsEach(want.Tools)
	if want.Route != "" && d.Decides(callvet.SelectRoute) {
		s.Routes = append(s.Routes, Confused{want.Route, d.Route})
	}
	if want.Tools != nil && d.Decides(callvet.SelectTools) {
		s.Tools = append(s.Tools, Confused{rightTool(&want, d), firstTool(d)})
	}
}

// rightTool is the expected tool for the first selected one: the selected tool itself if it is
// right, else the first expected one.
func rightTool(want *callvet.Selection, d *callvet.Decision) string {
	if len(want.Tools) == 0 {
		return ""
	}
	if given := firstTool(d); slices.Contains(want.Tools, given) {
		return given
	}
	return want.Tools[0]
}

func firstTool(d *callvet.Decision) string {
	if len(d.Tools) == 0 {
		return ""
	}
	return d.Tools[0].Tool
}
