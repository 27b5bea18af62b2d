// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package native

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
)

// alwaysRead is a size in bytes: the reader accepts all smaller YAML.
const alwaysRead = 64 << 10

// Export writes a suite in callvet's own format, "yaml" or "json". YAML that the reader would
// refuse, because a mapping has too many keys, is written as JSON. Keys have a fixed order and
// empty values are left out, so that equal suites are written as equal bytes. Loading the result
// returns the same suite, except for positions. Comments of the file it was read from are not
// kept.
func Export(s *callvet.Suite, format string) ([]byte, error) {
	root, err := exportSuite(s)
	if err != nil {
		return nil, fmt.Errorf("export suite: %w", err)
	}
	switch format {
	case "yaml":
		b := doc.WriteYAML(root)
		if len(b) < alwaysRead {
			return b, nil
		}
		if _, bad := doc.Read("", b); bad == nil {
			return b, nil
		}
		return append(doc.WriteJSON(nil, root, 0), '\n'), nil // which is YAML, too
	case "json":
		return append(doc.WriteJSON(nil, root, 0), '\n'), nil
	}
	return nil, &callvet.Hinted{
		Err:  fmt.Errorf("export suite: %w: unknown format %q", callvet.ErrInvalid, format),
		Hint: "yaml or json",
	}
}

// special writes the structs that have forms of their own.
func special(b doc.Builder, f *doc.Shape, v reflect.Value) (doc.Node, bool) {
	c := b.Child()
	switch x := v.Interface().(type) {
	case callvet.Matcher:
		return matcherNode(b, &x), true
	case callvet.ToolParam:
		toolParam(c, &x)
	case callvet.MockState:
		if x.Calls == 0 && x.Then == "" {
			return doc.TextNode(x.Value), true
		}
		c.Put("value", doc.TextNode(x.Value))
		c.Keys(f, v, func(key string) bool { return key == "value" })
	case callvet.Plan:
		if c.Keys(f, v, nil); x.Calls == nil && f.Key("counts") == nil {
			c.Put("calls", doc.Node{Kind: doc.List})
		}
	case callvet.Mock:
		mock(c, f, v, &x)
	case callvet.Expect:
		expect(c, f, v, &x)
	default:
		return doc.Node{}, false
	}
	return *c.Node, true
}

func exportSuite(s *callvet.Suite) (*doc.Node, error) {
	b := doc.NewBuilder(special)
	b.Keys(forms()[""], reflect.ValueOf(s).Elem(), func(key string) bool {
		switch key {
		case "callvet":
			b.Put(key, doc.Node{Kind: doc.Number, Raw: []byte("1")})
		case "dialect":
			return s.Dialect == "callvet"
		case "gates":
			exportForeign(b, s)
		case "foreign": // was written with the gates
		case "cases":
			cases(b, s)
		default:
			return false
		}
		return true
	})
	return b.Node, *b.Err
}

func cases(b doc.Builder, s *callvet.Suite) {
	f, n := forms()["case"], doc.Node{Kind: doc.List}
	for i := range s.Cases {
		own := s.Cases[i]
		own.Expect.Scorers = nil
		for _, scorer := range s.Cases[i].Expect.Scorers {
			if !slices.ContainsFunc(s.Defaults.Scorers,
				func(d callvet.Scorer) bool { return reflect.DeepEqual(d, scorer) }) {
				own.Expect.Scorers = append(own.Expect.Scorers, scorer)
			}
		}
		c := b.Child()
		c.Keys(f, reflect.ValueOf(&own).Elem(), func(key string) bool { return caseKey(c, f, &own, key) })
		n.Items = append(n.Items, *c.Node)
	}
	b.Put("cases", n)
}

