// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// MaxCatalogueBytes is the size in bytes of the largest catalogue that is read.
const MaxCatalogueBytes = 256 << 20

// LoadCatalogue reads a catalogue. It is a list of tools, or an object with tools and optionally
// name, description, agents, route_agents, primary_namespaces and fallback_namespaces. A tool has
// name (or tool_id, with name as its title), title, description, version, parameters (or
// inputSchema), keywords, example_queries, namespace, tags, read_only, idempotent (or annotations),
// category, route, sub_route and agents. For a tool without agents see Join. An agent has name,
// description, keywords, namespace, primary_namespaces, fallback_namespaces and intent (patterns,
// routes, always). file is the name of the catalogue in messages.
//
// Other formats are read too: OpenAI's {type, function}, functions, Anthropic's input_schema, the
// answer of an MCP server to tools/list, tools by name, and one tool.
//
// Problems include warnings: unknown keys, agents that are not listed. The error wraps
// callvet.ErrInvalid or callvet.ErrLimited: not JSON, a value of the wrong kind, a tool without a
// name, two tools of one name. Each error is also among the problems (at most
// MaxCatalogueProblems), without the warning mark. The catalogue then has everything that could be
// read, for a lint; it is nil for a text that is not JSON.
func LoadCatalogue(file string, data []byte) (*Catalogue, []callvet.Problem, error) {
	return LoadCatalogueFiles(file, []CatalogueFile{{Name: file, Data: data}})
}

// CatalogueFile is one file of a catalogue.
type CatalogueFile struct {
	Name string
	Data []byte
}

// LoadCatalogueFiles is LoadCatalogue for a catalogue in several files, such as a folder of
// tools. A file NAME.vN.json with one tool without a version gives it version vN. name is the
// name of all files in messages.
func LoadCatalogueFiles(name string, files []CatalogueFile) (*Catalogue, []callvet.Problem, error) {
	r := reader{out: &Catalogue{Homes: map[string]Home{}}, unreadKeys: map[string]int{}}
	for _, f := range files {
		if err := r.one(f); err != nil {
			return nil, r.problems, err
		}
	}
	r.file, r.owner = name, ""
	if r.hard == 0 && len(r.out.Entries) == 0 {
		r.fail(-1, "no-tools", "tools", `write [{"name": "…", "description": "…"}]`, "it has no tools")
	}
	if n := r.hard - MaxCatalogueProblems; n > 0 {
		r.note(-1, "more-problems", "", "mend the first ones and look again", "%d mistakes more are not listed", n)
	}
	r.unlistedAgents()
	r.out.Join()
	for i, p := range r.problems {
		if n := r.unreadKeys[p.Key]; p.Code == "unknown-key" && n > 1 {
			r.problems[i].Message += fmt.Sprintf(", and %d times more", n-1)
		}
	}
	return r.out, r.problems, r.refusal()
}

