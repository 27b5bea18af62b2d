// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/contract"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/internal/suite/native"
	"github.com/callvet/callvet/score"
)

// LintOptions are the settings of the lint. The zero value is fine.
type LintOptions struct {
	// Scoring are the settings that a run would score with; without a Similarity a semantic
	// comparison is an error.
	Scoring score.Config
	// EmbedderLater makes a semantic comparison without a Similarity a warning: each run names the model.
	EmbedderLater bool
	// World answers the calls of gold answers as a run would, without waiting.
	// Nil: checks of results are not tried on gold.
	World func(s *callvet.Suite, c *callvet.Case) callvet.World
	// Source returns a file's bytes, so that problems point at the exact value. Nil: they point
	// at their case.
	Source func(file string) ([]byte, error)
	// Catalogue is the file that the tools come from where they are searched and not called: a
	// schema that does not compile is then a warning about that file. "": they come from the
	// suite.
	Catalogue string
}

// newLinter checks the suite without its cases; s.Cases is not read.
func newLinter(s *callvet.Suite, opt LintOptions) *linter {
	l := &linter{s: s, opt: opt, all: tableOf(s.Tools), ids: map[string]int{}}
	l.set = l.all
	l.suiteLevel()
	var problems []callvet.Problem
	l.scorer, problems = score.New(s, opt.Scoring)
	l.uncompiled(problems)
	return l
}

// oneCase checks the next case. It keeps only the id of the case, and a digest of its request.
func (l *linter) oneCase(ctx context.Context, c *callvet.Case) {
	if l.cases++; l.cases == 1 {
		l.file = c.Position.File
	}
	l.c, l.reported = c, l.reported[:0]
	if first, ok := l.ids[c.ID]; ok {
		l.problem("duplicate-id", "id", "give every case an id of its own", "the id %q is taken by the case on line %d",
			c.ID, first)
	} else {
		l.ids[c.ID] = c.Position.Line
	}
	l.lintCase()
	l.gold(ctx)
	l.remember(c)
	l.c = nil
}

// finish returns the problems, after the last case.
func (l *linter) finish() []callvet.Problem {
	if l.cases == 0 {
		l.problem("no-cases", "cases", "add cases:", "the suite has no case")
	}
	l.alike()
	for i := range l.problems { // the suite's own, which belong to its first file
		if l.problems[i].File == "" {
			l.problems[i].File = l.file
		}
	}
	l.problems = l.capped()
	l.locate()
	inOrderOfFile(l.problems)
	if l.s.Dialect == "bfcl" { // a published benchmark is run unchanged, with its mistakes
		for i := range l.problems {
			l.problems[i].Warning = true
		}
	}
	return l.problems
}