// caseKey writes the keys of a case that have no field of their form.
func caseKey(b doc.Builder, f *doc.Shape, c *callvet.Case, key string) bool {
	switch key {
	case "prompt":
		if one := len(c.Input) == 1; one &&
			reflect.DeepEqual(c.Input[0], callvet.Turn{Role: callvet.RoleUser, Content: c.Input[0].Content}) {
			b.Put(key, doc.TextNode(c.Input[0].Content))
		} else if len(c.Input) > 0 {
			b.Put("messages", b.Value(forms()["message"].List(), reflect.ValueOf(c.Input)))
		}
	case "messages", "input": // was written as prompt
	case "tools":
		if c.Tools != nil {
			return false
		}
		if c.ToolNames != nil {
			b.Put(key, b.Value(&doc.Shape{}, reflect.ValueOf(c.ToolNames)))
		}
	case "multi_turn":
		if c.MultiTurn != nil && len(b.Value(f.Key(key).Shape, reflect.ValueOf(*c.MultiTurn)).Items) == 0 {
			b.True(key)
			return true
		}
		return false
	default:
		return false
	}
	return true
}

// exportForeign writes the opaque part; gates have their own key.
func exportForeign(b doc.Builder, s *callvet.Suite) {
	if s.Foreign == nil {
		return
	}
	var parts struct {
		Gates   json.RawMessage `json:"gates"`
		Foreign json.RawMessage `json:"foreign"`
	}
	if s.Dialect == "callvet" && json.Unmarshal(s.Foreign, &parts) == nil && parts.Gates != nil {
		b.JSON("gates", parts.Gates)
		b.JSON("foreign", parts.Foreign)
		return
	}
	b.JSON("foreign", s.Foreign)
}

func mock(b doc.Builder, f *doc.Shape, v reflect.Value, m *callvet.Mock) {
	b.Keys(f, v, func(key string) bool {
		if key != "replies" || len(m.Replies) != 1 {
			return false
		}
		before := len(b.Node.Items)
		b.Keys(forms()["reply"], reflect.ValueOf(&m.Replies[0]).Elem(), nil)
		return len(b.Node.Items) > before
	})
}

func expect(b doc.Builder, f *doc.Shape, v reflect.Value, e *callvet.Expect) {
	b.Keys(f, v, func(key string) bool {
		plan := forms()["plan"]
		switch none := reflect.DeepEqual(e.Plans, []callvet.Plan{{Calls: []callvet.ExpectedCall{}}}); {
		case key == "order" && len(e.Plans) == 1 && e.Plans[0].Name == "" && len(e.Plans[0].Calls) > 0:
			b.Keys(plan, reflect.ValueOf(&e.Plans[0]).Elem(), nil)
		case key == "order" && none:
			b.True("no_call")
		case key == "order" && len(e.Plans) > 0:
			b.Put("any_of", b.Value(plan.List(), reflect.ValueOf(e.Plans)))
		}
		return false
	})
}

func toolParam(c doc.Builder, p *callvet.ToolParam) {
	c.Str("tool", p.Tool)
	c.Str("path", p.Path)
	m := matcherNode(c, &p.Matcher)
	if m.Kind != doc.Map {
		c.Put("value", m)
		return
	}
	c.Node.Names, c.Node.Items = append(c.Node.Names, m.Names...), append(c.Node.Items, m.Items...)
}

// matcher writes the shortest form that reads back as m.
func matcherNode(b doc.Builder, m *callvet.Matcher) doc.Node {
	c := b.Child()
	word := m.Mode
	if word == "numeric_tolerance" {
		word = "numeric"
	}
	switch {
	case m.Mode == "":
		c.JSON("value", m.Value)
		if reflect.DeepEqual(*m, callvet.Matcher{Value: m.Value}) && m.Value != nil &&
			!bytes.HasPrefix(bytes.TrimSpace(m.Value), []byte("{")) && len(c.Node.Items) == 1 {
			return c.Node.Items[0]
		}
	case (word == "present" || word == "absent") && m.Value == nil:
		c.True(word)
	case isWord(word) && m.Value != nil && word != "present" && word != "absent" &&
		(word != "unordered" || !m.Unordered && isList(m.Value)):
		c.JSON(word, m.Value)
	default:
		c.Str("mode", m.Mode)
		c.JSON("value", m.Value)
	}
	c.Keys(forms()["matcherForm"], reflect.ValueOf(m).Elem(),
		func(key string) bool { return key == "mode" || key == "value" })
	return *c.Node
}

func isList(raw []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")) }
