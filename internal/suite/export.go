// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
)

// Export writes a suite in callvet's own format, "yaml" or "json". Keys come in
// a fixed order and what is empty is left out, so that equal suites give equal
// bytes; loading the result gives the same suite, positions apart. Comments of
// the file it was read from are not kept.
func Export(s *callvet.Suite, format string) ([]byte, error) {
	root, err := exportSuite(s)
	if err != nil {
		return nil, fmt.Errorf("export suite: %w", err)
	}
	switch format {
	case "yaml":
		return writeYAML(root), nil
	case "json":
		return append(writeJSON(nil, root, 0), '\n'), nil
	}
	return nil, &callvet.Hinted{Err: fmt.Errorf("export suite: %w: unknown format %q", callvet.ErrInvalid, format), Hint: "yaml or json"}
}

// builder makes the tree of a suite; its set methods leave out zero values.
type builder struct {
	n   *node
	err *error
}

func (b builder) put(key string, v node) {
	b.n.names = append(b.n.names, entry{name: key})
	b.n.items = append(b.n.items, v)
}

func (b builder) child() builder { return builder{&node{kind: kindMap}, b.err} }

func (b builder) obj(key string, c builder) {
	if len(c.n.items) > 0 {
		b.put(key, *c.n)
	}
}

func textNode(s string) node { return node{kind: kindString, raw: quote(nil, s)} }

func (b builder) str(key, s string) {
	if s != "" {
		b.put(key, textNode(s))
	}
}

func (b builder) yes(key string, v bool) {
	if v {
		b.put(key, node{kind: kindBool, raw: []byte("true")})
	}
}

func (b builder) yesNo(key string, v *bool) {
	if v != nil {
		b.put(key, node{kind: kindBool, raw: strconv.AppendBool(nil, *v)})
	}
}

func intNode(i int) node { return node{kind: kindNumber, raw: strconv.AppendInt(nil, int64(i), 10)} }

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
	b.put(key, node{kind: kindNumber, raw: raw})
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

func textList(v []string) node {
	n := node{kind: kindList}
	for _, s := range v {
		n.items = append(n.items, textNode(s))
	}
	return n
}

func (b builder) groups(key string, v [][]string) {
	if v == nil {
		return
	}
	n := node{kind: kindList}
	for _, g := range v {
		n.items = append(n.items, textList(g))
	}
	b.put(key, n)
}

func (b builder) labels(key string, m map[string]string) {
	c := b.child()
	for _, k := range sortedKeys(m) {
		c.put(k, textNode(m[k]))
	}
	b.obj(key, c)
}

func (b builder) json(key string, raw json.RawMessage) {
	if raw == nil {
		return
	}
	d, bad := parseJSON("", raw)
	if bad != nil {
		*b.err = fmt.Errorf("%s holds %s: %w", key, clip(string(raw), 40), bad)
		return
	}
	b.put(key, d.root)
}

// children writes a list of mappings; an empty list is left out.
func children[T any](b builder, key string, list []T, each func(builder, *T)) {
	if len(list) == 0 {
		return
	}
	n := node{kind: kindList}
	for i := range list {
		c := b.child()
		each(c, &list[i])
		n.items = append(n.items, *c.n)
	}
	b.put(key, n)
}

func exportSuite(s *callvet.Suite) (*node, error) {
	var err error
	b := builder{&node{kind: kindMap}, &err}
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
	b.obj("defaults", d)
	children(b, "tools", s.Tools, exportTool)
	children(b, "mocks", s.Mocks, exportMock)
	exportForeign(b, s)
	children(b, "cases", s.Cases, exportCase)
	if len(s.Cases) == 0 {
		b.put("cases", node{kind: kindList})
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
	if s := t.Safety; s != nil {
		c := b.child()
		c.yes("pii_allowed", s.PIIAllowed)
		c.list("domains", s.Domains)
		c.yes("require_confirmation", s.RequireConfirmation)
		b.put("safety", *c.n)
	}
	b.list("tags", t.Tags)
}

func exportMock(b builder, m *callvet.Mock) {
	b.str("tool", m.Tool)
	b.json("args", m.Args)
	if len(m.Replies) == 1 {
		before := len(b.n.items)
		exportReply(b, &m.Replies[0])
		if len(b.n.items) > before {
			return
		}
	}
	n := node{kind: kindList}
	for i := range m.Replies {
		c := b.child()
		exportReply(c, &m.Replies[i])
		n.items = append(n.items, *c.n)
	}
	b.put("replies", n)
}

func exportReply(b builder, m *callvet.MockReply) {
	b.json("result", m.Result)
	b.str("error", m.Error)
	b.str("status", string(m.Status))
	b.floatValue("latency_ms", m.LatencyMS)
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
	c.yes("require_native", s.RequireNative)
	c.yes("case_sensitive_names", s.CaseSensitiveNames)
	return c
}

// writeJSON writes a tree indented by two spaces, short lists on one line.
func writeJSON(b []byte, n *node, depth int) []byte {
	if n.kind != kindList && n.kind != kindMap || len(n.items) == 0 || (depth > 0 && short(n)) {
		return n.appendJSON(b)
	}
	open, end := byte('['), byte(']')
	if n.kind == kindMap {
		open, end = '{', '}'
	}
	b = append(b, open)
	for i := range n.items {
		if i > 0 {
			b = append(b, ',')
		}
		b = newline(b, depth+1)
		if n.kind == kindMap {
			b = append(quote(b, n.names[i].name), ": "...)
		}
		b = writeJSON(b, &n.items[i], depth+1)
	}
	return append(newline(b, depth), end)
}

func newline(b []byte, depth int) []byte {
	return append(b, "\n"+strings.Repeat("  ", depth)...)
}

// short lists hold only scalars and fit on a line.
func short(n *node) bool {
	if n.kind != kindList {
		return false
	}
	size := 0
	for i := range n.items {
		v := &n.items[i]
		if (v.kind == kindList || v.kind == kindMap) && !short(v) {
			return false
		}
		size += len(v.appendJSON(nil)) + 2
		if size > 90 || (v.kind == kindString && strings.Contains(string(v.raw), `\n`)) {
			return false
		}
	}
	return true
}