func inOrderOfFile(problems []callvet.Problem) {
	slices.SortStableFunc(problems, func(a, b callvet.Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// HasErrors reports whether any problem is not a warning.
func HasErrors(problems []callvet.Problem) bool {
	return slices.ContainsFunc(problems, func(p callvet.Problem) bool { return !p.Warning })
}

// capped keeps the first problems and counts the rest.
func (l *linter) capped() []callvet.Problem {
	if len(l.problems) <= native.MaxProblems {
		return l.problems
	}
	rest := l.problems[native.MaxProblems:]
	return append(l.problems[:native.MaxProblems:native.MaxProblems], callvet.Problem{
		Code: "more-problems", Warning: !HasErrors(rest),
		Message: fmt.Sprintf("%d more problems are not listed", len(rest)+l.dropped),
		Fix:     "mend the first ones and look again",
	})
}

// toolTable contains the tools that a case offers.
type toolTable struct {
	names []string
	fold  map[string]bool
	set   *contract.Set
	// naming is the naming of the last requested setting.
	naming *callvet.Naming
	by     *callvet.ToolNames
}

func tableOf(tools []callvet.Tool) *toolTable {
	t := &toolTable{fold: map[string]bool{}}
	t.set, _ = contract.NewSet(tools) // each doc.Entry keeps its own error
	for i := range tools {
		t.names = append(t.names, tools[i].Name)
		t.fold[strings.ToLower(tools[i].Name)] = true
	}
	return t
}

func (t *toolTable) has(name string) bool { return t.fold[strings.ToLower(name)] }

type linter struct {
	s        *callvet.Suite
	opt      LintOptions
	c        *callvet.Case // nil outside cases
	all, set *toolTable    // the suite's tools; the case's
	scorer   *score.Scorer
	cases    int            // so far
	file     string         // of the first case
	ids      map[string]int // and the line of the case that has it
	asked    []asked        // by the cases that may resemble others
	unasked  int            // cases after alikeCases of them, which are not compared
	// reported are the keys of the current case that have an error, reportedSuite those outside
	// cases. The scorer's problems with these keys are not reported again.
	reported, reportedSuite []string
	problems                []callvet.Problem
	dropped                 int  // problems not even kept, so that a broken file of millions of cases stays small
	noTools                 bool // it is reported that the suite has none
}

func (l *linter) add(warning bool, code, key, fix, message string) {
	p := callvet.Problem{Code: code, Key: key, Message: message, Fix: fix, Warning: warning}
	if l.c != nil {
		p.Case, p.Position = l.c.ID, l.c.Position
	} else {
		p.File = l.file
	}
	if !warning {
		l.mark(key)
	}
	l.keep(p)
}

// mark notes that a key has an error.
func (l *linter) mark(key string) {
	if l.c != nil {
		l.reported = append(l.reported, key)
	} else {
		l.reportedSuite = append(l.reportedSuite, key)
	}
}

func (l *linter) keep(p callvet.Problem) {
	if len(l.problems) >= 100*native.MaxProblems {
		l.dropped++
		return
	}
	l.problems = append(l.problems, p)
}

func (l *linter) problem(code, key, fix, format string, args ...any) {
	l.add(false, code, key, fix, fmt.Sprintf(format, args...))
}

func (l *linter) warn(code, key, fix, format string, args ...any) {
	l.add(true, code, key, fix, fmt.Sprintf(format, args...))
}

func (l *linter) suiteLevel() {
	exact, fold := map[string]bool{}, map[string]string{}
	for i := range l.s.Tools {
		t, key := &l.s.Tools[i], fmt.Sprintf("tools[%d]", i)
		other, taken := fold[strings.ToLower(t.Name)]
		switch {
		case exact[t.Name]:
			l.problem("duplicate-tool", key+".name", "remove or rename one", "the tool %q is defined twice", t.Name)
		case taken:
			l.warn("duplicate-tool", key+".name", "rename one",
				"the tools %q and %q differ in case only, and scoring compares names without case", other, t.Name)
		}
		exact[t.Name], fold[strings.ToLower(t.Name)] = true, t.Name
		l.tool(l.all.set.At(i), key)
	}
	l.toolChoice(l.s.Defaults.ToolChoice, "defaults.tool_choice", l.all)
	l.scoring(&l.s.Defaults.Scoring, "defaults.scoring")
	for i := range l.s.Mocks {
		l.known(l.s.Mocks[i].Tool, fmt.Sprintf("mocks[%d].tool", i), l.all)
	}
	l.states()
	l.faults(l.s.Faults, "faults", l.all)
}

func (l *linter) tool(e *contract.Entry, key string) {
	if e.Err != nil && l.opt.Catalogue != "" {
		l.keep(callvet.Problem{
			Code: "bad-schema", Position: callvet.Position{File: l.opt.Catalogue}, Warning: true,
			Fix:     "callvet tools lint says more",
			Message: fmt.Sprintf("the schema of %s does not compile: %v", e.Tool.Name, e.Err),
		})
	} else if e.Err != nil {
		l.problem("bad-schema", key+".parameters", "", "the schema of %s does not compile: %v", e.Tool.Name, e.Err)
	}
	if e.Err == nil {
		for _, why := range contract.Dropped(e.Tool.Parameters) {
			l.warn("schema-form", key+".parameters", "describe one object: type: object, properties, required",
				"some clients and providers leave %s out: the schema of its arguments %s", e.Tool.Name, why)
		}
	}
	if !callvet.SendableName(e.Tool.Name) && l.s.Dialect != "bfcl" { // its names are rewritten
		l.warn("name", key+".name", "letters, digits, _ and -, at most 64",
			"%q is no name that providers of models accept for a function", e.Tool.Name)
	}
	if strings.TrimSpace(e.Tool.Description) == "" {
		l.warn("no-description", key+".description", "say what the tool does; models choose by it",
			"the tool %s has no description", e.Tool.Name)
	}
}

// c0 is the case at hand, an empty one at suite level.
func (l *linter) c0() *callvet.Case {
	if l.c == nil {
		return &callvet.Case{}
	}
	return l.c
}

// toolless reports once that names cannot be checked: an agent with its own tools can be judged
// by their names alone.
func (l *linter) toolless() {
	if l.noTools {
		return
	}
	l.noTools = true
	c := l.c
	l.c = nil
	l.warn("no-tools", "tools", "add tools:, or give them with --tools",
		"the suite has no tools: the names it expects are not checked, and models cannot call any")
	l.c = c
}

// known checks a tool's name against those the case offers.
func (l *linter) known(name, key string, tools *toolTable) bool {
	switch {
	case tools.has(name):
		return true
	case callvet.NamePattern(name) &&
		slices.ContainsFunc(tools.names, func(t string) bool { return callvet.NameFits(name, t, false) }):
		return false // it has no schema of its own
	case l.all.has(name):
		l.problem("tool-not-offered", key, "add it to the case's tools",
			"the tool %q is in the suite, but the case does not offer it", name)
	case len(l.all.names) == 0 && len(l.c0().Tools) == 0:
		l.toolless()
		return false
	case len(tools.names) == 0:
		l.problem("unknown-tool", key, "add it to the case's tools", "there is no tool %q: the case offers none", name)
	default:
		fix := "the tools are " + doc.Clip(strings.Join(tools.names, ", "), 120)
		if best := callvet.Nearest(name, tools.names); best != "" {
			fix = fmt.Sprintf("did you mean %q?", best)
		}
		l.problem("unknown-tool", key, fix, "there is no tool %q", name)
	}
	return false
}

// counts checks the name of a called tool: a name that counts as an offered tool is accepted.
func (l *linter) counts(name, key string, tools *toolTable) bool {
	if tools.has(name) || tools.has(l.named(name, tools)) {
		return true
	}
	if set := oneName(name, tools.names); set != "" && !l.all.has(name) {
		l.problem("unknown-tool", key, "if they are one tool, write under scoring: "+set, "there is no tool %q", name)
		return false
	}
	return l.known(name, key, tools)
}

// named is the name that a name counts as under the setting in force.
func (l *linter) named(name string, tools *toolTable) string {
	in := &l.s.Defaults.Scoring
	set := in.ToolNames
	if own := l.c0().Scoring; own != nil && own.ToolNames != nil {
		set = own.ToolNames
	}
	if set == nil {
		return name
	}
	if tools.naming == nil || tools.by != set {
		tools.naming, tools.by = callvet.NewNaming(set, false, tools.names), set
	}
	return tools.naming.Of(name)
}

// oneName is the setting that makes a name equal to one of some names, where the two differ by a
// prefix.
func oneName(name string, names []string) string {
	whole, part := name, callvet.Unprefixed(name, names)
	for i := 0; i < len(names) && part == ""; i++ {
		if callvet.Unprefixed(names[i], []string{name}) != "" {
			whole, part = names[i], name
		}
	}
	if part == "" {
		return ""
	}
	return fmt.Sprintf("tool_names: {strip_prefixes: [%q]}", whole[:len(whole)-len(part)])
}

func (l *linter) countAll(names []string, key string) {
	for i, name := range names {
		l.counts(name, fmt.Sprintf("%s[%d]", key, i), l.set)
	}
}

func (l *linter) knownAll(names []string, key string) {
	for i, name := range names {
		l.known(name, fmt.Sprintf("%s[%d]", key, i), l.set)
	}
}

func (l *linter) toolChoice(choice, key string, tools *toolTable) {
	switch choice {
	case "", "auto", "required", "none":
		return
	}
	if best := callvet.Nearest(choice, []string{"auto", "required", "none"}); best != "" && !tools.has(choice) {
		l.problem("unknown-value", key, fmt.Sprintf("did you mean %q?", best),
			"tool_choice %q is neither auto, required or none nor a tool", choice)
		return
	}
	l.known(choice, key, tools)
}

func (l *linter) scoring(sc *callvet.Scoring, key string) {
	tool, args := 0.6, 0.4
	if sc.ToolWeight != nil {
		tool = *sc.ToolWeight
	}
	if sc.ArgsWeight != nil {
		args = *sc.ArgsWeight
	}
	switch {
	case tool < 0 || args < 0 || tool+args == 0: // the scorer refuses these
	case tool+args < 0.999 || tool+args > 1.001:
		l.warn("weights", key+".weights", "set both", "the weights %g and %g do not add up to 1", tool, args)
	case tool < 0.05 || args < 0.05:
		l.warn("weights", key+".weights", "", "the weights %g and %g hide one half of the score", tool, args)
	}
}
