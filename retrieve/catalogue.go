// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// Catalogue is a file of tools with what their owner says about finding them.
type Catalogue struct {
	Name, Description string
	// Entries are the tools in the order of the file.
	Entries []Entry
	// Homes says where each tool belongs, by the entry's name.
	Homes map[string]Home
	// Agents are those that tools may belong to, in the order of the file.
	Agents []Agent
	// Primary and Fallback are the namespaces to be searched first, and when those
	// have nothing, for Options; nil when the file says none.
	Primary, Fallback [][]string
}

// Home is where a tool belongs: the category that people see, the route and the
// sub-route that lead to it, and the agents that may call it. Empty where the file
// does not say.
type Home struct {
	Category, Route, SubRoute string
	Agents                    []string
}

// Agent is one that answers a kind of question with the tools of its namespaces.
type Agent struct {
	Name, Description string
	Keywords          []string
	// Namespace says where the agent itself belongs: agents, trafik.
	Namespace         []string
	Primary, Fallback [][]string
}

// MaxCatalogue is the size in bytes of the largest catalogue that is read.
const MaxCatalogue = 512 << 20

// LoadCatalogue reads a catalogue: a list of tools, or an object with tools and, as
// far as there are any, name, description, agents, primary_namespaces and
// fallback_namespaces. A tool has name (or tool_id, with name as its title), title,
// description, version, parameters (or inputSchema), keywords, example_queries,
// namespace, tags, read_only, idempotent (or annotations), category, route, sub_route,
// agents. file names it in messages.
//
// Problems are warnings: keys that nothing reads, agents that are not listed. The
// error wraps callvet.ErrInvalid or callvet.ErrLimited: not JSON, a value of the
// wrong kind, a tool without a name, two of one name.
func LoadCatalogue(file string, data []byte) (*Catalogue, []callvet.Problem, error) {
	if len(data) > MaxCatalogue {
		return nil, nil, fmt.Errorf("read catalogue %s: %w: more than %d bytes", file, callvet.ErrLimited, MaxCatalogue)
	}
	root, err := value.Parse(data)
	if err != nil {
		return nil, nil, fmt.Errorf("read catalogue %s: %w: %w", file, callvet.ErrInvalid, err)
	}
	r := catalogueReader{file: file, out: &Catalogue{Homes: map[string]Home{}}, unreadKeys: map[string]int{}}
	if root.Kind() == value.Array {
		r.tools(root)
	} else {
		r.document(root)
	}
	if r.err == nil && len(r.out.Entries) == 0 {
		r.fail("it has no tools")
	}
	if r.err != nil {
		return nil, nil, r.err
	}
	r.unlistedAgents()
	for i, p := range r.problems {
		if n := r.unreadKeys[p.Key]; p.Code == "unknown-key" && n > 1 {
			r.problems[i].Message += fmt.Sprintf(", and %d times more", n-1)
		}
	}
	return r.out, r.problems, nil
}

// catalogueReader keeps the first error and goes on doing nothing.
type catalogueReader struct {
	file     string
	out      *Catalogue
	problems []callvet.Problem
	// unreadKeys counts the keys that nothing reads.
	unreadKeys map[string]int
	err        error
}

func (r *catalogueReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("read catalogue %s: %w: %s", r.file, callvet.ErrInvalid, fmt.Sprintf(format, args...))
	}
}

func (r *catalogueReader) warn(code, key, fix, format string, args ...any) {
	r.problems = append(r.problems, callvet.Problem{
		Position: callvet.Position{File: r.file}, Code: code, Warning: true, Key: key, Message: fmt.Sprintf(format, args...), Fix: fix,
	})
}

// members calls read for every member of an object; what it does not know is told.
func (r *catalogueReader) members(v value.Value, what string, read func(key string, v value.Value) bool) {
	if v.Kind() != value.Object {
		r.fail("%s is no object", what)
		return
	}
	for m, ok := v.First(); ok && r.err == nil; m, ok = v.Next(m) {
		if m.Kind() != value.Null && !read(m.Key(), m) {
			r.unread(m.Key(), what)
		}
	}
}

// unread notes a key once; how often it is there is told at the end.
func (r *catalogueReader) unread(key, what string) {
	if r.unreadKeys[key]++; r.unreadKeys[key] == 1 {
		r.warn("unknown-key", key, "", "nothing reads %q of %s", key, what)
	}
}

