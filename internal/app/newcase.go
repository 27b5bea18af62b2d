// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/suite"
	"github.com/callvet/callvet/internal/trace/redact"
	"github.com/callvet/callvet/score"
	"github.com/callvet/callvet/score/selection"
)

// NewCaseSettings say where a new regression case goes, and what it is called.
type NewCaseSettings struct {
	// Bug is the issue, or the commit of the fix; required.
	Bug string `json:"bug"`
	// Tool is whose case it is; "": the first tool that is expected, or else that was called.
	Tool string `json:"tool,omitempty"`
	// Output is the file that it is added to; "": TOOL.regression.json.
	Output string `json:"output,omitempty"`
	// Description says what the bug was; "": what the case says.
	Description string `json:"description,omitempty"`
	// Keep are kinds of personal data that stay as they are.
	Keep []string `json:"keep,omitempty"`
}

// FromFailureRequest asks to make a regression case of a case that failed in a run.
type FromFailureRequest struct {
	Run  string `json:"run"`
	Case string `json:"case"`
	NewCaseSettings
}

// NewCase is a regression case that was made.
type NewCase struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	ID      string `json:"id"`
	// File has the case, and Lock its entry.
	File string `json:"file"`
	Lock string `json:"lock"`
	// Failed is how many attempts failed, and Caught how many of them the new case fails: one at least.
	Failed int `json:"failed"`
	Caught int `json:"caught"`
	// Redacted counts what was taken out of the case, by its kind.
	Redacted map[redact.Kind]int64 `json:"redacted,omitempty"`
	// Lost is what the form of regression cases cannot say.
	Lost []callvet.Problem `json:"lost,omitempty"`
}

// failure is what a regression case is made of.
type failure struct {
	of       *callvet.Case // as it may be kept
	tools    []callvet.Tool
	mocks    []callvet.Mock // of the suite
	scoring  bool           // the suite or the case has settings of scoring
	system   bool           // the suite has a system prompt
	attempts []callvet.Trace
	reason   string // of the first one
	redacted map[redact.Kind]int64
}

// CaseFromFailure makes a regression case of a case that failed in a run, and adds it to a file
// with its entry in the lock; nothing else of the file changes. Secrets and personal data are
// taken out. A case that an attempt which failed would pass is not written. The error wraps
// callvet.ErrInvalid where nothing failed or the form of such files cannot say what failed, and
// callvet.ErrConflict where the file has the prompt already.
func (a *App) CaseFromFailure(ctx context.Context, req FromFailureRequest, tell Events) (*NewCase, error) {
	if err := req.check(); err != nil {
		return nil, err
	}
	f, err := a.failure(ctx, &req)
	if err != nil {
		return nil, err
	}
	return a.newCase(ctx, f, &req.NewCaseSettings, tell)
}

func (q *NewCaseSettings) check() error {
	if strings.TrimSpace(q.Bug) == "" {
		return wrong("bug", "", "say which bug it keeps away: an issue, or the commit of the fix")
	}
	_, err := Kinds(q.Keep)
	return err
}

// failure reads the attempts of a run that failed at a case.
func (a *App) failure(ctx context.Context, req *FromFailureRequest) (*failure, error) {
	r, err := a.Run(ctx, req.Run)
	if err != nil {
		return nil, err
	}
	red, err := a.viewer(r.Manifest, req.Keep)
	if err != nil {
		return nil, err
	}
	f := &failure{mocks: r.Suite.Mocks, system: r.Suite.SystemPrompt != ""}
	attempts := 0
	for row, err := range r.Rows(ctx, store.Filter{CaseID: req.Case}) {
		if err != nil {
			return nil, err
		}
		attempts++
		if row.Cell.Result.Verdict != callvet.VerdictFail {
			continue
		}
		if f.of == nil {
			own := red.Fork()
			own.Case(row.Case)
			f.redacted = maps.Clone(own.Counts)
			f.scoring = row.Case.Scoring != nil || r.Suite.Defaults.Scoring != (callvet.Scoring{})
			f.tools = r.Suite.Tools
		}
		c, cell := red.Row(row.Case, row.Cell)
		if f.of == nil {
			f.of, f.reason = &c, cell.Result.Reason
		}
		f.attempts = append(f.attempts, cell.Trace)
	}
	switch {
	case attempts == 0:
		return nil, &NoAttemptError{Case: req.Case, Run: r.Stored.ID}
	case f.of == nil:
		return nil, &callvet.Hinted{
			Err:  fmt.Errorf("make a regression case of %q: %w: none of its %d attempts in run %s failed", req.Case, callvet.ErrInvalid, attempts, r.Stored.ID),
			Hint: "callvet show RUN lists what failed",
		}
	}
	switch {
	case f.of.Tools != nil:
		f.tools = f.of.Tools
	case f.of.ToolNames != nil:
		f.tools = slices.DeleteFunc(slices.Clone(f.tools), func(t callvet.Tool) bool { return !slices.Contains(f.of.ToolNames, t.Name) })
	}
	return f, nil
}

