// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package native

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
)

// common are the defaults that every case has while it is read.
type common struct {
	tags   []string
	fields map[string]string
	// scorers are added to every case that has none of the same name.
	scorers []callvet.Scorer
}

// suite reads the native form without its cases. include reads the file that tools_from names.
func (r *reader) suite(n *doc.Node,
	include func(path string) ([]callvet.Tool, error),
) (s *callvet.Suite, cases *doc.Node, under common) {
	s = &callvet.Suite{Dialect: "callvet"}
	if d := n.Get("defaults"); d != nil { // before the cases, wherever it is in the file
		r.Push("defaults")
		under = r.defaults(d, &s.Defaults)
		r.Pop()
	}
	r.Fields(n, forms()[""].Known, func(key string, v *doc.Node) bool {
		switch key {
		case "callvet":
			if string(v.Raw) != "1" {
				r.Note(v.At, "unknown-version", "write callvet: 1", "this callvet reads format version 1")
			}
		case "name":
			s.Name = r.Label(v)
		case "version":
			s.Version = r.Label(v)
		case "description":
			s.Description = r.Str(v)
		case "system_prompt":
			s.SystemPrompt = r.Str(v)
		case "tools":
			r.tools(&s.Tools, v)
		case "tools_from":
			r.toolsFrom(s, v, include)
		case "defaults":
		case "mocks":
			r.into("mocks", v, &s.Mocks)
		case "mock_responses":
			s.Mocks = append(s.Mocks, r.mockResponses(v)...)
		case "faults":
			r.into("faults", v, &s.Faults)
		case "gates", "foreign":
		case "dialect":
			s.Dialect = r.Str(v)
		case "cases", "test_cases":
			if cases != nil {
				r.Note(v.At, "conflicting-keys", "keep one", "cases and test_cases are the same thing")
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

// foreignPart keeps the unused keys of other formats, and gates, which belong to the gate
// command. Both are kept in the suite's opaque part.
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
	path := r.Str(v)
	if path == "" {
		return
	}
	tools, err := include(path)
	if err != nil {
		fix := "the path is relative to the suite's file"
		if h := (*callvet.Hinted)(nil); errors.As(err, &h) && h.Hint != "" {
			fix = h.Hint
		}
		r.Note(v.At, "tools-from", fix, "read tools from %s: %v", path, err)
		return
	}
	s.Tools = append(s.Tools, tools...)
}

func (r *reader) defaults(n *doc.Node, d *callvet.Defaults) common {
	var under common
	r.Members(forms()["defaults"], n, reflect.ValueOf(d).Elem(), func(key string, v *doc.Node) bool {
		switch key {
		case "tags":
			under.tags = r.Texts(v)
		case "fields":
			r.into("labels", v, &under.fields)
		default:
			return false
		}
		return true
	})
	under.scorers = d.Scorers
	return under
}

// toolChoice reads auto, required, none, a tool's name, or OpenAI's object form.
func (r *reader) toolChoice(n *doc.Node) string {
	if n.Kind != doc.Map {
		return r.Str(n)
	}
	name := ""
	r.Fields(n, []string{"type", "function"}, func(key string, v *doc.Node) bool {
		switch key {
		case "type":
			r.Choice(v, "function")
		case "function":
			r.Fields(v, []string{"name"}, func(key string, v *doc.Node) bool {
				if key == "name" {
					name = r.Str(v)
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

// cases reads the cases one by one.
func (r *reader) cases(n *doc.Node, under common) iter.Seq[*callvet.Case] {
	return func(yield func(*callvet.Case) bool) {
		if n == nil {
			return
		}
		if n.Kind != doc.List {
			r.Push("cases")
			r.WrongKind(n, "a list of cases")
			r.Pop()
			return
		}
		more := true
		r.Duplicates()
		r.File.Elements(n, func(i int, v *doc.Node) {
			if !more {
				return
			}
			c := r.readCase(v, i, &under)
			r.Duplicates()
			r.Case = ""
			more = yield(&c)
		})
	}
}

// AutoID is the id of the i-th case, counted from 0, when it has none.
func AutoID(i int) string { return fmt.Sprintf("case-%04d", i+1) }
