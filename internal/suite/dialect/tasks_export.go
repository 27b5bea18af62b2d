// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"bytes"
	"slices"
	"strings"

	"github.com/callvet/callvet"
)

func exportTasks(s *callvet.Suite) ([]byte, []callvet.Problem, error) {
	f, same := readFrame(s, Tasks)
	shape, form := "object", "json"
	doc, problems := writeTasksFrame(s), []callvet.Problem(nil)
	if same {
		shape, _ = f.get("shape").text()
		form = f.form
		if shape == "object" {
			r := newReader(&source{path: s.Name, text: f.document.raw, form: "json"}, Options{})
			base := r.tasksFrame(f.document)
			if !f.document.has("name") {
				base.Name = s.Name
			}
			if !f.document.has("tools") {
				base.Tools = s.Tools
			}
			doc = exportFrame(f, writeTasksFrame(&base), doc)
		}
	} else {
		problems = loseTools(s)
	}
	list := make([][]byte, len(s.Cases))
	for i := range s.Cases {
		orig, _ := trusted(s.Cases[i].Foreign)
		if !same {
			orig = node{}
		}
		var lost []callvet.Problem
		list[i], lost = taskFormat(Options{}).export(&s.Cases[i], orig)
		problems = append(problems, lost...)
	}
	out, err := taskDocument(shape, form, doc, list)
	return out, problems, err
}

// taskDocument writes the shape and the form that the file had.
func taskDocument(shape, form string, doc []byte, list [][]byte) ([]byte, error) {
	switch {
	case shape == "lines" || shape == "single" && form != "yaml":
		sep := []byte("\n")
		for i := range list {
			list[i] = compact(list[i])
		}
		if form == "yaml" {
			sep = []byte("\n---\n")
		}
		return append(bytes.Join(list, sep), '\n'), nil
	case shape == "single" && len(list) == 1:
		return yamlText(node{raw: list[0]}), nil
	case shape == "list" || shape == "single":
		doc = array(list)
	default:
		doc = withMember(node{raw: doc}, "tasks", array(list))
	}
	if form == "yaml" {
		return yamlText(node{raw: doc}), nil
	}
	return pretty(doc)
}

func writeTasksFrame(s *callvet.Suite) []byte {
	var o record
	o.str("name", s.Name)
	o.str("version", s.Version)
	o.str("description", s.Description)
	o.str("system_prompt", s.SystemPrompt)
	if len(s.Tools) > 0 {
		o.raw("tools", openAITools(s.Tools))
	}
	return o.bytes()
}

func writeTask(c *callvet.Case, orig node) []byte {
	var o record
	writeID(&o, "task_id", c, orig)
	o.str("description", c.Description)
	if orig.has("messages") || len(c.Input) > 1 {
		o.raw("messages", writeTurns(c.Input))
	} else {
		o.raw("goal", quote(userText(c)))
	}
	o.str("context", c.Context)
	if len(c.Expect.Plans) > 0 {
		o.raw("gold_steps", writeGoldSteps(c, orig.get("gold_steps")))
	}
	if p := writePostconditions(&c.Expect); len(p) > 0 {
		o.raw("gold_postconditions", array(p))
	}
	var b record
	b.integer("max_tokens", c.Expect.MaxTokens)
	b.number("max_cost_usd", c.Expect.MaxCostUSD)
	b.number("max_latency_ms", c.Expect.MaxLatencyMS)
	b.integer("max_calls", c.Expect.MaxToolCalls)
	if len(b) > 0 {
		o.raw("budget", b.bytes())
	}
	o.str("as_of", c.AsOf)
	o.str("tier", string(c.Tier))
	o.strs("tags", c.Tags)
	for _, k := range taskFields() {
		o.str(k, c.Fields[k])
	}
	return o.bytes()
}

// writeGoldSteps writes the plan's calls. A step of orig that calls the same
// tool lends its version.
func writeGoldSteps(c *callvet.Case, orig node) []byte {
	versioned := map[string]string{}
	for _, n := range orig.elements() {
		t, ok := n.text()
		if !ok {
			t, _ = n.get("tool").text()
		}
		if base, _, found := strings.Cut(t, "@"); found {
			versioned[base] = t
		}
	}
	items := [][]byte{}
	for _, call := range c.Expect.Plans[0].Calls {
		var o record
		if len(call.Tools) > 0 {
			tool := call.Tools[0]
			if v := versioned[tool]; v != "" {
				tool = v
			}
			o.str("tool", tool)
		}
		o.raw("args", call.Args)
		o.str("result_check", call.ResultCheck)
		if i := slices.IndexFunc(c.Mocks, func(m callvet.Mock) bool {
			return slices.Contains(call.Tools, m.Tool) && bytes.Equal(m.Args, call.Args) && len(m.Replies) > 0
		}); i >= 0 {
			o.raw("result", c.Mocks[i].Replies[0].Result)
		}
		items = append(items, o.bytes())
	}
	return array(items)
}

func writePostconditions(e *callvet.Expect) [][]byte {
	var out [][]byte
	add := func(key string, list []string) {
		for _, s := range list {
			var o record
			o.str(key, s)
			out = append(out, o.bytes())
		}
	}
	for _, d := range e.Rubric {
		out = append(out, quote(d.Criteria))
	}
	add("response_contains", e.ResponseContains)
	add("response_not_contains", e.ResponseNotContains)
	add("response_matches", e.ResponseMatches)
	return out
}