// newCase writes the case that a failure makes.
func (a *App) newCase(ctx context.Context, f *failure, q *NewCaseSettings, tell Events) (*NewCase, error) {
	tool := q.Tool
	if tool == "" {
		tool = f.about()
	}
	file := cmp.Or(q.Output, fileWord(tool)+".regression.json")
	out := &NewCase{Format: "callvet.case_new", Version: 1, File: file, Lock: suite.LockPath(file), Failed: len(f.attempts), Redacted: f.redacted}
	if err := a.keepable(file); err != nil {
		return nil, err
	}
	l, err := a.lockOf(file)
	if err != nil {
		return nil, err
	}
	var data []byte
	if a.cfg.Files.Kind(file) != KindNone {
		if data, err = a.read(file, suite.DefaultLimit); err != nil {
			return nil, err
		}
	}
	there, err := suite.Regressions(file, data, nil)
	if err != nil {
		return nil, err
	}
	for i := range there {
		if q := f.of.Question(); q != "" && there[i].Question() == q {
			return nil, fmt.Errorf("add a regression case to %s: %w: %s has the same prompt", file, callvet.ErrConflict, there[i].ID)
		}
	}
	c, lost, err := f.regression(q, a.cfg.Now())
	if err != nil {
		return nil, err
	}
	c.ID = suite.NextRegression(tool, there, l)
	out.ID, out.Lost = c.ID, lost
	text, more, err := suite.ExportAs("forge", &callvet.Suite{Cases: []callvet.Case{*c}})
	if err != nil {
		return nil, err
	}
	for _, p := range more {
		if p.Key != "fields" { // those that count are carried
			out.Lost = append(out.Lost, p)
		}
	}
	if out.Caught, err = f.caught(ctx, file, text); err != nil {
		return nil, err
	}
	if out.Caught == 0 {
		why := "its form cannot say what failed"
		if f.reason != "" {
			why += ": " + f.reason
		}
		return nil, f.byHand("the attempts that failed would pass it; " + why)
	}
	if _, err = a.addRegressions(ctx, file, []*callvet.Case{c}, nil); err != nil {
		return nil, err
	}
	if len(out.Redacted) > 0 {
		tell.note("redacted", "redacted in the case: %s; look whether it still asks what failed", kindCounts(out.Redacted))
	}
	return out, nil
}

// byHand says why a failure cannot be made a case.
func (f *failure) byHand(why string) error {
	return &callvet.Hinted{
		Err:  fmt.Errorf("make a regression case of %q: %w: %s", f.of.ID, callvet.ErrInvalid, why),
		Hint: "write the case by hand, then callvet case add; or keep it in the suite that has it",
	}
}

func kindCounts(counts map[redact.Kind]int64) string {
	var parts []string
	for _, k := range redact.Kinds() {
		if counts[k] > 0 {
			parts = append(parts, fmt.Sprintf("%d × %s", counts[k], k))
		}
	}
	return strings.Join(parts, ", ")
}

// about is the tool that the failure is about: the first that is expected, or else the first that
// was called.
func (f *failure) about() string {
	if want, _ := selection.Of(&f.of.Expect); len(want.Tools) > 0 && !callvet.NamePattern(want.Tools[0]) {
		return want.Tools[0]
	}
	for i := range f.attempts {
		if calls := f.attempts[i].Calls(); len(calls) > 0 {
			return calls[0].Tool
		}
	}
	return "no_tool"
}

