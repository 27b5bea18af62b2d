// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalogs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/catalog"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/score"
)

const (
	// maxDecisions bounds a file of decisions, in bytes, and maxAskedAnew the different questions
	// for which a catalogue is searched.
	maxDecisions = 64 << 20
	maxAskedAnew = 20_000
)

// Agreement is a comparison of decisions of production with decisions of an evaluation.
type Agreement = panel.RoutingAgreement

// DecisionsRequest asks where production selected other tools than an evaluation selects.
type DecisionsRequest struct {
	// Production is a file with the selected tools: {"query": …, "tools": […]} in a list or one per
	// line, or traces of any form, with the selected tools as their calls or decisions.
	Production string `json:"production"`
	// Run is a run with the same questions; without one the search's catalogue answers them.
	Run string `json:"run,omitempty"`
	// RunTarget is the name of one of the run's targets; "": its only one.
	RunTarget string `json:"run_target,omitempty"`
	Search
}

// Decisions compares decisions of production with those of an evaluation on the same questions.
// Texts are redacted.
func Decisions(ctx context.Context, a *app.App, req DecisionsRequest, events app.Events) (*Agreement, error) {
	switch {
	case req.Production == "":
		return nil, app.Refused("production", "what did production select? {production} FILE")
	case (req.Run == "") == (req.Tools == ""):
		return nil, app.Refused("run", "what is it compared with? {run} RUN, or {tools} CATALOGUE: one of the two")
	case req.Run == "" && req.RunTarget != "":
		return nil, app.Wrong("run_target", req.RunTarget, "it is one of a run")
	case req.Via != "":
		return nil, app.Wrong("via", req.Via, "a service is asked by a run: name that with {run}")
	case req.Run != "" && req.setting() != "":
		return nil, app.Wrong(req.setting(), "", "a run has selected already: it is for a search of a catalogue")
	}
	production, err := selectedInProduction(ctx, a, req.Production)
	if err != nil {
		return nil, err
	}
	var evaluation []panel.RoutingSelected
	if req.Run != "" {
		evaluation, err = selectedByRun(ctx, a, req.Run, req.RunTarget)
	} else {
		evaluation, err = app.Catalogued(a, events, func(e *catalog.Env) ([]panel.RoutingSelected, error) {
			return searched(ctx, e, &req.Search, production, events)
		})
	}
	if err != nil {
		return nil, err
	}
	red, err := a.Secrets().Redactor(nil)
	if err != nil {
		return nil, err
	}
	out := panel.AgreeOnRouting(production, evaluation)
	for i := range out.Pairs {
		red.Begin()
		out.Pairs[i].Query = red.Text(out.Pairs[i].Query)
		hideSelected(&out.Pairs[i].Production, red)
		hideSelected(&out.Pairs[i].Evaluation, red)
	}
	return out, nil
}

// setting returns the name of a setting of the search; empty if the request has none.
func (r *DecisionsRequest) setting() string {
	switch {
	case r.K != 0:
		return "k"
	case r.WeightsFile != "":
		return "weights"
	}
	return r.Setting()
}

// hideSelected redacts names, because any person or program may have written them.
func hideSelected(s *panel.RoutingSelected, red *redact.Redactor) {
	s.Tools = slices.Clone(s.Tools)
	for i := range s.Tools {
		s.Tools[i] = red.Text(s.Tools[i])
	}
	s.Route, s.SubRoute = red.Text(s.Route), red.Text(s.SubRoute)
}

// selectedLine is a decision of production in a file.
type selectedLine struct {
	Query    *string        `json:"query"`
	Tools    []selectedTool `json:"tools"`
	Selected []selectedTool `json:"selected_tools"`
	Route    string         `json:"route"`
	SubRoute string         `json:"sub_route"`
	Agents   []string       `json:"agents"`
}

// selectedTool is a name, or an object with one.
type selectedTool string

// UnmarshalJSON reads "name", or {"tool": "name"} with id or tool_id or name instead of tool.
func (t *selectedTool) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(b), []byte(`"`)) {
		return json.Unmarshal(b, (*string)(t))
	}
	var o struct{ Tool, ID, Tool_ID, Name string } //nolint:revive,staticcheck // encoding/json finds keys in any letters
	if err := json.Unmarshal(b, &o); err != nil {
		return err
	}
	for _, s := range []string{o.Tool, o.ID, o.Tool_ID, o.Name} {
		if s != "" {
			*t = selectedTool(s)
			return nil
		}
	}
	return errors.New("a tool is a name, or an object with tool, id, tool_id or name")
}

