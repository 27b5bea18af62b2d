// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/contract"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/value"
)

// Bounds of a list of tools.
const (
	MaxTools = 10_000
	maxPages = 1_000
	// maxLists is how often a list is read again because the server reports a change.
	maxLists = 5
	maxName  = 512
)

// Tool is a tool of a server.
type Tool struct {
	callvet.Tool
	Title string `json:"title,omitempty"`
	// Output is the JSON Schema of structured results; nil if none.
	Output json.RawMessage `json:"output,omitempty"`
	// Destructive is the server's hint about a tool that writes; nil if it gives none.
	Destructive *bool `json:"destructive,omitempty"`
	// Raw is the whole definition, byte for byte.
	Raw json.RawMessage `json:"-"`
}

// Listing is the tools of a server, in its order, each name once.
type Listing struct {
	Tools []Tool
	// Pages is how many answers the list had.
	Pages int
	// Problems are the malformed definitions. They do not prevent reading the others.
	Problems []callvet.Problem
}

// Find returns the tool of that exact name, or nil.
func (l *Listing) Find(name string) *Tool {
	for i := range l.Tools {
		if l.Tools[i].Name == name {
			return &l.Tools[i]
		}
	}
	return nil
}

// List reads all tools of the server, page by page. It starts again if the server reports a change
// meanwhile. The error is a *callvet.Fault; malformed definitions are not errors.
func (s *Session) List(ctx context.Context) (*Listing, error) {
	for range maxLists {
		before := s.changed.Load()
		l, err := s.list(ctx)
		if err != nil {
			return nil, err
		}
		if s.changed.Load() == before {
			return l, nil
		}
	}
	return nil, &callvet.Fault{
		Kind:    callvet.FaultMalformed,
		Message: fmt.Sprintf("list tools: the tools of MCP server %s change while they are read", s.server.Where),
	}
}

func (s *Session) list(ctx context.Context) (*Listing, error) {
	out := &Listing{}
	if !s.server.Tools {
		out.problem("no-tools", "", "the server says that it has no tools")
		return out, nil
	}
	seen := map[string]bool{}
	for cursor, first := "", true; first || cursor != ""; first = false {
		page, err := s.page(ctx, cursor)
		if err != nil {
			return nil, err
		}
		out.Pages++
		if !out.read(page) {
			break
		}
		next := page.next()
		if next != "" && (seen[next] || out.Pages >= maxPages) {
			out.problem("endless-list", "",
				"the server gives the same page again and again, or more than %d pages: what came until then is kept",
				maxPages)
			break
		}
		seen[next], cursor = true, next
	}
	return out, nil
}

// page is one answer to tools/list.
type page struct {
	Tools json.RawMessage `json:"tools"`
	Next  json.RawMessage `json:"nextCursor"`
}

func (p *page) next() string {
	var s string
	_ = json.Unmarshal(p.Next, &s)
	return s
}

func (s *Session) page(ctx context.Context, cursor string) (*page, error) {
	limited, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	slotted, sl := withSlot(limited)
	if _, err := s.session.ListTools(slotted, &sdk.ListToolsParams{Cursor: cursor}); err != nil {
		return nil, s.fault(limited, "list tools", err)
	}
	raw := sl.take()
	var p page
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, &callvet.Fault{
			Kind:    callvet.FaultMalformed,
			Message: fmt.Sprintf("list tools: the answer of MCP server %s is no list: %v", s.server.Where, err),
		}
	}
	return &p, nil
}

func (l *Listing) problem(code, key, format string, args ...any) {
	l.Problems = append(l.Problems,
		callvet.Problem{Code: code, Key: key, Warning: true, Message: fmt.Sprintf(format, args...)})
}

// read adds the tools of a page; false: the limit is reached.
func (l *Listing) read(p *page) bool {
	var all []json.RawMessage
	if err := json.Unmarshal(p.Tools, &all); err != nil {
		l.problem("odd-list", "", "a page of the list has no tools: %s", clip(p.Tools))
		return true
	}
	for i, raw := range all {
		if len(l.Tools) >= MaxTools {
			l.problem("too-many-tools", "", "the server has more than %d tools: the rest was not read", MaxTools)
			return false
		}
		if t, ok := l.tool(fmt.Sprintf("page %d, tool %d", l.Pages, i+1), raw); ok {
			l.Tools = append(l.Tools, t)
		}
	}
	return true
}

