// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package native

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
)

// alwaysRead is a size in bytes below which no YAML is too much for the reader.
const alwaysRead = 64 << 10

// Export writes a suite in callvet's own format, "yaml" or "json". YAML that the reader would
// refuse, because a mapping has too many keys, is written as JSON. Keys come in a fixed order and
// what is empty is left out, so that equal suites give equal bytes; loading the result gives the
// same suite, positions apart. Comments of the file it was read from are not kept.
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

// builder makes the tree of a suite. What is empty is left out.
type builder struct {
	n   *doc.Node
	err *error
}

func (b builder) put(key string, v doc.Node) {
	b.n.Names = append(b.n.Names, doc.Entry{Name: key})
	b.n.Items = append(b.n.Items, v)
}

func (b builder) child() builder { return builder{&doc.Node{Kind: doc.Map}, b.err} }

func (b builder) str(key, s string) {
	if s != "" {
		b.put(key, textNode(s))
	}
}

func (b builder) yes(key string) { b.put(key, doc.Node{Kind: doc.Bool, Raw: []byte("true")}) }

func (b builder) json(key string, raw json.RawMessage) {
	if raw == nil {
		return
	}
	d, bad := doc.ReadJSON("", raw)
	if bad != nil {
		*b.err = fmt.Errorf("%s holds %s: %w", key, doc.Clip(string(raw), 40), bad)
		return
	}
	b.put(key, d.Root)
}

func textNode(s string) doc.Node { return doc.Node{Kind: doc.String, Raw: doc.Quote(nil, s)} }

// noun writes the keys of a struct in the order of the schema. own may be nil; it writes keys in
// another way, or not at all, and returns whether it did.
func (b builder) noun(f *form, v reflect.Value, own func(key string) bool) builder {
	for i := range f.keys {
		k := &f.keys[i]
		switch {
		case own != nil && own(k.name):
		case k.flat:
			if c := b.child().noun(k.form, v, nil); len(c.n.Items) > 0 {
				b.put(k.name, *c.n)
			}
		case k.written:
			if field := v.FieldByIndex(k.field); !empty(field, k.tag) {
				b.field(k, field)
			}
		}
	}
	return b
}

// empty values are left out. Numbers that a noun always has are not, nor lists that have a meaning
// when they are empty.
func empty(v reflect.Value, tag string) bool {
	switch v.Kind() {
	case reflect.Map:
		return v.Len() == 0
	case reflect.Slice:
		return v.IsNil() || v.Len() == 0 && tag == "omitempty" && v.Type().Elem().Kind() == reflect.Struct
	case reflect.Float64:
		return v.IsZero() && tag != ""
	}
	return v.IsZero()
}

func (b builder) field(k *formKey, v reflect.Value) {
	inline := v.Kind() == reflect.Struct
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if raw, ok := v.Interface().(json.RawMessage); ok {
		b.json(k.name, raw)
		return
	}
	if names, ok := v.Interface().([]string); ok && k.name == "tool" && len(names) == 1 {
		b.put(k.name, textNode(names[0]))
		return
	}
	if n := b.node(k.form, v); !inline || len(n.Items) > 0 {
		b.put(k.name, n)
	}
}

// node is a value that is no pointer.
func (b builder) node(f *form, v reflect.Value) doc.Node {
	switch v.Kind() {
	case reflect.String:
		return textNode(v.String())
	case reflect.Slice:
		n := doc.Node{Kind: doc.List}
		for i := range v.Len() {
			n.Items = append(n.Items, b.node(f.elem, v.Index(i)))
		}
		return n
	case reflect.Map:
		c := b.child()
		names := v.MapKeys()
		slices.SortFunc(names, func(x, y reflect.Value) int { return strings.Compare(x.String(), y.String()) })
		for _, name := range names {
			c.put(name.String(), b.node(f.elem, v.MapIndex(name)))
		}
		return *c.n
	case reflect.Struct:
		return b.special(f, v)
	}
	raw, err := json.Marshal(v.Interface())
	if err != nil {
		*b.err = err
	}
	if v.Kind() == reflect.Bool {
		return doc.Node{Kind: doc.Bool, Raw: raw}
	}
	return doc.Node{Kind: doc.Number, Raw: raw}
}

// special writes a struct; those that have forms of their own in another way.
func (b builder) special(f *form, v reflect.Value) doc.Node {
	c := b.child()
	switch x := v.Interface().(type) {
	case callvet.Matcher:
		return b.matcher(&x)
	case callvet.ToolParam:
		b.toolParam(c, &x)
	case callvet.MockState:
		if x.Calls == 0 && x.Then == "" {
			return textNode(x.Value)
		}
		c.put("value", textNode(x.Value))
		c.noun(f, v, func(key string) bool { return key == "value" })
	case callvet.Plan:
		if c.noun(f, v, nil); x.Calls == nil && f.key("counts") == nil {
			c.put("calls", doc.Node{Kind: doc.List})
		}
	case callvet.Mock:
		c.mock(f, v, &x)
	case callvet.Expect:
		c.expect(f, v, &x)
	default:
		c.noun(f, v, nil)
	}
	return *c.n
}

