// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package native

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
)

const (
	suiteKeys    = "callvet name version description system_prompt tools tools_from defaults mocks mock_responses faults gates cases test_cases dialect foreign"
	defaultsKeys = "tool_choice scoring max_rounds tags fields scorers"
	toolKeys     = "name version description parameters read_only idempotent rate_limit latency_budget_ms latency_p50_ms safety family tags declared"
)

// common are the defaults that are laid under every case while reading.
type common struct {
	tags   []string
	fields map[string]string
	// scorers are judged with in every case that has none of their name.
	scorers []callvet.Scorer
}

// suite reads the native form but its cases. include reads the file that
// tools_from names.
func (r *reader) suite(n *doc.Node,
	include func(path string) ([]callvet.Tool, error),
) (s *callvet.Suite, cases *doc.Node, under common) {
	s = &callvet.Suite{Dialect: "callvet"}
	if d := n.Get("defaults"); d != nil { // before the cases, wherever it stands
		r.push("defaults")
		under = r.defaults(d, &s.Defaults)
		r.pop()
	}
	r.fields(n, suiteKeys, func(key string, v *doc.Node) bool {
		switch key {
		case "callvet":
			if string(v.Raw) != "1" {
				r.problem(v.At, "unknown-version", "write callvet: 1", "this callvet reads format version 1")
			}
		case "name":
			s.Name = r.label(v)
		case "version":
			s.Version = r.label(v)
		case "description":
			s.Description = r.str(v)
		case "system_prompt":
			s.SystemPrompt = r.str(v)
		case "tools":
			s.Tools = append(s.Tools, r.tools(v)...)
		case "tools_from":
			r.toolsFrom(s, v, include)
		case "defaults":
		case "mocks":
			s.Mocks = append(s.Mocks, r.mocks(v)...)
		case "mock_responses":
			s.Mocks = append(s.Mocks, r.mockResponses(v)...)
		case "faults":
			s.Faults = r.faults(v)
		case "gates", "foreign":
		case "dialect":
			s.Dialect = r.str(v)
		case "cases", "test_cases":
			if cases != nil {
				r.problem(v.At, "conflicting-keys", "keep one", "cases and test_cases are the same thing")
			}
			cases = v
		default:
			return false
		}
		return true
	})
	s.Foreign = foreignPart(n)
	return s, cases, under
}

// foreignPart keeps what other formats had, and gates, which belong to the gate
// command; both travel in the suite's opaque part.
func foreignPart(n *doc.Node) json.RawMessage {
	gates, foreign := n.Get("gates"), n.Get("foreign")
	switch {
	case gates == nil && foreign == nil:
		return nil
	case gates == nil:
		return foreign.JSON()
	}
	b := gates.AppendJSON([]byte(`{"gates":`))
	if foreign != nil {
		b = foreign.AppendJSON(append(b, `,"foreign":`...))
	}
	return append(b, '}')
}

func (r *reader) toolsFrom(s *callvet.Suite, v *doc.Node, include func(string) ([]callvet.Tool, error)) {
	path := r.str(v)
	if path == "" {
		return
	}
	tools, err := include(path)
	if err != nil {
		fix := "the path is relative to the suite's file"
		if h := (*callvet.Hinted)(nil); errors.As(err, &h) && h.Hint != "" {
			fix = h.Hint
		}
		r.problem(v.At, "tools-from", fix, "read tools from %s: %v", path, err)
		return
	}
	s.Tools = append(s.Tools, tools...)
}

func (r *reader) defaults(n *doc.Node, d *callvet.Defaults) common {
	var under common
	r.fields(n, defaultsKeys, func(key string, v *doc.Node) bool {
		switch key {
		case "tool_choice":
			d.ToolChoice = r.toolChoice(v)
		case "scoring":
			d.Scoring = r.scoring(v)
		case "max_rounds":
			d.MaxRounds = r.count(v, 1)
		case "tags":
			under.tags = r.strs(v)
		case "fields":
			under.fields = r.labels(v)
		case "scorers":
			d.Scorers = r.scorers(v)
			under.scorers = d.Scorers
		default:
			return false
		}
		return true
	})
	return under
}

// labels reads a mapping of names to short texts.
func (r *reader) labels(n *doc.Node) map[string]string {
	if n.Kind == doc.Null {
		return nil
	}
	out := map[string]string{}
	r.fields(n, "", func(key string, v *doc.Node) bool {
		out[key] = r.label(v)
		return true
	})
	if len(out) == 0 {
		return nil
	}
	return out
}

