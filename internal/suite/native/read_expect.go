// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package native

import (
	"reflect"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
)

func (r *reader) expect(f *doc.Shape, n *doc.Node, e *callvet.Expect) {
	plan := forms()["plan"]
	var single callvet.Plan
	var planned, none bool
	r.Members(f, n, reflect.ValueOf(e).Elem(), func(key string, v *doc.Node) bool {
		switch key {
		case "any_of":
			e.Plans = []callvet.Plan{}
			r.Read(plan.List(), v, reflect.ValueOf(&e.Plans).Elem())
			if len(e.Plans) == 0 {
				r.Note(v.At, "asserts-nothing", "", "any_of lists no plan")
				e.Plans = nil
			}
		case "no_call":
			none = r.Bool(v)
		case "calls", "order", "max_extra_calls":
			planned = true
			r.planMember(plan, key, v, &single)
		case "reference_data":
			return v.Kind == doc.Null
		case "skipped_assertions": // in files of earlier versions: the number, without the names
			count := 0
			r.Read(f.Key(key).Shape, v, reflect.ValueOf(&count).Elem())
			for range count {
				e.Unsupported = append(e.Unsupported,
					callvet.Unsupported{Name: "assertion", Reason: "it was left out when the suite was converted"})
			}
		default:
			return false
		}
		return true
	})
	if e.ToolsCalled != nil && e.ToolsAcceptable != nil {
		r.Note(n.At, "conflicting-keys", "tools_called for one exact set, tools_acceptable for several",
			"tools_called and tools_acceptable exclude each other")
	}
	switch {
	case planned && e.Plans != nil, planned && none, none && e.Plans != nil:
		r.Note(n.At, "conflicting-keys", "keep one of them", "calls, any_of and no_call exclude each other")
	case none:
		e.Plans = []callvet.Plan{{Calls: []callvet.ExpectedCall{}}}
	case planned && single.Calls == nil:
		r.Note(n.At, "asserts-nothing", "add calls, or no_call: true",
			"order and max_extra_calls say how calls count, but no calls are listed")
	case planned:
		e.Plans = []callvet.Plan{single}
	}
}

// plan reads a plan, or an entry of all_of or not: a plan, bounds of its own, or both.
func (r *reader) plan(f *doc.Shape, n *doc.Node, p *callvet.Plan) {
	r.Members(f, n, reflect.ValueOf(p).Elem(), func(key string, v *doc.Node) bool {
		return r.planMember(f, key, v, p)
	})
	var how *doc.Node
	for _, key := range []string{"order", "max_extra_calls", "min_scores"} {
		if v := n.Get(key); v != nil {
			how = v
		}
	}
	switch claim := f.Key("counts") != nil; {
	case p.Calls != nil || n.Kind != doc.Map && claim:
	case !claim:
		p.Calls = []callvet.ExpectedCall{}
		if n.Kind == doc.Map {
			r.Note(n.At, "asserts-nothing", "calls: [] means that nothing may be called", "the plan lists no calls")
		}
	case how != nil:
		r.Note(how.At, "asserts-nothing", "add calls",
			"order, max_extra_calls and min_scores are of calls, but no calls are listed")
	case len(p.Counts) == 0:
		r.Note(n.At, "asserts-nothing", "calls: [] means that nothing may be called",
			"the entry lists neither calls nor counts")
	}
}

// planMember reads a key of a plan. A list of calls is one where it is empty, too.
func (r *reader) planMember(f *doc.Shape, key string, v *doc.Node, p *callvet.Plan) bool {
	if key == "calls" {
		p.Calls = []callvet.ExpectedCall{}
	}
	return r.Member(f, key, v, reflect.ValueOf(p).Elem(), nil)
}

func (r *reader) namesTool(c *callvet.ExpectedCall, n *doc.Node) {
	if len(c.Tools) == 0 && n.Kind == doc.Map {
		r.Note(n.At, "no-tool", "tool: name, or a list of acceptable names", "the expected call names no tool")
	}
}

func (r *reader) countFits(n *doc.Node, c *callvet.CallCount) {
	r.namesTool(&c.Call, n)
	if c.Min != nil && c.Max != nil && *c.Min > *c.Max {
		r.Note(n.At, "contradiction", "", "at least %d calls and at most %d cannot both hold", *c.Min, *c.Max)
	}
}

