// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/callvet/callvet"
)

// Tools reads a list of tool definitions in any of the usual forms. They are OpenAI's {type,
// function}, MCP's {name, inputSchema}, Amazon Bedrock's {toolSpec}, Gemini's
// {functionDeclarations} and the flat {name, parameters}.
func (r *Reader) Tools(v Node, key string) []callvet.Tool {
	if !v.Given() {
		return nil
	}
	if v.Kind() != '[' {
		r.Report(v.Off, "wrong-type", key, "", "%s must be a list of tools, not %s", key, KindName(v))
		return nil
	}
	out := []callvet.Tool{}
	for _, e := range v.Elements() {
		if list, k := r.Loose(e).First("functionDeclarations", "function_declarations"); list.Given() {
			list.Raw = geminiTypes.ReplaceAllFunc(list.Raw, bytes.ToLower)
			out = append(out, r.Tools(list, k)...)
			continue
		}
		if t, ok := r.tool(e); ok {
			out = append(out, t)
		}
	}
	return out
}

// geminiTypes are the types of Gemini's schemas; JSON Schema writes the same names in lower case.
var geminiTypes = regexp.MustCompile(`"type"\s*:\s*"(OBJECT|ARRAY|STRING|NUMBER|INTEGER|BOOLEAN|NULL)"`)

func (r *Reader) tool(n Node) (callvet.Tool, bool) {
	if n.Kind() != '{' {
		r.Report(n.Off, "wrong-type", "tools", "", "a tool must be an object, not %s", KindName(n))
		return callvet.Tool{}, false
	}
	if typ, _ := n.Get("type").Text(); typ != "" && typ != "function" && !n.Has("name") && !n.Has("function") {
		r.NotCarried(n.Off, "tools", "a tool of type %q is run by its provider, there is nothing to call", typ)
		return callvet.Tool{}, false
	}
	if n.Has("cachePoint") { // of Bedrock: the tools before it are cached
		return callvet.Tool{}, false
	}
	body := n
	for _, key := range []string{"function", "toolSpec"} {
		if f := n.Get(key); f.Kind() == '{' {
			body = f
		}
	}
	o := r.Loose(body)
	t := callvet.Tool{Name: o.Str("name"), Version: o.Scalar("version"), Description: o.Str("description")}
	if t.Name == "" {
		r.Report(n.Off, "missing-key", "name",
			`a tool looks like {"type":"function","function":{"name":…,"parameters":…}}`, "a tool has no name")
		return t, false
	}
	if p, k := o.First("parameters", "inputSchema", "input_schema"); p.Given() {
		if in := p.Get("json"); body.Has("inputSchema") && in.Kind() == '{' && !p.Has("type") { // Bedrock's
			p = in
		}
		if p.Kind() != '{' && p.Kind() != 't' && p.Kind() != 'f' {
			r.Report(p.Off, "wrong-type", k, "", "%s of tool %q must be a JSON Schema, not %s", k, t.Name, KindName(p))
		} else {
			t.Parameters = copyRaw(p)
		}
	}
	a := r.Loose(body.Get("annotations"))
	if v, given := a.Boolean("readOnlyHint"); given {
		t.ReadOnly = &v
	}
	if v, given := a.Boolean("idempotentHint"); given {
		t.Idempotent = &v
	}
	return t, true
}

// OpenAITools writes tools in OpenAI's form; versions, flags and budgets are
// callvet's own and are listed by loseTools.
func OpenAITools(tools []callvet.Tool) []byte {
	items := make([][]byte, len(tools))
	for i, t := range tools {
		var f, o Record
		f.Str("name", t.Name)
		f.Str("description", t.Description)
		f.Raw("parameters", t.Parameters)
		o.Str("type", "function")
		o.Raw("function", f.Bytes())
		items[i] = o.Bytes()
	}
	return Array(items)
}

// ToolCache parses equal tool lists once: files with one list per line repeat it.
type ToolCache struct {
	raw   []byte
	tools []callvet.Tool
}

// Read returns the tools of v, from the cache when v equals the last value.
func (c *ToolCache) Read(r *Reader, v Node) []callvet.Tool {
	if c.raw == nil || !bytes.Equal(c.raw, v.Raw) {
		c.raw, c.tools = v.Raw, r.Tools(v, "tools")
	}
	return c.tools
}

