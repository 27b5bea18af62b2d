// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package cases

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/suite"
	"github.com/callvet/callvet/score"
)

// NewCaseSettings are the name and the place of a new case.
type NewCaseSettings struct {
	// Bug is the issue, or the commit of the fix; required for regression cases.
	Bug string `json:"bug,omitempty"`
	// Tool is the tool that the case is about; "": the first expected tool, else the first called
	// one.
	Tool string `json:"tool,omitempty"`
	// Output is the file to which it is added; "": TOOL.TIER.json.
	Output string `json:"output,omitempty"`
	// Description explains the purpose of the case, or the bug; "": made from known facts.
	Description string `json:"description,omitempty"`
}

// NewCaseExpectation are the expectations and the tier of a new case.
type NewCaseExpectation struct {
	// Tier is golden, labeled or regression, Difficulty how hard a labeled case is.
	Tier       callvet.Tier `json:"tier"`
	Difficulty string       `json:"difficulty,omitempty"`
	// Expect are the exact tools. Accept are alternative sets of tools, each separated by commas;
	// callvet.NoTools is no tool. At most one of the two.
	Expect []string `json:"expect,omitempty"`
	Accept []string `json:"accept,omitempty"`
	// Tools is a file or folder of the existing tools; "": unknown.
	Tools string `json:"tools,omitempty"`
}

// NewCaseRequest requests a case from a prompt, for a person to complete.
type NewCaseRequest struct {
	// Prompt is the message of the user.
	Prompt string `json:"prompt"`
	NewCaseExpectation
	NewCaseSettings
}

// FromFailureRequest asks to make a regression case of a case that failed in a run.
type FromFailureRequest struct {
	Run  string `json:"run"`
	Case string `json:"case"`
	NewCaseSettings
}

// NewCase is a case that was made.
type NewCase struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	ID      string `json:"id"`
	// File contains the case, and Lock its entry.
	File string       `json:"file"`
	Lock string       `json:"lock"`
	Tier callvet.Tier `json:"tier"`
	// Attempts counts the attempts from which the case was made, and Caught how many of them fail
	// it. At least one fails a regression case, unless there were no attempts.
	Attempts int `json:"attempts"`
	Caught   int `json:"caught"`
	// Redacted counts the values that were removed from the case, by kind.
	Redacted map[redact.Kind]int64 `json:"redacted,omitempty"`
	// Lost lists data that the format of the file cannot express.
	Lost []callvet.Problem `json:"lost,omitempty"`
}

// draft has the data for a new case.
type draft struct {
	run      string        // that it failed in; "": none
	of       *callvet.Case // in the form that may be kept
	tier     callvet.Tier
	tools    []callvet.Tool // those that it may call
	registry []callvet.Tool // all that there are
	models   []string       // that were asked
	mocks    []callvet.Mock // of the suite
	scoring  bool           // the suite or the case has settings of scoring
	system   bool           // there is a system prompt
	attempts []callvet.Trace
	reason   string // of the first one that failed
	asCalled bool   // the actual calls count as right
	redacted map[redact.Kind]int64
	lost     []callvet.Problem
}

// MakeCase makes a case of a prompt and adds it to a file with its entry in the lock. The error
// wraps callvet.ErrInvalid for a request without a field that its tier requires, and
// callvet.ErrConflict if the file already has the prompt.
func MakeCase(ctx context.Context, a *app.App, req NewCaseRequest, events app.Events) (*NewCase, error) {
	if err := errors.Join(req.NewCaseExpectation.check(), req.NewCaseSettings.check(req.Tier)); err != nil {
		return nil, err
	}
	if strings.TrimSpace(req.Prompt) == "" {
		return nil, app.Wrong("prompt", "", "write what the user says")
	}
	if !req.given() {
		return nil, app.Wrong("expect", "", "say which tools are right: {expect} TOOL, or {accept} %s where none is",
			callvet.NoTools)
	}
	d := &draft{
		tier: req.Tier,
		of: &callvet.Case{
			Input:  []callvet.Turn{{Role: callvet.RoleUser, Content: req.Prompt}},
			Fields: map[string]string{},
		},
	}
	if err := addExpectation(a, d, &req.NewCaseExpectation, events); err != nil {
		return nil, err
	}
	return newCase(ctx, a, d, &req.NewCaseSettings, events)
}