func (r *catalogueReader) document(root value.Value) {
	r.members(root, "the catalogue", func(key string, v value.Value) bool {
		switch key {
		case "name":
			r.out.Name = r.str(v, key)
		case "description":
			r.out.Description = r.str(v, key)
		case "tools":
			r.tools(v)
		case "agents":
			r.each(v, key, func(v value.Value) { r.out.Agents = append(r.out.Agents, r.agent(v)) })
		case "primary_namespaces":
			r.out.Primary = r.paths(v, key)
		case "fallback_namespaces":
			r.out.Fallback = r.paths(v, key)
		default:
			return key == "$schema" || key == "version" || key == "language" || key == "license"
		}
		return true
	})
}

func (r *catalogueReader) agent(v value.Value) (a Agent) {
	r.members(v, fmt.Sprintf("agent %d", len(r.out.Agents)+1), func(key string, v value.Value) bool {
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
		default:
			return false
		}
		return true
	})
	if a.Name == "" {
		r.fail("agent %d has no name", len(r.out.Agents)+1)
	}
	return a
}

func (r *catalogueReader) tools(v value.Value) {
	r.each(v, "tools", func(v value.Value) {
		e, p := r.entry(v)
		if _, twice := r.out.Homes[e.Tool.Name]; twice {
			r.fail("tool %s is there twice", e.Tool.Name)
		}
		r.out.Entries = append(r.out.Entries, e)
		r.out.Homes[e.Tool.Name] = p
	})
}

func (r *catalogueReader) entry(v value.Value) (e Entry, p Home) {
	var id string
	what := fmt.Sprintf("tool %d", len(r.out.Entries)+1)
	r.members(v, what, func(key string, v value.Value) bool {
		switch key {
		case "tool_id", "id":
			id = r.str(v, key)
		case "name":
			e.Tool.Name = r.str(v, key)
		case "title":
			e.Title = r.str(v, key)
		case "description":
			e.Tool.Description = r.str(v, key)
		case "parameters", "inputSchema":
			e.Tool.Parameters = bytes.Clone(v.Raw())
		case "version":
			e.Tool.Version = r.str(v, key)
		case "tags":
			e.Tool.Tags = r.strs(v, key)
		case "read_only":
			e.Tool.ReadOnly = r.hint(v, key)
		case "idempotent":
			e.Tool.Idempotent = r.hint(v, key)
		case "annotations":
			r.annotations(&e.Tool, v)
		case "outputSchema", "icons", "_meta", "strict": // for people and for the interfaces of models
		case "keywords":
			e.Keywords = r.strs(v, key)
		case "example_queries", "examples":
			e.Examples = r.strs(v, key)
		case "namespace":
			e.Namespace = r.strs(v, key)
		default:
			return r.home(&p, key, v)
		}
		return true
	})
	if id != "" {
		if e.Title == "" {
			e.Title = e.Tool.Name
		}
		e.Tool.Name = id
	}
	if e.Tool.Name == "" {
		r.fail("%s has no name", what)
	}
	return e, p
}

func (r *catalogueReader) home(p *Home, key string, v value.Value) bool {
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

// annotations are MCP's hints; its others say nothing about finding a tool.
func (r *catalogueReader) annotations(t *callvet.Tool, v value.Value) {
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

func (r *catalogueReader) hint(v value.Value, key string) *bool {
	if v.Kind() != value.Bool {
		r.fail("%s is neither true nor false", key)
		return nil
	}
	b := v.Bool()
	return &b
}

// unlistedAgents warns of agents that tools name and the file does not describe.
func (r *catalogueReader) unlistedAgents() {
	if r.out.Agents == nil {
		return
	}
	for i := range r.out.Entries {
		name := r.out.Entries[i].Tool.Name
		for _, a := range r.out.Homes[name].Agents {
			if !slices.ContainsFunc(r.out.Agents, func(b Agent) bool { return a == b.Name }) {
				r.warn("unknown-agent", a, "add it to agents", "tool %s belongs to agent %q, which the catalogue does not describe", name, a)
			}
		}
	}
}

func (r *catalogueReader) each(v value.Value, key string, read func(value.Value)) {
	if v.Kind() != value.Array {
		r.fail("%s is no list", key)
		return
	}
	for e, ok := v.First(); ok && r.err == nil; e, ok = v.Next(e) {
		read(e)
	}
}

func (r *catalogueReader) str(v value.Value, key string) string {
	if v.Kind() != value.String {
		r.fail("%s is no text", key)
		return ""
	}
	return v.Str()
}

func (r *catalogueReader) strs(v value.Value, key string) []string {
	out := []string{}
	r.each(v, key, func(v value.Value) { out = append(out, r.str(v, key)) })
	return out
}

func (r *catalogueReader) paths(v value.Value, key string) [][]string {
	out := [][]string{}
	r.each(v, key, func(v value.Value) { out = append(out, r.strs(v, key)) })
	return out
}