func exportSuite(s *callvet.Suite) (*doc.Node, error) {
	var err error
	b := builder{&doc.Node{Kind: doc.Map}, &err}
	b.noun(forms()["suite"], reflect.ValueOf(s).Elem(), func(key string) bool {
		switch key {
		case "callvet":
			b.put(key, doc.Node{Kind: doc.Number, Raw: []byte("1")})
		case "dialect":
			return s.Dialect == "callvet"
		case "gates":
			exportForeign(b, s)
		case "foreign": // was written with the gates
		case "cases":
			b.cases(s)
		default:
			return false
		}
		return true
	})
	return b.n, err
}

func (b builder) cases(s *callvet.Suite) {
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
		c := b.child()
		c.noun(f, reflect.ValueOf(&own).Elem(), func(key string) bool { return c.caseKey(f, &own, key) })
		n.Items = append(n.Items, *c.n)
	}
	b.put("cases", n)
}

// caseKey writes the keys of a case that have no field of their form.
func (b builder) caseKey(f *form, c *callvet.Case, key string) bool {
	switch key {
	case "prompt":
		if one := len(c.Input) == 1; one &&
			reflect.DeepEqual(c.Input[0], callvet.Turn{Role: callvet.RoleUser, Content: c.Input[0].Content}) {
			b.put(key, textNode(c.Input[0].Content))
		} else if len(c.Input) > 0 {
			b.put("messages", b.node(&form{elem: forms()["message"]}, reflect.ValueOf(c.Input)))
		}
	case "messages", "input": // was written as prompt
	case "tools":
		if c.Tools != nil {
			return false
		}
		if c.ToolNames != nil {
			b.put(key, b.node(&form{}, reflect.ValueOf(c.ToolNames)))
		}
	case "multi_turn":
		if c.MultiTurn != nil && len(b.node(f.key(key).form, reflect.ValueOf(*c.MultiTurn)).Items) == 0 {
			b.yes(key)
			return true
		}
		return false
	default:
		return false
	}
	return true
}

// exportForeign writes the opaque part; gates stand under their own key.
func exportForeign(b builder, s *callvet.Suite) {
	if s.Foreign == nil {
		return
	}
	var parts struct {
		Gates   json.RawMessage `json:"gates"`
		Foreign json.RawMessage `json:"foreign"`
	}
	if s.Dialect == "callvet" && json.Unmarshal(s.Foreign, &parts) == nil && parts.Gates != nil {
		b.json("gates", parts.Gates)
		b.json("foreign", parts.Foreign)
		return
	}
	b.json("foreign", s.Foreign)
}

func (b builder) mock(f *form, v reflect.Value, m *callvet.Mock) {
	b.noun(f, v, func(key string) bool {
		if key != "replies" || len(m.Replies) != 1 {
			return false
		}
		before := len(b.n.Items)
		b.noun(forms()["reply"], reflect.ValueOf(&m.Replies[0]).Elem(), nil)
		return len(b.n.Items) > before
	})
}

func (b builder) expect(f *form, v reflect.Value, e *callvet.Expect) {
	b.noun(f, v, func(key string) bool {
		plan := forms()["plan"]
		switch none := reflect.DeepEqual(e.Plans, []callvet.Plan{{Calls: []callvet.ExpectedCall{}}}); {
		case key == "order" && len(e.Plans) == 1 && e.Plans[0].Name == "" && len(e.Plans[0].Calls) > 0:
			b.noun(plan, reflect.ValueOf(&e.Plans[0]).Elem(), nil)
		case key == "order" && none:
			b.yes("no_call")
		case key == "order" && len(e.Plans) > 0:
			b.put("any_of", b.node(&form{elem: plan}, reflect.ValueOf(e.Plans)))
		}
		return false
	})
}

func (b builder) toolParam(c builder, p *callvet.ToolParam) {
	c.str("tool", p.Tool)
	c.str("path", p.Path)
	m := b.matcher(&p.Matcher)
	if m.Kind != doc.Map {
		c.put("value", m)
		return
	}
	c.n.Names, c.n.Items = append(c.n.Names, m.Names...), append(c.n.Items, m.Items...)
}

// matcher writes the shortest form that reads back as m.
func (b builder) matcher(m *callvet.Matcher) doc.Node {
	c := b.child()
	word := m.Mode
	if word == "numeric_tolerance" {
		word = "numeric"
	}
	switch {
	case m.Mode == "":
		c.json("value", m.Value)
		if reflect.DeepEqual(*m, callvet.Matcher{Value: m.Value}) && m.Value != nil &&
			!bytes.HasPrefix(bytes.TrimSpace(m.Value), []byte("{")) && len(c.n.Items) == 1 {
			return c.n.Items[0]
		}
	case (word == "present" || word == "absent") && m.Value == nil:
		c.yes(word)
	case isWord(word) && m.Value != nil && word != "present" && word != "absent" &&
		(word != "unordered" || !m.Unordered && isList(m.Value)):
		c.json(word, m.Value)
	default:
		c.str("mode", m.Mode)
		c.json("value", m.Value)
	}
	c.noun(forms()["matcherForm"], reflect.ValueOf(m).Elem(),
		func(key string) bool { return key == "mode" || key == "value" })
	return *c.n
}

func isList(raw []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")) }