// check returns an error for contradicting or missing fields.
func (q *NewCaseExpectation) check() error {
	switch q.Tier {
	case callvet.TierGolden, callvet.TierLabeled, callvet.TierRegression:
	default:
		return app.Wrong("tier", string(q.Tier), "it is golden, labeled or regression")
	}
	hard := []string{"straightforward", "ambiguous", "edge", "adversarial"}
	switch {
	case q.Tier == callvet.TierLabeled && !slices.Contains(hard, q.Difficulty):
		return app.Wrong("difficulty", q.Difficulty, "of a labeled case it is %s", strings.Join(hard, ", "))
	case q.Tier != callvet.TierLabeled && q.Difficulty != "":
		return app.Wrong("difficulty", q.Difficulty, "only labeled cases have one")
	case len(q.Expect) > 0 && len(q.Accept) > 0:
		return app.Wrong("accept", "", "name the exact tools ({expect}) or the acceptable sets, not both")
	case q.Tier == callvet.TierGolden && len(q.Accept) > 0:
		return app.Wrong("accept", "", "a golden case has exact tools: {expect}")
	case slices.Contains(q.Expect, callvet.NoTools):
		return app.Wrong("expect", callvet.NoTools, "no tool at all is {accept} %s", callvet.NoTools)
	}
	return nil
}

func (q *NewCaseExpectation) given() bool { return len(q.Expect)+len(q.Accept) > 0 }

// addExpectation adds the expectations and the existing tools to a draft.
func addExpectation(a *app.App, d *draft, q *NewCaseExpectation, events app.Events) error {
	if q.Difficulty != "" {
		d.of.Fields["difficulty"] = q.Difficulty
	}
	tools, err := a.NewestTools(q.Tools, events)
	if err != nil {
		return err
	}
	if tools != nil {
		d.tools, d.registry = tools, tools
	}
	e := &d.of.Expect
	if q.given() {
		e.Plans = nil
	}
	if len(q.Expect) > 0 {
		e.ToolsAcceptable = [][]string{q.Expect}
	}
	for _, set := range q.Accept {
		var names []string
		for name := range strings.SplitSeq(set, ",") {
			names = append(names, strings.TrimSpace(name))
		}
		if slices.Contains(names, "") || len(names) > 1 && slices.Contains(names, callvet.NoTools) {
			return app.Wrong("accept", set, "it is one tool, several with commas between, or %s alone", callvet.NoTools)
		}
		e.ToolsAcceptable = append(e.ToolsAcceptable, names)
	}
	if d.tier == callvet.TierGolden {
		e.NoToolErrors, e.ResponseNonEmpty = true, true // as every golden case
	}
	return nil
}