// tool reads one definition. It reports invalid parts and keeps the rest.
func (l *Listing) tool(at string, raw json.RawMessage) (t Tool, ok bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil || members == nil {
		l.problem("odd-tool", at, "%s is no object: %s", at, clip(raw))
		return t, false
	}
	t.Raw = raw
	if json.Unmarshal(members["name"], &t.Name) != nil || strings.TrimSpace(t.Name) == "" {
		l.problem("no-name", at, "%s has no name: %s", at, clip(raw))
		return t, false
	}
	switch {
	case len(t.Name) > maxName:
		l.problem("odd-name", clip([]byte(t.Name)), "%s has a name of %d bytes and was left out", at, len(t.Name))
		return t, false
	case l.Find(t.Name) != nil:
		l.problem("twice", t.Name, "%s is there twice: the first one is kept", t.Name)
		return t, false
	}
	l.text(&t, "description", members, &t.Description)
	l.text(&t, "title", members, &t.Title)
	l.schema(&t, members["inputSchema"])
	l.output(&t, members["outputSchema"])
	l.annotations(&t, members["annotations"])
	return t, true
}

func (l *Listing) text(t *Tool, key string, members map[string]json.RawMessage, into *string) {
	if raw, given := members[key]; given && !null(raw) && json.Unmarshal(raw, into) != nil {
		l.problem("odd-"+key, t.Name, "the %s of %s is no text: %s", key, t.Name, clip(raw))
	}
}

// schema keeps the schema of the arguments unchanged. An invalid schema is kept apart, so that no
// model and no check uses it.
func (l *Listing) schema(t *Tool, raw json.RawMessage) {
	if len(raw) == 0 || null(raw) {
		l.problem("no-schema", t.Name, "%s has no schema of its arguments", t.Name)
		return
	}
	if why := schemaError(raw); why != nil {
		t.Declared = validJSON(raw)
		l.problem("odd-schema", t.Name,
			"the arguments of %s have a schema that means nothing, so that none is checked; it is kept under declared: %v", t.Name, why)
		return
	}
	t.Parameters = bytes.Clone(raw)
	for _, why := range contract.Dropped(raw) {
		l.problem("schema-form", t.Name, "some clients and providers leave %s out: the schema of its arguments %s",
			t.Name, why)
	}
}

func (l *Listing) output(t *Tool, raw json.RawMessage) {
	if len(raw) == 0 || null(raw) {
		return
	}
	if why := schemaError(raw); why != nil {
		l.problem("odd-output-schema", t.Name,
			"the results of %s have a schema that means nothing and is not checked: %v", t.Name, why)
		return
	}
	t.Output = bytes.Clone(raw)
	for _, why := range contract.Dropped(raw) {
		l.problem("schema-form", t.Name, "some clients leave %s out: the schema of its results %s", t.Name, why)
	}
}

// schemaError is the reason why a text is not a schema of an object; nil if it is one.
func schemaError(raw json.RawMessage) error {
	v, err := value.Parse(raw)
	if err != nil {
		return err
	}
	if v.Kind() != value.Object {
		return errors.New("it is no object")
	}
	_, err = contract.Compile(raw)
	return err
}

// validJSON is valid JSON: an invalid text becomes a string.
func validJSON(raw json.RawMessage) json.RawMessage {
	if _, err := value.Parse(raw); err == nil {
		return bytes.Clone(raw)
	}
	b, _ := json.Marshal(string(raw))
	return b
}

// annotations reads the server's hints about a tool; absent hints stay unknown. The protocol's
// defaults are not used: they are not the server's statement.
func (l *Listing) annotations(t *Tool, raw json.RawMessage) {
	if len(raw) == 0 || null(raw) {
		return
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		l.problem("odd-annotations", t.Name, "the annotations of %s are no object: %s", t.Name, clip(raw))
		return
	}
	for _, h := range []struct {
		key  string
		into **bool
	}{{"readOnlyHint", &t.ReadOnly}, {"idempotentHint", &t.Idempotent}, {"destructiveHint", &t.Destructive}} {
		hint, given := members[h.key]
		if !given || null(hint) {
			continue
		}
		var yes bool
		if json.Unmarshal(hint, &yes) != nil {
			l.problem("odd-annotations", t.Name, "%s of %s is neither true nor false: %s", h.key, t.Name, clip(hint))
			continue
		}
		*h.into = &yes
	}
	if t.ReadOnly != nil && *t.ReadOnly && t.Destructive != nil && *t.Destructive {
		t.ReadOnly = nil
		l.problem("contradiction", t.Name, "%s is said to be read-only and destructive: neither is believed", t.Name)
	}
}

func null(raw json.RawMessage) bool { return string(bytes.TrimSpace(raw)) == "null" }

// clip is the beginning of a server's text, as valid UTF-8.
func clip(b []byte) string {
	const most = 120
	s := string(b)
	if !utf8.ValidString(s) {
		s = fmt.Sprintf("%q", s)
	}
	return redact.CutText(s, most)
}