// place reads a place in a list, from its end below 0.
func (r *reader) place(n *doc.Node) int {
	i, ok := r.Integer(n, -1<<31, 1<<31)
	if ok && i == 0 {
		r.Note(n.At, "out-of-range", "1 is the first, -1 the last", "there is no place 0")
	}
	return i
}

func (r *reader) scorerFits(n *doc.Node, s *callvet.Scorer) {
	if s.Expr == "" && !s.Runs() {
		r.Note(n.At, "missing-key", `expr: answer contains "Paris", for example`,
			"the scorer does not say how it judges: one of expr, exec, javascript and python")
	}
}

// notOfSteps are the settings that have no meaning for the steps of a trace.
const notOfSteps = "profile language max_extra_calls weights contract failed_calls require_native selection"

// ReadStepScoring reads the settings for comparing the arguments of the steps of a trace. They are
// some of those of a suite, by themselves or under scoring.
func ReadStepScoring(d *doc.File) (callvet.Scoring, []callvet.Problem) {
	r := newReader(d, "scoring")
	r.Duplicates()
	n := &d.Root
	if in := n.Get("scoring"); in != nil && len(n.Items) == 1 {
		n = in
	}
	var s callvet.Scoring
	r.into("scoring", n, &s)
	for key := range strings.FieldsSeq(notOfSteps) {
		if v := n.Get(key); v != nil {
			r.Note(v.At, "not-of-steps", "leave it out",
				"%s is for cases of a suite and has no meaning for the steps of a trace", key)
		}
	}
	return s, r.Done()
}

// toolNames reads which names mean the same tool.
func (r *reader) toolNames(f *doc.Shape, n *doc.Node, t *callvet.ToolNames) {
	t.At = r.File.Position(n.At)
	r.Members(f, n, reflect.ValueOf(t).Elem(), func(key string, v *doc.Node) bool {
		if key != "aliases" {
			return false
		}
		r.Fields(v, nil, func(from string, v *doc.Node) bool {
			r.alias(t, from, v)
			return true
		})
		r.aliasChains(t, v)
		return true
	})
	if i := slices.Index(t.StripPrefixes, ""); i >= 0 {
		r.Push("strip_prefixes")
		r.Note(n.Get("strip_prefixes").Items[i].At, "empty-prefix",
			`write the prefix as it stands before the names: "mcp__github__"`, "the prefix is empty")
		r.Pop()
	}
}

func (r *reader) alias(t *callvet.ToolNames, from string, v *doc.Node) {
	to := r.Str(v)
	if t.Aliases == nil {
		t.Aliases = map[string]string{}
	}
	if t.Aliases[from] = to; strings.TrimSpace(from) == "" || strings.TrimSpace(to) == "" {
		r.Note(v.At, "empty-alias", "write the called name, then the name of the tool: read: read_file",
			"an alias has an empty name")
	}
}

// aliasChains finds aliases of aliases: their meaning would depend on the order.
func (r *reader) aliasChains(t *callvet.ToolNames, n *doc.Node) {
	r.Fields(n, nil, func(from string, v *doc.Node) bool {
		if to := t.Aliases[from]; t.Aliases[to] != "" {
			r.Note(v.At, "alias-of-alias", "name the tool itself",
				"%q counts as %q, which is an alias too", from, to)
		}
		return true
	})
}

func (r *reader) toolParam(n *doc.Node) callvet.ToolParam {
	var p callvet.ToolParam
	var rest doc.Node
	rest.Kind, rest.At = doc.Map, n.At
	if n.Kind != doc.Map {
		r.WrongKind(n, "a mapping with tool, path and a matcher")
		return p
	}
	for i := range n.Items {
		switch n.Names[i].Name {
		case "tool":
			p.Tool = r.Str(&n.Items[i])
		case "path":
			p.Path = r.Label(&n.Items[i])
		default:
			rest.Names, rest.Items = append(rest.Names, n.Names[i]), append(rest.Items, n.Items[i])
		}
	}
	if p.Tool == "" || p.Path == "" {
		r.Note(n.At, "incomplete", "{tool: get_weather, path: city, value: Paris}",
			"a tool parameter needs tool and path")
	}
	p.Matcher = r.matcher(&rest)
	return p
}