// FromFailure makes a regression case from a failed case of a run, and adds it to a file with
// its entry in the lock; nothing else in the file changes. The case keeps its personal data,
// because the user has its suite; a case with a secret is refused. The file is a suite of callvet's
// own form, which keeps the whole case, or an eval file. An eval file cannot express everything: a
// case that the failed attempts would pass there is not written. The error wraps callvet.ErrInvalid
// if nothing failed or an eval file cannot express the failure, callvet.ErrDenied for a secret, and
// callvet.ErrConflict if the file already has the prompt.
func FromFailure(ctx context.Context, a *app.App, req FromFailureRequest, events app.Events) (*NewCase, error) {
	if err := req.check(callvet.TierRegression); err != nil {
		return nil, err
	}
	f, err := readFailure(ctx, a, &req)
	if err != nil {
		return nil, err
	}
	one, err := KeptCase(ctx, a, KeptCaseRequest{
		Run: f.run, Case: req.Case, Target: f.attempts[0].Target, Owner: true,
		Tier: callvet.TierRegression, Bug: req.Bug,
	})
	if err != nil {
		return nil, err
	}
	if personal, err := describePersonal(a, one); err != nil {
		return nil, err
	} else if personal != "" {
		events.Note("personal", "the case has %s, as it was asked: look at it before you share the file", personal)
	}
	tool := cmp.Or(req.Tool, f.about())
	file := cmp.Or(req.Output, fileWord(tool)+"."+string(callvet.TierRegression)+".yaml")
	if data, err := readExisting(a, file); err != nil {
		return nil, err
	} else if suite.IsEvalFile(file, data) {
		return newCase(ctx, a, f, &req.NewCaseSettings, events)
	}
	return keptFailure(ctx, a, f, one, file, tool, &req.NewCaseSettings)
}

// readExisting reads the file to which cases are added; nil if there is none.
func readExisting(a *app.App, file string) ([]byte, error) {
	if a.Config.Files.Kind(file) != app.KindFile {
		return nil, nil // lockFile refuses a name that is not a file
	}
	return a.Read(file, suite.DefaultLimit)
}