// toolChoice reads auto, required, none, a tool's name, or OpenAI's object form.
func (r *reader) toolChoice(n *doc.Node) string {
	if n.Kind != doc.Map {
		return r.str(n)
	}
	name := ""
	r.fields(n, "type function", func(key string, v *doc.Node) bool {
		switch key {
		case "type":
			r.choice(v, "function")
		case "function":
			r.fields(v, "name", func(key string, v *doc.Node) bool {
				if key == "name" {
					name = r.str(v)
				}
				return key == "name"
			})
		default:
			return false
		}
		return true
	})
	return name
}

func (r *reader) tools(n *doc.Node) []callvet.Tool {
	if n.Kind == doc.Null {
		return nil
	}
	var out []callvet.Tool
	r.each(n, func(_ int, v *doc.Node) {
		if t, ok := r.tool(v); ok {
			out = append(out, t)
		}
	})
	return out
}

// tool reads a definition in OpenAI's, MCP's, Amazon Bedrock's or the flat form.
func (r *reader) tool(n *doc.Node) (t callvet.Tool, ok bool) {
	if n.Kind != doc.Map {
		r.wrongKind(n, "a tool definition")
		return t, false
	}
	r.fields(n, toolKeys+" type function toolSpec inputSchema annotations", func(key string, v *doc.Node) bool {
		switch key {
		case "type":
			r.choice(v, "function")
		case "function", "toolSpec":
			r.fields(v, toolKeys+" strict inputSchema", func(key string, v *doc.Node) bool {
				return key == "strict" || r.toolField(&t, key, v)
			})
		default:
			return r.toolField(&t, key, v)
		}
		return true
	})
	if t.Name == "" {
		r.problem(n.At, "no-name", "", "the tool has no name")
		return t, false
	}
	return t, true
}

func (r *reader) toolField(t *callvet.Tool, key string, v *doc.Node) bool {
	switch key {
	case "name":
		t.Name = r.str(v)
	case "version":
		t.Version = r.label(v)
	case "description":
		t.Description = r.str(v)
	case "parameters", "inputSchema", "input_schema":
		r.schema(t, v)
	case "read_only":
		t.ReadOnly = r.boolPtr(v)
	case "idempotent":
		t.Idempotent = r.boolPtr(v)
	case "rate_limit":
		t.RateLimit = r.rateLimit(v)
	case "latency_budget_ms":
		t.LatencyBudgetMS = r.number(v, 0)
	case "latency_p50_ms":
		t.LatencyP50MS = r.number(v, 0)
	case "safety":
		t.Safety = r.safety(v)
	case "family":
		t.Family = r.str(v)
	case "tags":
		t.Tags = r.strs(v)
	case "declared":
		if v.Kind != doc.Null {
			t.Declared = v.JSON()
		}
	case "annotations":
		r.annotations(t, v)
	case "title", "outputSchema", "icons", "_meta": // MCP's, for people and clients only
	case "keywords", "example_queries", "namespace", "category", "route", "sub_route", "agents":
		return r.beside // a catalogue's, for selection; a suite would lose them
	default:
		return false
	}
	return true
}

func (r *reader) schema(t *callvet.Tool, n *doc.Node) {
	if t.Parameters != nil {
		r.problem(n.At, "conflicting-keys", "keep one", "the tool has two schemas")
	}
	if in := n.Get("json"); in != nil && in.Kind == doc.Map && len(n.Names) == 1 { // Amazon Bedrock's
		n = in
	}
	switch n.Kind {
	case doc.Null:
	case doc.Map, doc.Bool:
		t.Parameters = n.JSON()
	default:
		r.wrongKind(n, "a JSON Schema")
	}
}

func (r *reader) annotations(t *callvet.Tool, n *doc.Node) {
	if n.Kind == doc.Null {
		return
	}
	r.fields(n, "readOnlyHint idempotentHint destructiveHint openWorldHint title", func(key string, v *doc.Node) bool {
		switch key {
		case "readOnlyHint":
			t.ReadOnly = r.boolPtr(v)
		case "idempotentHint":
			t.Idempotent = r.boolPtr(v)
		case "destructiveHint", "openWorldHint", "title":
		default:
			return false
		}
		return true
	})
}

func (r *reader) rateLimit(n *doc.Node) *callvet.RateLimit {
	if n.Kind == doc.Null {
		return nil
	}
	var l callvet.RateLimit
	r.fields(n, "calls per_seconds", func(key string, v *doc.Node) bool {
		switch key {
		case "calls":
			l.Calls = r.count(v, 1)
		case "per_seconds":
			if f := r.number(v, 0); f != nil {
				l.PerSeconds = *f
			}
		default:
			return false
		}
		return true
	})
	if l.Calls == 0 || l.PerSeconds == 0 {
		r.problem(n.At, "incomplete", "rate_limit: {calls: 10, per_seconds: 60}",
			"a rate limit needs calls and per_seconds above 0")
	}
	return &l
}