// fileWord is a tool's name as a part of the name of a file. A model may have made it up.
func fileWord(tool string) string {
	word := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, tool)
	return cmp.Or(word[:min(len(word), 100)], "no_tool")
}

// regression is the case in the form that files of regression cases have: names of tools,
// arguments one by one, stubs. lost is what that form cannot say.
func (f *failure) regression(q *NewCaseSettings, now time.Time) (*callvet.Case, []callvet.Problem, error) {
	from := f.of
	if from.Context != "" || len(from.Input) != 1 || from.Question() == "" {
		return nil, nil, f.byHand("it is more than one message of a user (turns before it, or a context), which files of regression cases cannot say")
	}
	c := &callvet.Case{
		Tier: callvet.TierRegression, Input: from.Input, Expect: from.Expect, MultiTurn: from.MultiTurn, Tags: from.Tags,
		ToolChoice:  from.ToolChoice,
		Description: "regression — " + cmp.Or(q.Description, from.Description, f.reason, from.ID),
		Fields:      map[string]string{"difficulty": "regression", suite.FieldBugRef: q.Bug, suite.FieldCreatedAt: now.UTC().Format(time.DateOnly)},
	}
	var lost []callvet.Problem
	lose := func(key, format string, args ...any) {
		lost = append(lost, callvet.Problem{Code: "not-carried", Warning: true, Key: key, Message: fmt.Sprintf(format, args...)})
	}
	if f.system {
		lose("system_prompt", "the system prompt of the suite is not carried: regression files have no place for it")
	}
	if f.scoring {
		lose("scoring", "settings of scoring are not carried: names and arguments are compared as they are without them")
	}
	if err := f.routing(&c.Expect, lose); err != nil {
		return nil, nil, err
	}
	f.stubs(c, lose)
	return c, lost, nil
}

// routing says plans as names of tools, and the arguments of a single plan one by one.
func (f *failure) routing(e *callvet.Expect, lose func(key, format string, args ...any)) error {
	if len(e.Plans) == 0 {
		return nil
	}
	sets := [][]string{}
	for i := range e.Plans {
		p := &e.Plans[i]
		extra := p.MaxExtraCalls != nil && *p.MaxExtraCalls != 0
		switch p.Order {
		case "", callvet.OrderAny, callvet.OrderSingle:
		case callvet.OrderStrict, callvet.OrderInOrder:
			if len(p.Calls) > 1 {
				lose("expect.order", "the order of the calls is not carried")
			}
		default:
			extra = true
		}
		if extra {
			return f.byHand("its plan allows other calls beside those it names, which files of regression cases cannot say")
		}
		sets = append(sets, namesOf(p)...)
	}
	if len(e.Plans) == 1 {
		for i := range e.Plans[0].Calls {
			arguments(&e.Plans[0].Calls[i], e, lose)
		}
	} else if slices.ContainsFunc(e.Plans, func(p callvet.Plan) bool {
		return slices.ContainsFunc(p.Calls, func(c callvet.ExpectedCall) bool { return c.Args != nil || len(c.Matchers) > 0 })
	}) {
		lose("expect.any_of", "the arguments of several plans are not carried")
	}
	e.Plans = nil
	switch {
	case len(sets) == 1 && len(sets[0]) > 0:
		e.ToolsCalled = sets[0]
	default:
		for i := range sets {
			if len(sets[i]) == 0 {
				sets[i] = []string{callvet.NoTools}
			}
		}
		e.ToolsAcceptable = sets
	}
	return nil
}

// maxSets bounds the sets that one plan becomes.
const maxSets = 16

// namesOf are the sets of names that a plan accepts: one for each choice of names, without and
// with calls that may be missing.
func namesOf(p *callvet.Plan) [][]string {
	sets := [][]string{{}}
	for i := range p.Calls {
		c := &p.Calls[i]
		names := c.Tools
		if len(sets)*(len(names)+1) > maxSets {
			names = names[:min(1, len(names))]
		}
		var next [][]string
		for _, s := range sets {
			if c.Optional {
				next = append(next, s)
			}
			for _, n := range names {
				next = append(next, append(slices.Clip(s), n))
			}
		}
		sets = next
	}
	return sets
}