// LoseTools lists the parts of tools that OpenAI's form cannot express.
func LoseTools(s *callvet.Suite) []callvet.Problem {
	var lost []string
	for _, t := range s.Tools {
		if t.Version != "" || t.ReadOnly != nil || t.Idempotent != nil || t.RateLimit != nil ||
			t.LatencyBudgetMS != nil || t.LatencyP50MS != nil || t.Safety != nil || t.Family != "" || len(t.Tags) > 0 {
			lost = append(lost, t.Name)
		}
	}
	if len(lost) == 0 {
		return nil
	}
	return []callvet.Problem{{
		Code: "not-carried", Warning: true, Key: "tools",
		Message: fmt.Sprintf("version, flags, limits and tags of %s are not carried: the format has no place for them",
			strings.Join(lost, ", ")),
	}}
}

// Feature is an assertion or setting of a case that a dialect may not be able to express.
type Feature string

// Features lists what a case uses beyond an input, an id and a description.
func Features(c *callvet.Case) []Feature {
	e := &c.Expect
	var out []Feature
	add := func(f Feature, used bool) {
		if used {
			out = append(out, f)
		}
	}
	add("plans", e.Plans != nil)
	add("any_of plans", len(e.Plans) > 1)
	for i := range e.Plans {
		planFeatures(&e.Plans[i], add)
	}
	add("tools_called", e.ToolsCalled != nil)
	add("tools_acceptable", e.ToolsAcceptable != nil)
	add("tools_not_called", len(e.ToolsNotCalled) > 0)
	add("tool_calls bounds", e.MinToolCalls != nil || e.MaxToolCalls != nil)
	add("counts", len(e.Counts) > 0)
	add("all_of", len(e.AllOf) > 0)
	add("not", len(e.Not) > 0)
	add("max_same_calls", e.MaxSameCalls != nil)
	add("max_requests", e.MaxRequests != nil)
	add("min_scores", len(e.MinScores) > 0)
	add("response json", e.ResponseJSON != nil)
	add("no_tool_errors", e.NoToolErrors)
	add("postconditions", len(e.Postconditions) > 0)
	add("tool_params", len(e.ToolParams) > 0)
	add("response_non_empty", e.ResponseNonEmpty)
	add("response_contains", len(e.ResponseContains) > 0)
	add("response_contains_any", len(e.ResponseContainsAny) > 0)
	add("response_not_contains", len(e.ResponseNotContains) > 0)
	add("response_matches", len(e.ResponseMatches) > 0)
	add("no_ungrounded_numbers", e.NoUngroundedNumbers)
	add("selection", e.Selection != nil)
	add("max_latency_ms", e.MaxLatencyMS != nil)
	add("max_tokens", e.MaxTokens != nil)
	add("max_cost_usd", e.MaxCostUSD != nil)
	add("scorers", len(e.Scorers) > 0)
	add("rubric", len(e.Rubric) > 0)
	add("reference_data", e.ReferenceData != nil)
	add("multi_turn", c.MultiTurn != nil)
	if m := c.MultiTurn; m != nil {
		add("required_prerequisites", len(m.RequiredPrerequisites) > 0 || m.PrerequisitesOrdered)
	}
	add("mocks", len(c.Mocks) > 0)
	add("mocks by arguments, sequence or error", slices.ContainsFunc(c.Mocks, elaborate))
	add("scoring", c.Scoring != nil)
	add("context", c.Context != "")
	add("as_of", c.AsOf != "")
	add("tags", len(c.Tags) > 0)
	add("family", c.Family != "")
	add("fields", len(c.Fields) > 0)
	add("tools of the case", c.Tools != nil || c.ToolNames != nil)
	add("tool_choice", c.ToolChoice != "")
	add("earlier turns", len(c.Input) > 1)
	add("description", c.Description != "")
	add("safety", c.Safety != nil && c.Safety.Words() != nil)
	add("settings of safety", c.Safety != nil && c.Safety.Words() == nil)
	add("faults", c.Faults != nil)
	add("tier", c.Tier != "")
	add("skip", c.Skip != "")
	add("repeat", c.Repeat > 0)
	return slices.Compact(slices.Sorted(slices.Values(out)))
}

