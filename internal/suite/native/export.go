// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package native

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

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

// builder makes the tree of a suite; its set methods leave out zero values.
type builder struct {
	n   *doc.Node
	err *error
}

func (b builder) put(key string, v doc.Node) {
	b.n.Names = append(b.n.Names, doc.Entry{Name: key})
	b.n.Items = append(b.n.Items, v)
}

func (b builder) child() builder { return builder{&doc.Node{Kind: doc.Map}, b.err} }

func (b builder) obj(key string, c builder) {
	if len(c.n.Items) > 0 {
		b.put(key, *c.n)
	}
}

func textNode(s string) doc.Node {
	return doc.Node{Kind: doc.String, Raw: doc.Quote(nil, s)}
}

func (b builder) str(key, s string) {
	if s != "" {
		b.put(key, textNode(s))
	}
}

func (b builder) yes(key string, v bool) {
	if v {
		b.put(key, doc.Node{Kind: doc.Bool, Raw: []byte("true")})
	}
}

func (b builder) yesNo(key string, v *bool) {
	if v != nil {
		b.put(key, doc.Node{Kind: doc.Bool, Raw: strconv.AppendBool(nil, *v)})
	}
}

func intNode(i int) doc.Node {
	return doc.Node{Kind: doc.Number, Raw: strconv.AppendInt(nil, int64(i), 10)}
}

func (b builder) num(key string, v int) {
	if v != 0 {
		b.put(key, intNode(v))
	}
}

func (b builder) numPtr(key string, v *int) {
	if v != nil {
		b.put(key, intNode(*v))
	}
}

func (b builder) float(key string, v *float64) {
	if v == nil {
		return
	}
	raw, err := json.Marshal(*v)
	if err != nil {
		*b.err = fmt.Errorf("%s: %w", key, err)
		return
	}
	b.put(key, doc.Node{Kind: doc.Number, Raw: raw})
}

func (b builder) floatValue(key string, v float64) {
	if v != 0 {
		b.float(key, &v)
	}
}

// list writes texts; nil is left out, an empty list is written.
func (b builder) list(key string, v []string) {
	if v != nil {
		b.put(key, textList(v))
	}
}

func textList(v []string) doc.Node {
	n := doc.Node{Kind: doc.List}
	for _, s := range v {
		n.Items = append(n.Items, textNode(s))
	}
	return n
}

func (b builder) groups(key string, v [][]string) {
	if v == nil {
		return
	}
	n := doc.Node{Kind: doc.List}
	for _, g := range v {
		n.Items = append(n.Items, textList(g))
	}
	b.put(key, n)
}

func (b builder) labels(key string, m map[string]string) {
	c := b.child()
	for _, k := range slices.Sorted(maps.Keys(m)) {
		c.put(k, textNode(m[k]))
	}
	b.obj(key, c)
}

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

// children writes a list of mappings; an empty list is left out.
func children[T any](b builder, key string, list []T, each func(builder, *T)) {
	if len(list) == 0 {
		return
	}
	n := doc.Node{Kind: doc.List}
	for i := range list {
		c := b.child()
		each(c, &list[i])
		n.Items = append(n.Items, *c.n)
	}
	b.put(key, n)
}