func (r *reader) safety(n *doc.Node) *callvet.ToolSafety {
	if n.Kind == doc.Null {
		return nil
	}
	var s callvet.ToolSafety
	r.fields(n, "pii_allowed domains require_confirmation code sandboxed", func(key string, v *doc.Node) bool {
		switch key {
		case "pii_allowed":
			s.PIIAllowed = r.boolean(v)
		case "domains":
			s.Domains = r.strs(v)
		case "require_confirmation":
			s.RequireConfirmation = r.boolean(v)
		case "code":
			s.Code = r.strs(v)
		case "sandboxed":
			s.Sandboxed = r.boolean(v)
		default:
			return false
		}
		return true
	})
	return &s
}

// mockResponses reads a map from tool to its plain answer.
func (r *reader) mockResponses(n *doc.Node) []callvet.Mock {
	if n.Kind == doc.Null {
		return nil
	}
	var out []callvet.Mock
	r.fields(n, "", func(key string, v *doc.Node) bool {
		out = append(out, callvet.Mock{Tool: key, Replies: []callvet.MockReply{{Result: v.JSON()}}})
		return true
	})
	return out
}

func (r *reader) mocks(n *doc.Node) []callvet.Mock {
	if n.Kind == doc.Null {
		return nil
	}
	var out []callvet.Mock
	r.each(n, func(_ int, v *doc.Node) {
		m := callvet.Mock{}
		var one callvet.MockReply
		said := false
		r.fields(v, "tool args when replies "+replyKeys, func(key string, v *doc.Node) bool {
			switch key {
			case "tool":
				m.Tool = r.str(v)
			case "args":
				m.Args = r.object(v)
			case "when":
				m.When = r.state(v)
			case "replies":
				r.each(v, func(_ int, v *doc.Node) { m.Replies = append(m.Replies, r.reply(v)) })
			default:
				said = true
				return r.replyField(&one, key, v)
			}
			return true
		})
		if m.Tool == "" {
			r.problem(v.At, "no-tool", "", "the mock names no tool")
		}
		switch {
		case said && m.Replies != nil:
			r.problem(v.At, "conflicting-keys", "put it in the list of replies",
				"a mock has either replies or one answer")
		case said:
			r.oneResult(v, &one)
			m.Replies = []callvet.MockReply{one}
		case m.Replies == nil:
			r.problem(v.At, "no-answer", "add result, template, error or replies",
				"the mock of %s says no answer", m.Tool)
		}
		out = append(out, m)
	})
	return out
}

func (r *reader) reply(n *doc.Node) callvet.MockReply {
	var m callvet.MockReply
	r.fields(n, replyKeys, func(key string, v *doc.Node) bool { return r.replyField(&m, key, v) })
	r.oneResult(n, &m)
	return m
}

// oneResult asks for a result or a template of it, not both.
func (r *reader) oneResult(n *doc.Node, m *callvet.MockReply) {
	if m.Result != nil && m.Template != nil {
		r.problem(n.At, "conflicting-keys", "leave one of them", "an answer has either a result or a template of one")
	}
}

func (r *reader) replyField(m *callvet.MockReply, key string, v *doc.Node) bool {
	switch key {
	case "result":
		m.Result = v.JSON()
	case "template":
		m.Template = v.JSON()
		r.template(v)
	case "set":
		m.Set = r.changes(v)
	case "error":
		m.Error = r.str(v)
	case "status":
		m.Status = callvet.Status(r.choice(v, string(callvet.StatusOK), string(callvet.StatusRejected),
			string(callvet.StatusExecErr), string(callvet.StatusTimeout)))
	case "latency_ms":
		if f := r.number(v, 0); f != nil {
			m.LatencyMS = *f
		}
	default:
		return false
	}
	return true
}

// cases reads the list of cases and gives those without an id one by position.
// cases reads the cases one by one.
func (r *reader) cases(n *doc.Node, under common) iter.Seq[*callvet.Case] {
	return func(yield func(*callvet.Case) bool) {
		if n == nil {
			return
		}
		if n.Kind != doc.List {
			r.push("cases")
			r.wrongKind(n, "a list of cases")
			r.pop()
			return
		}
		outer, more := r.path, true
		r.path = make([]step, 0, 16)
		r.duplicates()
		r.doc.Elements(n, func(i int, v *doc.Node) {
			if !more {
				return
			}
			r.path = r.path[:0]
			c := r.readCase(v, i, &under)
			r.duplicates()
			r.caseID = ""
			more = yield(&c)
		})
		r.path = outer
	}
}

// AutoID is the id of the i-th case, counted from 0, when it has none.
func AutoID(i int) string { return fmt.Sprintf("case-%04d", i+1) }