func planFeatures(p *callvet.Plan, add func(Feature, bool)) {
	add("several calls", len(p.Calls) > 1)
	add("no calls", len(p.Calls) == 0)
	add("order", p.Order != "" && p.Order != callvet.OrderAny)
	add("max_extra_calls", p.MaxExtraCalls != nil)
	for i := range p.Calls {
		c := &p.Calls[i]
		add("several tools for one call", len(c.Tools) > 1)
		add("argument matchers", len(c.Matchers) > 0)
		add("call order (after), optional calls", len(c.After) > 0 || c.Optional)
		add("result_check", c.ResultCheck != "")
		add("result of a call", c.Result != nil)
		add("place of a call (nth, message)", c.Nth != 0 || c.Message != 0)
		add("extra_args of a call", c.ExtraArgs != "")
		add("calls without arguments given", c.Args == nil)
		add("arguments", c.Args != nil)
	}
}

func elaborate(m callvet.Mock) bool {
	return m.Args != nil || m.When != nil || len(m.Replies) != 1 || m.Replies[0].Template != nil ||
		m.Replies[0].Set != nil || m.Replies[0].Error != "" || m.Replies[0].LatencyMS != 0 || m.Replies[0].Result == nil
}

// LoseCase lists the parts of a case that a dialect cannot express.
func LoseCase(c *callvet.Case, can []Feature) []callvet.Problem {
	var out []callvet.Problem
	for _, f := range Features(c) {
		if !slices.Contains(can, f) {
			out = append(out, callvet.Problem{
				Position: c.Position, Code: "not-carried", Warning: true, Case: c.ID, Key: string(f),
				Message: fmt.Sprintf("%s is not carried: the format has no place for it", f),
			})
		}
	}
	return out
}

// UserText is the input when it is a single user turn.
func UserText(c *callvet.Case) string {
	for i := len(c.Input) - 1; i >= 0; i-- {
		if c.Input[i].Role == callvet.RoleUser {
			return c.Input[i].Content
		}
	}
	return ""
}

// UserInput is a conversation of one user turn.
func UserInput(text string) []callvet.Turn {
	return []callvet.Turn{{Role: callvet.RoleUser, Content: text}}
}

// OnlyCall is the last call of a case's first plan; nil when no call is expected.
func OnlyCall(c *callvet.Case) *callvet.ExpectedCall {
	if len(c.Expect.Plans) == 0 || len(c.Expect.Plans[0].Calls) == 0 {
		return nil
	}
	calls := c.Expect.Plans[0].Calls
	return &calls[len(calls)-1]
}

// LoseSuite lists the suite settings that no foreign format has.
func LoseSuite(s *callvet.Suite) []callvet.Problem {
	var out []callvet.Problem
	lose := func(key string, used bool) {
		if used {
			out = append(out, callvet.Problem{
				Code: "not-carried", Warning: true, Key: key,
				Message: key + " of the suite is not carried: the format has no place for it",
			})
		}
	}
	lose("mocks", len(s.Mocks) > 0)
	lose("defaults", !reflect.ValueOf(s.Defaults).IsZero())
	lose("version", s.Version != "")
	return out
}

// AssertsAnything looks at the assertions this dialect can make.
func AssertsAnything(e *callvet.Expect) bool {
	return e.ToolsCalled != nil || e.ToolsAcceptable != nil || len(e.ToolsNotCalled) > 0 || e.MinToolCalls != nil ||
		e.MaxToolCalls != nil ||
		e.NoToolErrors || len(e.Postconditions) > 0 || len(e.ToolParams) > 0 || e.ResponseNonEmpty ||
		len(e.ResponseContains) > 0 || len(e.ResponseContainsAny) > 0 ||
		len(e.ResponseNotContains) > 0 || len(e.ResponseMatches) > 0 || e.NoUngroundedNumbers ||
		e.MaxLatencyMS != nil || e.MaxTokens != nil || e.MaxCostUSD != nil ||
		e.Plans != nil || len(e.Counts)+len(e.AllOf)+len(e.Not)+len(e.Scorers) > 0
}