func exportSuite(s *callvet.Suite) (*doc.Node, error) {
	var err error
	b := builder{&doc.Node{Kind: doc.Map}, &err}
	b.put("callvet", intNode(1))
	b.str("name", s.Name)
	b.str("version", s.Version)
	b.str("description", s.Description)
	if s.Dialect != "callvet" {
		b.str("dialect", s.Dialect)
	}
	b.str("system_prompt", s.SystemPrompt)
	d := b.child()
	d.str("tool_choice", s.Defaults.ToolChoice)
	d.num("max_rounds", s.Defaults.MaxRounds)
	if s.Defaults.Scoring != (callvet.Scoring{}) {
		d.obj("scoring", exportScoring(d, &s.Defaults.Scoring))
	}
	children(d, "scorers", s.Defaults.Scorers, exportScorer)
	b.obj("defaults", d)
	children(b, "tools", s.Tools, exportTool)
	children(b, "mocks", s.Mocks, exportMock)
	children(b, "faults", s.Faults, exportFault)
	exportForeign(b, s)
	children(b, "cases", s.Cases, func(b builder, c *callvet.Case) {
		own := *c
		own.Expect.Scorers = nil
		for i := range c.Expect.Scorers {
			if !slices.ContainsFunc(s.Defaults.Scorers,
				func(d callvet.Scorer) bool { return reflect.DeepEqual(d, c.Expect.Scorers[i]) }) {
				own.Expect.Scorers = append(own.Expect.Scorers, c.Expect.Scorers[i])
			}
		}
		exportCase(b, &own)
	})
	if len(s.Cases) == 0 {
		b.put("cases", doc.Node{Kind: doc.List})
	}
	return b.n, err
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

func exportTool(b builder, t *callvet.Tool) {
	b.str("name", t.Name)
	b.str("version", t.Version)
	b.str("description", t.Description)
	b.json("parameters", t.Parameters)
	b.json("declared", t.Declared)
	b.yesNo("read_only", t.ReadOnly)
	b.yesNo("idempotent", t.Idempotent)
	if l := t.RateLimit; l != nil {
		c := b.child()
		c.num("calls", l.Calls)
		c.floatValue("per_seconds", l.PerSeconds)
		b.put("rate_limit", *c.n)
	}
	b.float("latency_budget_ms", t.LatencyBudgetMS)
	b.float("latency_p50_ms", t.LatencyP50MS)
	if s := t.Safety; s != nil {
		c := b.child()
		c.yes("pii_allowed", s.PIIAllowed)
		c.list("domains", s.Domains)
		c.yes("require_confirmation", s.RequireConfirmation)
		c.list("code", s.Code)
		c.yes("sandboxed", s.Sandboxed)
		b.put("safety", *c.n)
	}
	b.str("family", t.Family)
	b.list("tags", t.Tags)
}

func exportMock(b builder, m *callvet.Mock) {
	b.str("tool", m.Tool)
	b.json("args", m.Args)
	b.labels("when", m.When)
	if len(m.Replies) == 1 {
		before := len(b.n.Items)
		exportReply(b, &m.Replies[0])
		if len(b.n.Items) > before {
			return
		}
	}
	n := doc.Node{Kind: doc.List}
	for i := range m.Replies {
		c := b.child()
		exportReply(c, &m.Replies[i])
		n.Items = append(n.Items, *c.n)
	}
	b.put("replies", n)
}

func exportReply(b builder, m *callvet.MockReply) {
	b.json("result", m.Result)
	b.json("template", m.Template)
	b.str("error", m.Error)
	b.str("status", string(m.Status))
	b.floatValue("latency_ms", m.LatencyMS)
	exportChanges(b, m.Set)
}

func exportChanges(b builder, set map[string]callvet.MockState) {
	c := b.child()
	for _, word := range slices.Sorted(maps.Keys(set)) {
		s := set[word]
		if s.Calls == 0 && s.Then == "" {
			c.put(word, textNode(s.Value))
			continue
		}
		to := c.child()
		to.put("value", textNode(s.Value))
		to.num("calls", s.Calls)
		to.str("then", s.Then)
		c.put(word, *to.n)
	}
	b.obj("set", c)
}

func exportScoring(b builder, s *callvet.Scoring) builder {
	c := b.child()
	c.str("profile", s.Profile)
	c.str("language", s.Language)
	c.str("mode", s.Mode)
	c.float("epsilon", s.Epsilon)
	c.float("relative", s.Relative)
	c.float("threshold", s.Threshold)
	c.str("tolerance", s.Tolerance)
	c.yes("unanchored", s.Unanchored)
	c.str("extra_args", string(s.ExtraArgs))
	c.numPtr("max_extra_calls", s.MaxExtraCalls)
	w := c.child()
	w.float("tool", s.ToolWeight)
	w.float("args", s.ArgsWeight)
	c.obj("weights", w)
	c.str("contract", s.Contract)
	c.str("failed_calls", s.FailedCalls)
	c.yes("require_native", s.RequireNative)
	c.yes("case_sensitive_names", s.CaseSensitiveNames)
	if t := s.ToolNames; t != nil {
		w := c.child()
		w.list("strip_prefixes", t.StripPrefixes)
		a := w.child()
		for _, from := range slices.Sorted(maps.Keys(t.Aliases)) {
			a.str(from, t.Aliases[from])
		}
		w.obj("aliases", a)
		c.obj("tool_names", w)
	}
	if o := s.Selection; o != nil {
		w := c.child()
		w.float("route", o.Route)
		w.float("sub_route", o.SubRoute)
		w.float("agents", o.Agents)
		w.float("exact", o.Exact)
		w.float("acceptable", o.Acceptable)
		w.float("tools", o.Tools)
		if o.K != nil {
			k := doc.Node{Kind: doc.List}
			for _, n := range o.K {
				k.Items = append(k.Items, intNode(n))
			}
			w.put("k", k)
		}
		c.obj("selection", w)
	}
	return c
}
