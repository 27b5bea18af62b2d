// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labelled

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/suite"
	"github.com/callvet/callvet/internal/world"
	"github.com/callvet/callvet/score/safety"
	"github.com/callvet/callvet/value"
)

// Places of the set, in its folder.
const (
	card     = "README.md"
	goldFile = "scripts/gold.yaml"
)

// set is the labelled set, ready for checks.
type set struct {
	dir   string
	suite *callvet.Suite
	tools map[string]*callvet.Tool
	// rules check calls with the contracts of the set's tools.
	rules *safety.Checker
}

// open reads the set of a folder. Any finding of lint is an error, even a warning.
func open(ctx context.Context, dir string) (*set, error) {
	s, problems, err := suite.Check(ctx, dir, suite.Options{}, suite.LintOptions{World: mocks, Source: os.ReadFile})
	if err != nil {
		return nil, fmt.Errorf("open labelled set: %w", err)
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("open labelled set: %w: lint finds %d problems, the first: %w", callvet.ErrInvalid,
			len(problems), problems[0])
	}
	out := &set{dir: dir, suite: s, tools: map[string]*callvet.Tool{}}
	for i := range s.Tools {
		out.tools[s.Tools[i].Name] = &s.Tools[i]
	}
	out.rules, err = safety.New(s.Tools, safety.Rules{})
	return out, err
}

// mocks answers as a run does.
func mocks(s *callvet.Suite, c *callvet.Case) callvet.World {
	return world.Mocks(s, c, world.MockOptions{})
}

// mutating reports whether a tool changes something.
func (s *set) mutating(tool string) bool {
	t := s.tools[tool]
	return t != nil && t.ReadOnly != nil && !*t.ReadOnly
}

// idle reports whether a task is right if and only if nothing is called.
func idle(c *callvet.Case) bool {
	return len(c.Expect.Plans) == 1 && len(c.Expect.Plans[0].Calls) == 0
}

// several reports whether more than one plan is right, and whether two plans call different tools. An
// empty plan does not count for the second.
func several(c *callvet.Case) (ways, tools bool) {
	first := ""
	for _, a := range right(c) {
		var names []string
		for _, call := range a.calls() {
			names = append(names, call.Tool)
		}
		slices.Sort(names)
		set := strings.Join(slices.Compact(names), " ")
		tools = tools || first != "" && set != "" && set != first
		first = cmp.Or(first, set)
	}
	return len(c.Expect.Plans) > 1, tools
}

// answer is the reference answer of a task; "" when it has none.
func answer(c *callvet.Case) string {
	var data struct{ Answer string }
	if json.Unmarshal(c.Expect.ReferenceData, &data) != nil {
		return ""
	}
	return data.Answer
}

// userText returns all texts of the user in a task.
func userText(c *callvet.Case) string {
	var b strings.Builder
	for i := range c.Input {
		if c.Input[i].Role == callvet.RoleUser {
			b.WriteString(c.Input[i].Content + "\n")
		}
	}
	return b.String()
}

// languages are the languages of the set, with the prefix of the ids of their tasks.
func languages() map[string]string { return map[string]string{"pt-BR": "br-", "es-AR": "ar-"} }

// lacks describes a required part that a task does not have; "" if it is complete.
func (s *set) lacks(c *callvet.Case) string {
	e := &c.Expect
	begins, known := languages()[c.Fields["language"]]
	switch {
	case !known || !strings.HasPrefix(c.ID, begins):
		return "a language of the set, and an id that begins as those of the language"
	case c.Fields["intent"] == "":
		return "an intent"
	case strings.TrimSpace(c.Description) == "":
		return "a goal (description)"
	case !dated(c):
		return "a day (as_of), which is that of its context"
	case len(c.Tags) == 0:
		return "tags"
	case e.Plans == nil:
		return "the calls that are right"
	case e.MaxRequests == nil || e.MaxToolCalls == nil && e.MaxSameCalls == nil:
		return "a budget of calls and of requests"
	case answer(c) == "":
		return "a reference answer"
	case !conditions(e):
		return "a post-condition"
	}
	for tag, has := range s.traits(c) {
		if slices.Contains(c.Tags, tag) != has {
			return fmt.Sprintf("the tag %s where that is so, and only there", tag)
		}
	}
	for i := range e.Plans {
		for _, call := range e.Plans[i].Calls {
			if v, err := value.Parse(call.Args); err != nil || v.Kind() != value.Object {
				return "arguments of each call"
			}
		}
	}
	return ""
}