// arguments says what a call expects of its arguments one by one.
func arguments(c *callvet.ExpectedCall, e *callvet.Expect, lose func(key, format string, args ...any)) {
	if c.Optional || len(c.Tools) != 1 {
		if c.Args != nil || len(c.Matchers) > 0 {
			lose("expect.calls.params", "the arguments of a call that may be another one, or missing, are not carried")
		}
		return
	}
	if c.ResultCheck != "" {
		lose("expect.calls.result_check", "result_check is not carried")
	}
	said := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(c.Matchers)) {
		m := c.Matchers[name]
		said[name] = true
		switch {
		case m.Optional || strings.Contains(name, "*") || !slices.Contains([]string{"", "exact", "contains", "any_of", "present", "absent", "regex"}, m.Mode):
			lose("expect.calls.params."+name, "the argument %s is not compared: regression files cannot say how", name)
		default:
			e.ToolParams = append(e.ToolParams, callvet.ToolParam{Tool: c.Tools[0], Path: name, Matcher: m})
		}
	}
	var args map[string]json.RawMessage
	if json.Unmarshal(c.Args, &args) != nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		switch {
		case said[name]:
		case strings.ContainsAny(name, ".["): // a path there
			lose("expect.calls.params."+name, "the argument %s is not compared: its name would be a path", name)
		default:
			e.ToolParams = append(e.ToolParams, callvet.ToolParam{Tool: c.Tools[0], Path: name, Matcher: callvet.Matcher{Mode: "exact", Value: args[name]}})
		}
	}
}

// stubs are what tools gave: as the case or the suite says, or else as the attempts had it.
func (f *failure) stubs(c *callvet.Case, lose func(key, format string, args ...any)) {
	have := func(tool string) bool {
		return slices.ContainsFunc(c.Mocks, func(m callvet.Mock) bool { return m.Tool == tool })
	}
	for _, m := range slices.Concat(f.of.Mocks, f.mocks) {
		if len(m.Replies) == 0 || m.Replies[0].Result == nil {
			continue
		}
		if m.Args != nil || len(m.Replies) > 1 {
			lose("mocks", "of what %s answers, one result is carried, for any arguments", m.Tool)
		}
		if !have(m.Tool) && f.concerns(m.Tool) {
			c.Mocks = append(c.Mocks, callvet.Mock{Tool: m.Tool, Replies: []callvet.MockReply{{Result: m.Replies[0].Result}}})
		}
	}
	for i := range f.attempts {
		for _, call := range f.attempts[i].Calls() {
			if call.Result != nil && call.Status == callvet.StatusOK && !have(call.Tool) && f.concerns(call.Tool) {
				c.Mocks = append(c.Mocks, callvet.Mock{Tool: call.Tool, Replies: []callvet.MockReply{{Result: call.Result}}})
			}
		}
	}
}

// concerns reports whether a tool is expected, or was called.
func (f *failure) concerns(tool string) bool {
	want, _ := selection.Of(&f.of.Expect)
	if slices.ContainsFunc(slices.Concat(want.Tools, want.Acceptable), func(n string) bool { return callvet.NameFits(n, tool, false) }) {
		return slices.ContainsFunc(f.tools, func(t callvet.Tool) bool { return t.Name == tool })
	}
	return slices.ContainsFunc(f.attempts, func(t callvet.Trace) bool {
		return slices.ContainsFunc(t.Calls(), func(c callvet.Call) bool { return c.Tool == tool })
	}) && slices.ContainsFunc(f.tools, func(t callvet.Tool) bool { return t.Name == tool })
}

// caught counts the attempts that fail the case, as it was written.
func (f *failure) caught(ctx context.Context, file string, text []byte) (n int, err error) {
	cases, err := suite.Regressions(file, text, f.tools)
	if err != nil {
		return 0, err
	}
	scorer, problems := score.New(&callvet.Suite{Tools: f.tools}, score.Config{})
	if suite.HasErrors(problems) || len(cases) != 1 {
		return 0, fmt.Errorf("make a regression case of %q: %w: the tools of the run do not compile", f.of.ID, callvet.ErrInvalid)
	}
	by, _ := scorer.Compile(&cases[0])
	for i := range f.attempts {
		t := f.attempts[i]
		r, err := by.Judge(ctx, &t)
		if err != nil {
			return 0, err
		}
		if r.Verdict == callvet.VerdictFail {
			n++
		}
	}
	return n, nil
}
