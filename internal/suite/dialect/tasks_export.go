// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"bytes"
	"slices"
	"strings"

	"github.com/callvet/callvet"
)

func exportTasks(s *callvet.Suite) ([]byte, []callvet.Problem, error) {
	f, same := ReadFrame(s, Tasks)
	shape, form := "object", "json"
	doc, problems := writeTasksFrame(s), []callvet.Problem(nil)
	if same {
		shape, _ = f.Get("shape").Text()
		form = f.Form
		if shape == "object" {
			r := newReader(&Source{Path: s.Name, Text: f.Document.Raw, Form: "json"}, ReaderOptions{})
			base := r.tasksFrame(f.Document)
			if !f.Document.Has("name") {
				base.Name = s.Name
			}
			if !f.Document.Has("tools") {
				base.Tools = s.Tools
			}
			doc = ExportFrame(f, writeTasksFrame(&base), doc)
		}
	} else {
		problems = LoseTools(s)
	}
	list, lost := taskFormat(ReaderOptions{}).ExportAll(s.Cases, same)
	problems = append(problems, lost...)
	out, err := taskDocument(shape, form, doc, list)
	return out, problems, err
}

// taskDocument writes the shape and the form that the file had.
func taskDocument(shape, form string, doc []byte, list [][]byte) ([]byte, error) {
	switch {
	case shape == "lines" || shape == "single" && form != "yaml":
		sep := []byte("\n")
		for i := range list {
			list[i] = Compact(list[i])
		}
		if form == "yaml" {
			sep = []byte("\n---\n")
		}
		return append(bytes.Join(list, sep), '\n'), nil
	case shape == "single" && len(list) == 1:
		return YAML(Node{Raw: list[0]}), nil
	case shape == "list" || shape == "single":
		doc = Array(list)
	default:
		doc = WithMember(Node{Raw: doc}, "tasks", Array(list))
	}
	if form == "yaml" {
		return YAML(Node{Raw: doc}), nil
	}
	return Pretty(doc)
}

func writeTasksFrame(s *callvet.Suite) []byte {
	var o Record
	o.Str("name", s.Name)
	o.Str("version", s.Version)
	o.Str("description", s.Description)
	o.Str("system_prompt", s.SystemPrompt)
	if len(s.Tools) > 0 {
		o.Raw("tools", OpenAITools(s.Tools))
	}
	return o.Bytes()
}

func writeTask(c *callvet.Case, orig Node) []byte {
	var o Record
	WriteID(&o, "task_id", c, orig)
	o.Str("description", c.Description)
	if orig.Has("messages") || len(c.Input) > 1 {
		o.Raw("messages", WriteTurns(c.Input))
	} else {
		o.Raw("goal", Quote(UserText(c)))
	}
	o.Str("context", c.Context)
	if len(c.Expect.Plans) > 0 {
		o.Raw("gold_steps", writeGoldSteps(c, orig.Get("gold_steps")))
	}
	if p := writePostconditions(&c.Expect); len(p) > 0 {
		o.Raw("gold_postconditions", Array(p))
	}
	var b Record
	b.Integer("max_tokens", c.Expect.MaxTokens)
	b.Number("max_cost_usd", c.Expect.MaxCostUSD)
	b.Number("max_latency_ms", c.Expect.MaxLatencyMS)
	b.Integer("max_calls", c.Expect.MaxToolCalls)
	if len(b) > 0 {
		o.Raw("budget", b.Bytes())
	}
	o.Strs("safety_rules", safetyRules(c))
	o.Str("as_of", c.AsOf)
	o.Str("tier", string(c.Tier))
	o.Strs("tags", c.Tags)
	for _, k := range taskFields() {
		o.Str(k, c.Fields[k])
	}
	return o.Bytes()
}

// writeGoldSteps writes the plan's calls. A step of orig that calls the same
// tool lends its version.
func writeGoldSteps(c *callvet.Case, orig Node) []byte {
	versioned := map[string]string{}
	for _, n := range orig.Elements() {
		t, ok := n.Text()
		if !ok {
			t, _ = n.Get("tool").Text()
		}
		if base, _, found := strings.Cut(t, "@"); found {
			versioned[base] = t
		}
	}
	items := [][]byte{}
	for _, call := range c.Expect.Plans[0].Calls {
		var o Record
		if len(call.Tools) > 0 {
			tool := call.Tools[0]
			if v := versioned[tool]; v != "" {
				tool = v
			}
			o.Str("tool", tool)
		}
		o.Raw("args", call.Args)
		o.Str("result_check", call.ResultCheck)
		if i := slices.IndexFunc(c.Mocks, func(m callvet.Mock) bool {
			return slices.Contains(call.Tools, m.Tool) && bytes.Equal(m.Args, call.Args) && len(m.Replies) > 0
		}); i >= 0 {
			o.Raw("result", c.Mocks[i].Replies[0].Result)
		}
		items = append(items, o.Bytes())
	}
	return Array(items)
}

// safetyRules are the words of the case's safety rules.
func safetyRules(c *callvet.Case) []string {
	var out []string
	for _, tool := range c.Expect.ToolsNotCalled {
		out = append(out, callvet.RuleNever+tool)
	}
	if c.Safety != nil {
		out = append(out, c.Safety.Words()...)
	}
	for _, d := range c.Expect.Rubric {
		if d.Dimension == safetyDimension {
			out = append(out, d.Criteria)
		}
	}
	return out
}

func writePostconditions(e *callvet.Expect) [][]byte {
	var out [][]byte
	add := func(key string, list []string) {
		for _, s := range list {
			var o Record
			o.Str(key, s)
			out = append(out, o.Bytes())
		}
	}
	for _, condition := range e.Postconditions {
		out = append(out, Quote(condition))
	}
	for _, d := range e.Rubric {
		if d.Dimension != safetyDimension {
			out = append(out, Quote(d.Criteria))
		}
	}
	add("response_contains", e.ResponseContains)
	add("response_not_contains", e.ResponseNotContains)
	add("response_matches", e.ResponseMatches)
	return out
}