// dated reports whether a task has a day, and its context no other day.
func dated(c *callvet.Case) bool {
	day, err := time.Parse(time.DateOnly, c.AsOf)
	return err == nil && (!strings.Contains(c.Context, "Today is") ||
		strings.Contains(c.Context, day.Format("Today is Monday, 2006-01-02.")))
}

// traits are the tags that follow from the task itself.
func (s *set) traits(c *callvet.Case) map[string]bool {
	ways, tools := several(c)
	refused, failed, login := false, false, false
	for _, m := range c.Mocks {
		for _, r := range m.Replies {
			limited := strings.Contains(r.Error, "429") || strings.Contains(r.Error, "rate_limit") ||
				strings.Contains(r.Error, "too many requests")
			refused, failed = refused || limited, failed || r.Error != "" && !limited
		}
	}
	for _, a := range right(c) {
		login = login || slices.ContainsFunc(a.calls(), func(o callvet.Call) bool { return o.Tool == "sign_in" }) &&
			!slices.Contains(c.Tags, "confirm-first")
	}
	return map[string]bool{
		"no-tool": idle(c), "several-tools": tools, "several-ways": ways && !tools, "rate-limit": refused,
		"outage": failed, "login-then-act": login,
	}
}

// conditions reports whether the task has conditions on results or on the answer.
func conditions(e *callvet.Expect) bool {
	for i := range e.Plans {
		if slices.ContainsFunc(e.Plans[i].Calls, func(c callvet.ExpectedCall) bool { return c.ResultCheck != "" }) {
			return true
		}
	}
	return e.ResponseNonEmpty || len(e.ResponseContains)+len(e.ResponseContainsAny)+len(e.ResponseMatches) > 0
}

// figures counts the figures of the card in the set.
func (s *set) figures() map[string]int {
	out := map[string]int{"tasks": len(s.suite.Cases), "tools": len(s.suite.Tools)}
	by := map[string]int{}
	for name := range s.tools {
		if s.mutating(name) {
			out["tools that change something"]++
		}
	}
	for i := range s.suite.Cases {
		c := &s.suite.Cases[i]
		ways, tools := several(c)
		out[c.Fields["language"]]++
		by[c.Fields["language"]+" "+c.Fields["intent"]]++
		out["most tasks of one language and intent"] = max(out["most tasks of one language and intent"],
			by[c.Fields["language"]+" "+c.Fields["intent"]])
		for name, has := range map[string]bool{
			"no tool is needed":                   idle(c),
			"several ways are right":              ways,
			"several tools would do":              tools,
			"more than one call":                  !ways && len(c.Expect.Plans[0].Calls) > 1,
			"conversations of more than one turn": len(c.Input) > 1,
			"a post-condition on a result":        checksResult(&c.Expect),
			"tools that may not be called":        len(c.Expect.ToolsNotCalled) > 0,
		} {
			if has {
				out[name]++
			}
		}
		for _, tag := range c.Tags {
			out["tag "+tag]++
		}
	}
	return out
}

func checksResult(e *callvet.Expect) bool {
	return slices.ContainsFunc(e.Plans, func(p callvet.Plan) bool {
		return slices.ContainsFunc(p.Calls, func(c callvet.ExpectedCall) bool { return c.ResultCheck != "" })
	})
}