// keptFailure adds the case that failed to a suite of callvet's own form.
func keptFailure(ctx context.Context, a *app.App, f *draft, one *callvet.Suite, file, tool string,
	q *NewCaseSettings,
) (*NewCase, error) {
	c := &one.Cases[0]
	if c.Description = cmp.Or(q.Description, c.Description); c.Description == "" && f.reason != "" {
		c.Description = "regression — " + f.reason
	}
	out := &NewCase{
		Format: "callvet.case_new", Version: 1, File: file, Lock: suite.LockPath(file),
		Tier: callvet.TierRegression, Attempts: len(f.attempts),
	}
	now := suite.StaleStateOf(&callvet.Suite{Tools: f.registry, SystemPrompt: one.SystemPrompt}, f.models, "")
	state, err := now.Bytes()
	if err != nil {
		return nil, err
	}
	err = lockFile(ctx, a, file, func(k *heldFile) error {
		var to *callvet.Suite
		if len(k.data) > 0 {
			if to, err = caseFile(ctx, a, app.SuiteRequest{Suite: file}, nil); err != nil {
				return err
			}
		}
		kept, err := suite.KeepCase(file, k.data, k.lock, one, to, tool, a.Config.Now(), state)
		if err != nil {
			return err
		}
		c := &kept.Suite.Cases[len(kept.Suite.Cases)-1]
		out.ID = c.ID
		for _, name := range kept.Differ {
			out.Lost = append(out.Lost, callvet.Problem{
				Code: "not-carried", Warning: true, Key: name,
				Message: fmt.Sprintf("%s is not carried: that of %s is asked with",
					strings.ReplaceAll(name, "_", " "), file),
			})
		}
		scorer, problems := score.New(kept.Suite, score.Config{})
		if suite.HasErrors(problems) {
			return fmt.Errorf("make a regression case of %q: %w: the tools of %s do not compile", f.of.ID,
				callvet.ErrInvalid, file)
		}
		if out.Caught, _, err = f.failing(ctx, scorer, c); err != nil {
			return err
		}
		k.data = kept.Data
		return writeCases(ctx, a, k, []string{out.ID})
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (q *NewCaseSettings) check(tier callvet.Tier) error {
	if tier == callvet.TierRegression && strings.TrimSpace(q.Bug) == "" {
		return app.Wrong("bug", "", "say which bug it keeps away: an issue, or the commit of the fix")
	}
	return nil
}

// readFailure reads the attempts of a run that failed at a case.
func readFailure(ctx context.Context, a *app.App, req *FromFailureRequest) (*draft, error) {
	r, err := results.OpenToShow(ctx, a, req.Run)
	if err != nil {
		return nil, err
	}
	f := &draft{
		tier: callvet.TierRegression, run: r.Stored.ID, mocks: r.Suite.Mocks,
		system: r.Suite.SystemPrompt != "", models: app.Models(r.Manifest.Specs), registry: r.Suite.Tools,
	}
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
			f.of, f.reason = row.Case, row.Cell.Result.Reason
			f.scoring = row.Case.Scoring != nil || r.Suite.Defaults.Scoring != (callvet.Scoring{})
		}
		f.attempts = append(f.attempts, row.Cell.Trace)
	}
	switch {
	case attempts == 0:
		return nil, &results.NoAttemptError{Case: req.Case, Run: r.Stored.ID}
	case f.of == nil:
		return nil, &callvet.Hinted{
			Err: fmt.Errorf("make a regression case of %q: %w: none of its %d attempts in run %s failed", req.Case,
				callvet.ErrInvalid, attempts, r.Stored.ID),
			Hint: "callvet show RUN lists what failed",
		}
	}
	if f.of.Tools != nil {
		f.registry = f.of.Tools
	}
	f.tools = f.registry
	if f.of.Tools == nil && f.of.ToolNames != nil {
		f.tools = slices.DeleteFunc(slices.Clone(f.tools),
			func(t callvet.Tool) bool { return !slices.Contains(f.of.ToolNames, t.Name) })
	}
	return f, nil
}

// newCase writes the case of a draft; all new cases are written here.
func newCase(ctx context.Context, a *app.App, d *draft, q *NewCaseSettings, events app.Events) (*NewCase, error) {
	tool := q.Tool
	if tool == "" {
		tool = d.about()
	}
	file := cmp.Or(q.Output, fileWord(tool)+"."+string(d.tier)+".json")
	out := &NewCase{
		Format: "callvet.case_new", Version: 1, File: file, Lock: suite.LockPath(file), Tier: d.tier,
		Attempts: len(d.attempts), Redacted: d.redacted,
	}
	if err := d.known(); err != nil {
		return nil, err
	}
	state, err := d.state()
	if err != nil {
		return nil, err
	}
	err = lockFile(ctx, a, file, func(k *heldFile) error {
		there, err := suite.ReadCases(file, k.data, nil)
		if err != nil {
			return err
		}
		for i := range there {
			if q := d.of.Question(); q != "" && there[i].Question() == q {
				return fmt.Errorf("add a case to %s: %w: %s has the same prompt", file, callvet.ErrConflict,
					there[i].ID)
			}
		}
		c, err := d.written(q, a.Config.Now())
		if err != nil {
			return err
		}
		c.ID = suite.NextID(d.tier, tool, there, k.lock)
		if err := tryOut(ctx, a, d, c, out); err != nil {
			return err
		}
		_, err = addCases(ctx, a, k, []*callvet.Case{c}, state)
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(out.Redacted) > 0 {
		events.Note("redacted", "redacted in the case: %s; look whether it still asks the same",
			kindCounts(out.Redacted))
	}
	return out, nil
}

// tryOut reports what the form of the file cannot express, and how many attempts fail the case as
// read from the file. It refuses a regression case that no attempt fails, and a case made from an
// attempt's calls that the attempt fails.
func tryOut(ctx context.Context, a *app.App, d *draft, c *callvet.Case, out *NewCase) error {
	out.ID, out.Lost = c.ID, d.lost
	text, more, err := suite.ExportAs("forge", &callvet.Suite{Cases: []callvet.Case{*c}})
	if err != nil {
		return err
	}
	for _, p := range more {
		if p.Key != "fields" { // fields that count are kept
			out.Lost = append(out.Lost, p)
		}
	}
	var why string
	if out.Caught, why, err = d.caught(ctx, out.File, text); err != nil {
		return err
	}
	switch {
	case d.tier == callvet.TierRegression && out.Caught == 0 && len(d.attempts) > 0:
		if d.reason != "" {
			why = "its form cannot say what failed: " + d.reason
		}
		return d.byHand(strings.TrimSuffix("the attempts that failed would pass it; "+why, "; "))
	case d.asCalled && out.Caught > 0:
		return d.byHand("the attempt that it is made of would fail it: " + why)
	}
	return nil
}

// known returns an error for expected tools that do not exist, if the existing tools are known.
func (d *draft) known() error {
	if len(d.tools) == 0 {
		return nil
	}
	for _, name := range app.ExpectedTools(&d.of.Expect) {
		if slices.ContainsFunc(d.tools, func(t callvet.Tool) bool { return callvet.NameFits(name, t.Name, false) }) {
			continue
		}
		names := make([]string, len(d.tools))
		for i := range d.tools {
			names[i] = d.tools[i].Name
		}
		text := "there is no such tool"
		if near := callvet.Nearest(name, names); near != "" {
			text += fmt.Sprintf("; did you mean %q?", near)
		}
		return app.Wrong("expect", name, "%s", text)
	}
	return nil
}

// state returns the state of the tools of the case, nil if no tools are known. Files of cases have
// no place for a system prompt, so it is not recorded.
func (d *draft) state() (json.RawMessage, error) {
	if len(d.registry) == 0 {
		return nil, nil
	}
	now := suite.StaleStateOf(&callvet.Suite{Tools: d.registry}, d.models, "")
	if d.system {
		now.System = ""
	}
	return now.Bytes()
}

// byHand returns the error of a draft that must be completed by hand, with the reason.
func (d *draft) byHand(why string) error {
	return &callvet.Hinted{
		Err:  fmt.Errorf("make a %s case of %q: %w: %s", d.tier, d.of.ID, callvet.ErrInvalid, why),
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

// AboutTool returns the first tool that a case expects by its name; "" if it expects none.
func AboutTool(c *callvet.Case) string {
	if want, _ := score.SelectionOf(&c.Expect); len(want.Tools) > 0 && !callvet.NamePattern(want.Tools[0]) {
		return want.Tools[0]
	}
	return ""
}

// about returns the tool that the case is about: the first expected one, or else the first called
// one.
func (d *draft) about() string {
	if tool := AboutTool(d.of); tool != "" {
		return tool
	}
	for i := range d.attempts {
		if calls := d.attempts[i].Calls(); len(calls) > 0 {
			return calls[0].Tool
		}
	}
	return "no_tool"
}

// fileWord returns a tool's name in a form for file names. The name may be an invention of a model.
func fileWord(tool string) string {
	word := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, tool)
	return cmp.Or(word[:min(len(word), 100)], "no_tool")
}

// written returns the case in the form of eval files: names of tools, arguments one by one, stubs.
// d.lost has the data that this form cannot express.
func (d *draft) written(q *NewCaseSettings, now time.Time) (*callvet.Case, error) {
	from := d.of
	if len(from.Input) == 0 {
		return nil, d.byHand("what the user said was not recorded")
	}
	if from.Context != "" || len(from.Input) != 1 || from.Question() == "" {
		return nil,
			d.byHand(
				"it is more than one message of a user (turns before it, or a context), which such files cannot say")
	}
	c := &callvet.Case{
		Tier: d.tier, Input: from.Input, Expect: from.Expect, MultiTurn: from.MultiTurn, Tags: from.Tags,
		ToolChoice:  from.ToolChoice,
		Description: cmp.Or(q.Description, from.Description, d.reason, from.ID, from.Question()),
		Fields:      map[string]string{suite.FieldCreatedAt: now.UTC().Format(time.DateOnly)},
	}
	switch d.tier {
	case callvet.TierRegression:
		c.Description = "regression — " + c.Description
		c.Fields["difficulty"] = "regression"
	case callvet.TierLabeled:
		c.Fields["difficulty"] = from.Fields["difficulty"]
	}
	if q.Bug != "" {
		c.Fields[suite.FieldBugRef] = q.Bug
	}
	if d.system {
		d.lose("system_prompt", "the system prompt is not carried: eval files have no place for it")
	}
	if d.scoring {
		d.lose("scoring",
			"settings of scoring are not carried: names and arguments are compared as they are without them")
	}
	if err := d.routing(&c.Expect); err != nil {
		return nil, err
	}
	d.stubs(c)
	return c, nil
}

// lose reports data that is dropped.
func (d *draft) lose(key, format string, args ...any) {
	d.lost = append(d.lost,
		callvet.Problem{Code: "not-carried", Warning: true, Key: key, Message: fmt.Sprintf(format, args...)})
}

// routing writes plans as names of tools, and the arguments of a single plan one by one.
func (d *draft) routing(e *callvet.Expect) error {
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
				d.lose("expect.order", "the order of the calls is not carried")
			}
		default:
			extra = true
		}
		if extra {
			return d.byHand("its plan allows other calls than those it names, which such files cannot express")
		}
		names, all := namesOf(p)
		if !all {
			return d.byHand(
				fmt.Sprintf("its plan accepts more than %d sets of tools, which would each have to be named", maxSets))
		}
		sets = append(sets, names...)
	}
	if len(e.Plans) == 1 {
		for i := range e.Plans[0].Calls {
			d.arguments(&e.Plans[0].Calls[i], e)
		}
	} else if slices.ContainsFunc(e.Plans, func(p callvet.Plan) bool {
		return slices.ContainsFunc(p.Calls,
			func(c callvet.ExpectedCall) bool { return c.Args != nil || len(c.Matchers) > 0 })
	}) {
		d.lose("expect.any_of", "the arguments of several plans are not carried")
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

// maxSets bounds the sets of names for one plan.
const maxSets = 16

// namesOf returns the sets of names that a plan accepts: one for each choice of names, without and
// with optional calls. all is false if there are more than maxSets.
func namesOf(p *callvet.Plan) (sets [][]string, all bool) {
	sets = [][]string{{}}
	for i := range p.Calls {
		c := &p.Calls[i]
		choices := len(c.Tools)
		if c.Optional {
			choices++
		}
		if len(sets)*choices > maxSets {
			return nil, false
		}
		var next [][]string
		for _, s := range sets {
			if c.Optional {
				next = append(next, s)
			}
			for _, n := range c.Tools {
				next = append(next, append(slices.Clip(s), n))
			}
		}
		sets = next
	}
	return sets, true
}

// arguments writes the expected arguments of a call one by one.
func (d *draft) arguments(c *callvet.ExpectedCall, e *callvet.Expect) {
	if c.Optional || len(c.Tools) != 1 {
		if c.Args != nil || len(c.Matchers) > 0 {
			d.lose("expect.calls.params",
				"the arguments of a call that may be another one, or missing, are not carried")
		}
		return
	}
	if c.Result != nil || c.ResultCheck != "" {
		d.lose("expect.calls.result_check", "what a call has to give is not carried")
	}
	matched := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(c.Matchers)) {
		m := c.Matchers[name]
		matched[name] = true
		switch {
		case m.Optional || strings.Contains(name, "*") ||
			!slices.Contains([]string{"", "exact", "contains", "any_of", "present", "absent", "regex"}, m.Mode):
			d.lose("expect.calls.params."+name, "the argument %s is not compared: eval files cannot say how", name)
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
		case matched[name]:
		case strings.ContainsAny(name, ".["): // a path in eval files
			d.lose("expect.calls.params."+name, "the argument %s is not compared: its name would be a path", name)
		default:
			e.ToolParams = append(e.ToolParams,
				callvet.ToolParam{
					Tool: c.Tools[0], Path: name,
					Matcher: callvet.Matcher{Mode: "exact", Value: args[name]},
				})
		}
	}
}

// stubs returns the results of tools: the mocks of the case or the suite, or else the results in
// the attempts.
func (d *draft) stubs(c *callvet.Case) {
	have := func(tool string) bool {
		return slices.ContainsFunc(c.Mocks, func(m callvet.Mock) bool { return m.Tool == tool })
	}
	for _, m := range slices.Concat(d.of.Mocks, d.mocks) {
		if len(m.Replies) == 0 || m.Replies[0].Result == nil {
			continue
		}
		if m.Args != nil || m.When != nil || len(m.Replies) > 1 {
			d.lose("mocks", "only one result of %s is carried, for any arguments", m.Tool)
		}
		if !have(m.Tool) && d.concerns(m.Tool) {
			c.Mocks = append(c.Mocks,
				callvet.Mock{Tool: m.Tool, Replies: []callvet.MockReply{{Result: m.Replies[0].Result}}})
		}
	}
	for i := range d.attempts {
		for _, call := range d.attempts[i].Calls() {
			if call.Result != nil && call.Error == "" && (call.Status == callvet.StatusOK || call.Status == "") &&
				!have(call.Tool) && d.concerns(call.Tool) {
				c.Mocks = append(c.Mocks,
					callvet.Mock{Tool: call.Tool, Replies: []callvet.MockReply{{Result: call.Result}}})
			}
		}
	}
}

// concerns reports whether a tool is expected or was called.
func (d *draft) concerns(tool string) bool {
	if len(d.tools) > 0 && !slices.ContainsFunc(d.tools, func(t callvet.Tool) bool { return t.Name == tool }) {
		return false
	}
	want, _ := score.SelectionOf(&d.of.Expect)
	return slices.ContainsFunc(slices.Concat(want.Tools, want.Acceptable),
		func(n string) bool { return callvet.NameFits(n, tool, false) }) ||
		slices.ContainsFunc(d.attempts, func(t callvet.Trace) bool {
			return slices.ContainsFunc(t.Calls(), func(c callvet.Call) bool { return c.Tool == tool })
		})
}

// named returns tools without a schema for all expected and called names, for drafts with unknown
// tools.
func (d *draft) named() (out []callvet.Tool) {
	add := func(name string) {
		if !slices.ContainsFunc(out, func(t callvet.Tool) bool { return strings.EqualFold(t.Name, name) }) {
			out = append(out, callvet.Tool{Name: name})
		}
	}
	for _, name := range app.ExpectedTools(&d.of.Expect) {
		add(name)
	}
	for i := range d.attempts {
		for _, call := range d.attempts[i].Calls() {
			add(call.Tool)
		}
	}
	return out
}

// caught counts the attempts that fail the case as written, and returns the reason of the first.
func (d *draft) caught(ctx context.Context, file string, text []byte) (n int, reason string, err error) {
	tools := d.tools
	if len(tools) == 0 {
		tools = d.named()
	}
	cases, err := suite.ReadCases(file, text, tools)
	if err != nil {
		return 0, "", err
	}
	scorer, problems := score.New(&callvet.Suite{Tools: tools}, score.Config{})
	if suite.HasErrors(problems) || len(cases) != 1 {
		return 0, "", fmt.Errorf("make a %s case of %q: %w: its tools do not compile", d.tier, d.of.ID,
			callvet.ErrInvalid)
	}
	return d.failing(ctx, scorer, &cases[0])
}

// failing counts the attempts that fail a case, and returns the reason of the first.
func (d *draft) failing(ctx context.Context, scorer *score.Scorer, c *callvet.Case) (n int, reason string, err error) {
	by, _ := scorer.Compile(c)
	for i := range d.attempts {
		t := d.attempts[i]
		r, err := by.Judge(ctx, &t)
		if err != nil {
			return 0, "", err
		}
		if r.Verdict == callvet.VerdictFail {
			if n++; n == 1 {
				reason = r.Reason
			}
		}
	}
	return n, reason, nil
}