// selectedInProduction reads what production selected.
func selectedInProduction(ctx context.Context, a *app.App, name string) ([]panel.RoutingSelected, error) {
	b, err := a.Read(name, maxDecisions)
	if err != nil {
		return nil, fmt.Errorf("read decisions: %w", err)
	}
	list, own, err := readSelected(b)
	if err != nil {
		return nil, fmt.Errorf("read decisions %s: %w: %w", name, callvet.ErrInvalid, err)
	}
	if !own {
		list = nil
		err = results.WholeAttempts(a, name, func(at *trace.Attempt) error {
			if s, ok := selectedBy(at); ok {
				list = append(list, s)
			}
			return ctx.Err()
		})
		if err != nil {
			return nil, err
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("read decisions %s: %w: it has no question with what was selected for it", name,
			callvet.ErrInvalid)
	}
	return list, nil
}

// readSelected reads decisions; own: the text consists of them.
func readSelected(b []byte) (list []panel.RoutingSelected, own bool, err error) {
	b = bytes.TrimSpace(bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")))
	var lines []selectedLine
	switch {
	case bytes.HasPrefix(b, []byte("[")):
		if !begins(b[1:]) {
			return nil, false, nil
		}
		if err := json.Unmarshal(b, &lines); err != nil {
			return nil, true, err
		}
	case begins(b):
		dec := json.NewDecoder(bytes.NewReader(b))
		for {
			var l selectedLine
			if err := dec.Decode(&l); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, true, fmt.Errorf("decision %d: %w", len(lines)+1, err)
			}
			lines = append(lines, l)
		}
	default:
		return nil, false, nil
	}
	for i, l := range lines {
		if l.Query == nil || strings.TrimSpace(*l.Query) == "" || l.Tools == nil && l.Selected == nil {
			return nil, true, fmt.Errorf(
				`decision %d: it has no "query", or no "tools" (or "selected_tools"), which may be empty`, i+1)
		}
		s := panel.RoutingSelected{
			Query: *l.Query, Tools: []string{}, Route: l.Route, SubRoute: l.SubRoute,
			Agents: l.Agents,
		}
		for _, t := range slices.Concat(l.Tools, l.Selected) {
			s.Tools = append(s.Tools, string(t))
		}
		list = append(list, s)
	}
	return list, true, nil
}

// begins reports whether the first value of a text is a decision, not a trace.
func begins(b []byte) bool {
	var first map[string]json.RawMessage
	if json.NewDecoder(bytes.NewReader(b)).Decode(&first) != nil {
		return false
	}
	_, tools := first["tools"]
	_, selected := first["selected_tools"]
	return first["query"] != nil && first["task_id"] == nil && (tools || selected)
}

// selectedBy returns what an attempt selected: its decision, or else the tools that it called, each
// once. An attempt that ended in an error selected nothing.
func selectedBy(at *trace.Attempt) (panel.RoutingSelected, bool) {
	s := panel.RoutingSelected{Query: callvet.Question(at.Input), Tools: []string{}}
	if s.Query == "" {
		s.Query = callvet.Question(at.Trace.Turns)
	}
	if s.Query == "" {
		s.Query = strings.TrimSpace(at.Goal)
	}
	if s.Query == "" || at.Trace.Fault != nil {
		return s, false
	}
	decided(&s, &at.Trace)
	return s, true
}

// decided fills in what a trace selected.
func decided(s *panel.RoutingSelected, t *callvet.Trace) {
	if d := t.Decision; d != nil {
		s.Tools = append(s.Tools, d.Names()...)
		s.Route, s.SubRoute, s.Agents = d.Route, d.SubRoute, d.Agents
		return
	}
	for _, c := range t.Calls() {
		if !slices.Contains(s.Tools, c.Tool) {
			s.Tools = append(s.Tools, c.Tool)
		}
	}
}

// selectedByRun returns what a target of a run selected, in its first attempt at each case without
// an error.
func selectedByRun(ctx context.Context, a *app.App, ref, target string) ([]panel.RoutingSelected, error) {
	r, err := results.Open(ctx, a, ref)
	if err != nil {
		return nil, err
	}
	at := 0
	if target != "" || len(r.Manifest.Targets) != 1 {
		at = slices.IndexFunc(r.Manifest.Targets, func(t callvet.Target) bool { return t.Name == target })
	}
	if at < 0 {
		var names []string
		for i := range r.Manifest.Targets {
			names = append(names, r.Manifest.Targets[i].Name)
		}
		return nil, app.Wrong("run_target", target, "the targets of the run are %s", strings.Join(names, ", "))
	}
	var out []panel.RoutingSelected
	for row, err := range r.Rows(ctx, store.Filter{Order: store.ByCase}) {
		if err != nil {
			return nil, err
		}
		if row.Cell.Target != at || row.Cell.Trace.Fault != nil || row.Cell.Result.Verdict == callvet.VerdictNotRun {
			continue
		}
		s := panel.RoutingSelected{Query: row.Case.Question(), Tools: []string{}, Case: row.Case.ID}
		if s.Query == "" {
			continue
		}
		if want, ok := score.SelectionOf(&row.Case.Expect); ok && (want.Tools != nil || len(want.Acceptable) > 0) {
			s.Want = &callvet.Selection{Tools: want.Tools, Acceptable: want.Acceptable}
		}
		decided(&s, &row.Cell.Trace)
		out = append(out, s)
	}
	return out, nil
}

// searched searches a catalogue once for each question of production.
func searched(ctx context.Context, e *catalog.Env, f *Search, production []panel.RoutingSelected,
	events app.Events,
) ([]panel.RoutingSelected, error) {
	var out []panel.RoutingSelected
	seen := map[string]bool{}
	for i := range production {
		if q := strings.TrimSpace(production[i].Query); !seen[q] {
			seen[q] = true
			out = append(out, panel.RoutingSelected{Query: q, Tools: []string{}})
		}
	}
	if len(out) > maxAskedAnew {
		return nil, app.Wrong("production", "",
			"it has %d different questions, and a catalogue is asked %d at most: make a run of them", len(out),
			maxAskedAnew)
	}
	if _, err := e.Ready(ctx, f, ""); err != nil {
		return nil, err
	}
	r, _, err := e.Open(ctx, f.Tools, f.Settings)
	if err != nil {
		return nil, err
	}
	for i := range out {
		d, err := r.Decide(ctx, out[i].Query)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		decided(&out[i], &callvet.Trace{Decision: d})
		events.Searches(i+1, len(out))
	}
	return out, nil
}