// one reads one file; the error is for a file that is no JSON, or too large.
func (r *reader) one(f CatalogueFile) error {
	if r.read += len(f.Data); r.read > MaxCatalogueBytes {
		return fmt.Errorf("read catalogue %s: %w: more than %d bytes", f.Name, callvet.ErrLimited, MaxCatalogueBytes)
	}
	r.file, r.data, r.lines, r.owner = f.Name, bytes.TrimPrefix(f.Data, []byte("\xef\xbb\xbf")), nil, ""
	root, err := value.Parse(r.data)
	if err != nil {
		at, message := 0, "not valid JSON: "+err.Error()
		if e := (*value.SyntaxError)(nil); errors.As(err, &e) {
			at, message = e.Offset, "not valid JSON: "+e.Msg
		}
		if value.Over(err) {
			message = value.Reason(err)
		}
		r.fail(at, "syntax", "", "", "%s", message)
		return r.refusal()
	}
	before := len(r.out.Entries)
	r.root(root)
	if _, version, ok := callvet.SplitToolFile(path.Base(strings.ReplaceAll(f.Name, `\`, "/"))); ok &&
		len(r.out.Entries) == before+1 {
		if t := &r.out.Entries[before].Tool; t.Version == "" {
			t.Version = version
		}
	}
	return nil
}

// MaxCatalogueProblems is how many mistakes of a catalogue are listed.
const MaxCatalogueProblems = 100

// reader records mistakes and continues, so that one reading finds all of them.
type reader struct {
	file     string
	data     []byte
	lines    []int // offsets where lines begin; made when first needed
	out      *Catalogue
	problems []callvet.Problem
	// unreadKeys counts the unknown keys.
	unreadKeys map[string]int
	// owner is the present tool or agent; empty outside.
	owner string
	seen  int // tools so far
	hard  int // mistakes so far
	read  int // bytes so far
}

// fail notes a mistake at an offset.
func (r *reader) fail(at int, code, key, fix, format string, args ...any) {
	if r.hard++; r.hard > MaxCatalogueProblems {
		return
	}
	r.note(at, code, key, fix, format, args...)
}

func (r *reader) warn(at int, code, key, fix, format string, args ...any) {
	r.note(at, code, key, fix, format, args...)
	r.problems[len(r.problems)-1].Warning = true
}

func (r *reader) note(at int, code, key, fix, format string, args ...any) {
	say := fmt.Sprintf(format, args...)
	if r.owner != "" {
		say = r.owner + ": " + say
	}
	r.problems = append(r.problems,
		callvet.Problem{Position: r.position(at), Code: code, Key: key, Message: say, Fix: fix})
}

// position is the line and the column, in characters, of an offset; none under 0.
func (r *reader) position(at int) callvet.Position {
	if at < 0 {
		return callvet.Position{File: r.file}
	}
	if r.lines == nil {
		r.lines = []int{0}
		for i, c := range r.data {
			if c == '\n' {
				r.lines = append(r.lines, i+1)
			}
		}
	}
	at = min(at, len(r.data))
	line, here := slices.BinarySearch(r.lines, at)
	if here {
		line++
	}
	return callvet.Position{File: r.file, Line: line, Column: 1 + utf8.RuneCount(r.data[r.lines[line-1]:at])}
}

// refusal is the first mistake as an error, with the number of mistakes; nil without any.
func (r *reader) refusal() error {
	i := slices.IndexFunc(r.problems, func(p callvet.Problem) bool { return !p.Warning })
	switch {
	case i < 0:
		return nil
	case r.hard == 1:
		return fmt.Errorf("read catalogue: %w: %w", callvet.ErrInvalid, r.problems[i])
	}
	return fmt.Errorf("read catalogue: %w: %w, and %d mistakes more", callvet.ErrInvalid, r.problems[i], r.hard-1)
}

// members calls read for every member of an object and records unknown members.
func (r *reader) members(v value.Value, what string, read func(key string, v value.Value) bool) {
	if v.Kind() != value.Object {
		r.wrong(v, "", what, "an object")
		return
	}
	for m, ok := v.First(); ok; m, ok = v.Next(m) {
		if m.Kind() != value.Null && !read(m.Key(), m) {
			r.unread(m, what)
		}
	}
}

// wrong notes a value of the wrong kind.
func (r *reader) wrong(v value.Value, key, what, want string) {
	found := string(v.Raw())
	if v.Kind() == value.Object || v.Kind() == value.Array || len(found) > 40 {
		found = v.Kind().String()
	}
	r.fail(v.Offset(), "wrong-type", key, "", "%s is %s, not %s", what, found, want)
}

// unread records a key once; its count is added at the end.
func (r *reader) unread(m value.Value, what string) {
	if r.unreadKeys[m.Key()]++; r.unreadKeys[m.Key()] == 1 {
		r.warn(m.Offset(), "unknown-key", m.Key(), "", "nothing reads %q of %s", m.Key(), what)
	}
}

// root finds the tools in any form of their list.
func (r *reader) root(v value.Value) {
	if v.Kind() == value.Object {
		if inner, ok := v.Get("result"); ok && inner.Kind() == value.Object && has(inner, "tools") { // of JSON-RPC
			v = inner
		}
	}
	switch {
	case v.Kind() == value.Array:
		r.tools(v)
	case v.Kind() == value.Object && !has(v, "tools", "functions") &&
		has(v, "name", "tool_id", "tool_name", "function") && has(v, append(schemaKeys(), "function")...):
		r.tool(v, "")
	case v.Kind() != value.Object:
		r.wrong(v, "", "the catalogue", "a list of tools, or an object with tools")
	default:
		r.document(v)
	}
}

func has(v value.Value, keys ...string) bool {
	return slices.ContainsFunc(keys, func(k string) bool {
		_, ok := v.Get(k)
		return ok
	})
}

// schemaKeys are the names of a tool's schema.
func schemaKeys() []string {
	return []string{"parameters", "inputSchema", "input_schema", "args", "schema"}
}

func (r *reader) document(root value.Value) {
	r.members(root, "the catalogue", func(key string, v value.Value) bool {
		switch key {
		case "name":
			r.out.Name = r.str(v, key)
		case "description":
			r.out.Description = r.str(v, key)
		case "tools", "functions":
			r.tools(v)
		case "agents":
			r.each(v, key, func(v value.Value) {
				a := r.agent(v)
				if a.Name != "" && slices.ContainsFunc(r.out.Agents, func(b Agent) bool { return a.Name == b.Name }) {
					r.fail(v.Offset(), "duplicate-agent", a.Name, "remove or rename one",
						"agent %s is there twice", a.Name)
					return
				}
				r.out.Agents = append(r.out.Agents, a)
			})
		case "route_agents":
			r.out.RouteAgents = map[string][]string{}
			r.members(v, key, func(route string, v value.Value) bool {
				r.out.RouteAgents[route] = r.strs(v, key+"."+route)
				return true
			})
		case "primary_namespaces":
			r.out.Primary = r.paths(v, key)
		case "fallback_namespaces":
			r.out.Fallback = r.paths(v, key)
		case "nextCursor":
			r.warn(v.Offset(), "truncated", key, "ask the server for the rest",
				"the list goes on: these are its first tools only")
		default:
			return slices.Contains([]string{"$schema", "version", "language", "license", "jsonrpc", "id", "_meta"}, key)
		}
		return true
	})
}

func (r *reader) agent(v value.Value) (a Agent) {
	r.owner = fmt.Sprintf("agent %d", len(r.out.Agents)+1)
	defer func() { r.owner = "" }()
	if name, ok := v.Get("name"); ok && name.Kind() == value.String {
		r.owner = "agent " + name.Str()
	}
	r.members(v, "the agent", func(key string, v value.Value) bool {
		switch key {
		case "name":
			a.Name = r.str(v, key)
		case "description":
			a.Description = r.str(v, key)
		case "keywords":
			a.Keywords = r.strs(v, key)
		case "namespace":
			a.Namespace = r.strs(v, key)
		case "primary_namespaces":
			a.Primary = r.paths(v, key)
		case "fallback_namespaces":
			a.Fallback = r.paths(v, key)
		case "intent":
			a.Intent = r.intent(v)
		default:
			return false
		}
		return true
	})
	if a.Name == "" && v.Kind() == value.Object {
		r.fail(v.Offset(), "no-name", "name", "", "it has no name")
	}
	return a
}

func (r *reader) intent(v value.Value) *AgentIntent {
	i := &AgentIntent{}
	r.members(v, "intent", func(key string, v value.Value) bool {
		switch key {
		case "patterns":
			r.each(v, key, func(v value.Value) {
				p := r.str(v, key)
				if _, err := CompileRoutePattern(p); err != nil {
					r.fail(v.Offset(), "bad-pattern", key, "RE2's syntax, with \\b of Unicode", "%v", err)
				}
				i.Patterns = append(i.Patterns, p)
			})
		case "routes":
			i.Routes = r.strs(v, key)
		case "always":
			if i.Always = v.Kind() == value.Bool && v.Bool(); v.Kind() != value.Bool {
				r.wrong(v, key, key, "true or false")
			}
		default:
			return false
		}
		return true
	})
	if len(i.Patterns) == 0 || len(i.Routes) == 0 && !i.Always {
		r.fail(v.Offset(), "wrong-type", "intent", "", "an intent has patterns, and routes or always")
	}
	return i
}

// tools reads a list of tools, or an object of tools by their names.
func (r *reader) tools(v value.Value) {
	if v.Kind() != value.Object {
		r.each(v, "tools", func(v value.Value) { r.tool(v, "") })
		return
	}
	for m, ok := v.First(); ok; m, ok = v.Next(m) {
		r.tool(m, m.Key())
	}
}

// tool reads one tool; name is its key in an object, if any.
func (r *reader) tool(v value.Value, name string) {
	e, p, ok := r.entry(v, name)
	if !ok {
		return
	}
	if _, twice := r.out.Homes[e.Tool.Name]; twice {
		r.fail(v.Offset(), "duplicate-tool", e.Tool.Name, "remove or rename one", "tool %s is there twice", e.Tool.Name)
		return
	}
	r.out.Entries = append(r.out.Entries, e)
	r.out.Homes[e.Tool.Name] = p
}

// nameOf is the tool's name in its file; empty for no name.
func nameOf(v value.Value) string {
	for _, key := range []string{"tool_id", "id", "name", "tool_name"} {
		if m, ok := v.Get(key); ok && m.Kind() == value.String {
			return m.Str()
		}
	}
	if f, ok := v.Get("function"); ok && f.Kind() == value.Object {
		return nameOf(f)
	}
	return ""
}

func (r *reader) entry(v value.Value, name string) (e Entry, p Home, ok bool) {
	r.seen++
	r.owner = fmt.Sprintf("tool %d", r.seen)
	defer func() { r.owner = "" }()
	if v.Kind() == value.Object {
		if label := cmp.Or(nameOf(v), name); label != "" {
			r.owner = "tool " + label
		}
	}
	before := r.hard
	var id string
	var read func(key string, v value.Value) bool
	read = func(key string, v value.Value) bool {
		switch key {
		case "function": // OpenAI's
			r.members(v, key, read)
		case "tool_id", "id":
			id = r.str(v, key)
		case "name", "tool_name":
			e.Tool.Name = r.str(v, key)
		case "title":
			e.Title = r.str(v, key)
		case "keywords":
			e.Keywords = r.strs(v, key)
		case "example_queries", "examples":
			e.Examples = r.strs(v, key)
		case "namespace":
			e.Namespace = r.strs(v, key)
		default:
			return r.contract(&e.Tool, key, v) || r.home(&p, key, v)
		}
		return true
	}
	r.members(v, "the tool", read)
	if id != "" {
		if e.Title == "" {
			e.Title = e.Tool.Name
		}
		e.Tool.Name = id
	}
	if e.Tool.Name = cmp.Or(e.Tool.Name, name); e.Tool.Name == "" && r.hard == before {
		r.fail(v.Offset(), "no-name", "name", "", "it has no name")
	}
	return e, p, e.Tool.Name != ""
}

// contract reads the keys of a tool's contract.
func (r *reader) contract(t *callvet.Tool, key string, v value.Value) bool {
	switch key {
	case "description":
		t.Description = r.str(v, key)
	case "version":
		if t.Version = string(v.Raw()); v.Kind() != value.Number {
			t.Version = r.str(v, key)
		}
	case "tags":
		t.Tags = r.strs(v, key)
	case "read_only":
		t.ReadOnly = r.hint(v, key)
	case "side_effects":
		if t.ReadOnly = r.hint(v, key); t.ReadOnly != nil {
			*t.ReadOnly = !*t.ReadOnly
		}
	case "idempotent", "idempotence":
		t.Idempotent = r.hint(v, key)
	case "annotations":
		r.annotations(t, v)
	// for people and for the interfaces of models
	case "type", "outputSchema", "icons", "_meta", "strict", "cache_control", "$schema", "execution":
	// for scoring
	case "rate_limit", "rate_limits", "latency_budget", "latency_budget_ms", "latency_p50_ms", "family", "tool_family",
		"safety", "safety_constraints", "declared":
	default:
		if !slices.Contains(schemaKeys(), key) {
			return false
		}
		if t.Parameters != nil {
			r.fail(v.Offset(), "conflicting-keys", key, "keep one", "it has two schemas")
		}
		t.Parameters = bytes.Clone(v.Raw())
	}
	return true
}

func (r *reader) home(p *Home, key string, v value.Value) bool {
	switch key {
	case "category":
		p.Category = r.str(v, key)
	case "route":
		p.Route = r.str(v, key)
	case "sub_route":
		p.SubRoute = r.str(v, key)
	case "agents":
		p.Agents = r.strs(v, key)
	default:
		return false
	}
	return true
}

// annotations reads MCP's hints; the other annotations are not used.
func (r *reader) annotations(t *callvet.Tool, v value.Value) {
	r.members(v, "annotations", func(key string, v value.Value) bool {
		switch key {
		case "readOnlyHint":
			t.ReadOnly = r.hint(v, key)
		case "idempotentHint":
			t.Idempotent = r.hint(v, key)
		}
		return true
	})
}

func (r *reader) hint(v value.Value, key string) *bool {
	if v.Kind() != value.Bool {
		r.wrong(v, key, key, "true or false")
		return nil
	}
	b := v.Bool()
	return &b
}

// unlistedAgents warns of agents that tools and routes name and the file does not describe.
func (r *reader) unlistedAgents() {
	if r.out.Agents == nil {
		return
	}
	unlisted := func(agents []string, format string, who string) {
		for _, a := range agents {
			if !slices.ContainsFunc(r.out.Agents, func(b Agent) bool { return a == b.Name }) {
				r.warn(-1, "unknown-agent", a, "add it to agents", format, who, a)
			}
		}
	}
	for i := range r.out.Entries {
		name := r.out.Entries[i].Tool.Name
		unlisted(r.out.Homes[name].Agents, "tool %s belongs to agent %q, which the catalogue does not describe", name)
	}
	for _, name := range slices.Sorted(maps.Keys(r.out.RouteAgents)) {
		unlisted(r.out.RouteAgents[name], "the route %s prefers agent %q, which the catalogue does not describe", name)
	}
}

func (r *reader) each(v value.Value, key string, read func(value.Value)) {
	if v.Kind() != value.Array {
		r.wrong(v, key, key, "a list")
		return
	}
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		read(e)
	}
}

func (r *reader) str(v value.Value, key string) string {
	if v.Kind() != value.String {
		r.wrong(v, key, key, "text")
		return ""
	}
	return v.Str()
}

func (r *reader) strs(v value.Value, key string) []string {
	out := []string{}
	r.each(v, key, func(v value.Value) { out = append(out, r.str(v, key)) })
	return out
}

func (r *reader) paths(v value.Value, key string) [][]string {
	out := [][]string{}
	r.each(v, key, func(v value.Value) { out = append(out, r.strs(v, key)) })
	return out
}
