// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalogs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/catalog"
	"github.com/callvet/callvet/internal/mcp"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/suite"
	"github.com/callvet/callvet/retrieve/learn"
	"github.com/callvet/callvet/value"
)

// ImportMCPRequest asks for the tools of a server as a suite.
type ImportMCPRequest struct {
	app.MCPServer
	// Output is the suite that is written. If it exists, its tools are updated, and the rest stays
	// unchanged; "": the suite is only in the result.
	Output string `json:"output,omitempty"`
	// DraftCases adds a case for each tool that has none. It does not run until a person has
	// approved it.
	DraftCases bool `json:"draft_cases,omitempty"`
	// Prefix stands before the names of the server's tools in the suite, such as mcp__github__, as
	// some clients show them to models. Two servers with one tool name need it.
	Prefix string `json:"prefix,omitempty"`
}

// ImportMCPResult has the tools of a server, and problems and changes in them.
type ImportMCPResult struct {
	Format  string     `json:"format"`
	Version int        `json:"version"`
	Server  mcp.Server `json:"server"`
	// Tools is the number of tools that were read; ReadOnly and Writing count the server's hints,
	// Unhinted the tools without a hint.
	Tools    int `json:"tools"`
	ReadOnly int `json:"read_only"`
	Writing  int `json:"writing"`
	Unhinted int `json:"unsaid"`
	// Changes are the differences from the existing suite; empty if there was none.
	Changes []ToolChange `json:"changes"`
	// Drafts counts the cases that were added.
	Drafts int `json:"drafts"`
	// Problems are odd or similar names, and texts that give orders to models.
	Problems []callvet.Problem `json:"problems"`
	// Suite is the new suite, and Data its text.
	Suite *callvet.Suite `json:"-"`
	Data  []byte         `json:"-"`
}

// ToolChange is a tool that differs from the last import.
type ToolChange struct {
	Tool string `json:"tool"`
	// What is "new", "gone", "description", "schema" or "flags".
	What string `json:"what"`
	Text string `json:"text"`
}

// ImportMCP asks a server for its tools and writes them as a suite. It reports malformed
// definitions and reads the others. The error is a *callvet.Fault if the address is not a server,
// and wraps callvet.ErrInvalid if the existing file is not a suite of callvet's own form.
func ImportMCP(ctx context.Context, a *app.App, req ImportMCPRequest, events app.Events) (*ImportMCPResult, error) {
	cfg, err := a.Server(&req.MCPServer, events)
	if err != nil {
		return nil, err
	}
	old, err := readImported(a, req.Output)
	if err != nil {
		return nil, err
	}
	s, err := mcp.Connect(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("import tools: %w", err)
	}
	list, err := s.List(ctx)
	if err = errors.Join(err, s.Close()); err != nil {
		return nil, fmt.Errorf("import tools: %w", err)
	}
	out := &ImportMCPResult{
		Format: "callvet.mcp-import", Version: 1, Server: s.Server(), Tools: len(list.Tools),
		Problems: list.Problems, Changes: []ToolChange{},
	}
	for i := range list.Tools {
		switch t := &list.Tools[i]; {
		case t.ReadOnly == nil:
			out.Unhinted++
		case *t.ReadOnly:
			out.ReadOnly++
		default:
			out.Writing++
		}
	}
	prefixed(list, req.Prefix)
	if old != nil {
		out.shared(old.suite, list)
	}
	if err := out.look(ctx, list); err != nil {
		return nil, err
	}
	if err := out.write(old, list, &req, events); err != nil {
		return nil, err
	}
	if req.Output == "" || old != nil && bytes.Equal(out.Data, old.text) {
		return out, nil
	}
	return out, a.Config.Files.Write(ctx, req.Output, func(w io.Writer) error {
		_, err := w.Write(out.Data)
		return err
	})
}

// before is a suite that tools are imported into.
type before struct {
	name  string
	text  []byte
	suite *callvet.Suite
}

// readImported reads the existing suite; nil if there is none.
func readImported(a *app.App, name string) (*before, error) {
	if name == "" || a.Config.Files.Kind(name) == app.KindNone {
		return nil, nil
	}
	text, err := a.Read(name, suite.DefaultLimit)
	if err != nil {
		return nil, err
	}
	s, err := readOwn(name, text)
	if err != nil {
		return nil, &callvet.Hinted{
			Err:  fmt.Errorf("import tools into %s: %w", name, err),
			Hint: "name a file that is not there yet, or a suite that has its tools in itself",
		}
	}
	return &before{name, text, s}, nil
}

// readOwn reads a suite of callvet's own form without other files.
func readOwn(name string, text []byte) (*callvet.Suite, error) {
	s, problems, err := suite.Load("-", suite.Options{Stdin: bytes.NewReader(text), NoIncludes: true, KeepTokens: true})
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(problems, func(p callvet.Problem) bool { return !p.Warning }); i >= 0 {
		problems[i].File = name
		return nil, fmt.Errorf("%w: %w", callvet.ErrInvalid, problems[i])
	}
	if form := suite.Form(text, "-"); form != suite.OwnForm {
		return nil, fmt.Errorf("%w: it is a suite of the form %s, and only callvet's own is changed",
			callvet.ErrInvalid, form)
	}
	return s, nil
}

// prefixed puts the prefix before the names of all tools.
func prefixed(list *mcp.Listing, prefix string) {
	for i := range list.Tools {
		list.Tools[i].Name = prefix + list.Tools[i].Name
	}
}

// madeOf is the beginning of the description of an imported suite.
const madeOf = "Tools of the MCP server "

// shared notes the tools of another server that have the name of a tool of this one. The
// description of a suite names the server from which it was first made. A tool without any
// difference is the same tool.
func (r *ImportMCPResult) shared(s *callvet.Suite, list *mcp.Listing) {
	if who := nameOf(&r.Server); s.Name == who || strings.HasPrefix(s.Description+" ", madeOf+plain.Line(who)+" ") {
		return
	}
	for i := range list.Tools {
		t := &list.Tools[i].Tool
		at := slices.IndexFunc(s.Tools, func(o callvet.Tool) bool { return o.Name == t.Name })
		if at < 0 || s.Tools[at].Description == t.Description && bytes.Equal(s.Tools[at].Parameters, t.Parameters) {
			continue
		}
		r.Problems = append(r.Problems, callvet.Problem{
			Code: "shared-name", Key: t.Name, Warning: true,
			Message: fmt.Sprintf("%s has another definition in the suite %s: that of the server %s takes its place",
				t.Name, s.Name, nameOf(&r.Server)),
			Fix: fmt.Sprintf(
				"if they are tools of two servers, restore the file and import this one with --prefix mcp__%s__; "+
					"scoring.tool_names sets which names are one tool", serverWord(nameOf(&r.Server))),
		})
	}
}

// serverWord returns a server's name as it appears in the names of tools.
func serverWord(name string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' {
			return c
		}
		return '_'
	}, name)
}

// look reports suspicious texts and names of tools.
func (r *ImportMCPResult) look(ctx context.Context, list *mcp.Listing) error {
	tools := make([]callvet.Tool, len(list.Tools))
	for i := range list.Tools {
		tools[i] = list.Tools[i].Tool
	}
	alike, err := catalog.LookAlike(ctx, tools)
	if err != nil {
		return err
	}
	r.Problems = append(r.Problems, alike...)
	known := map[string][]string{} // by text: a schema repeats many
	planted := func(key, where, text string) {
		found, again := known[text]
		if !again {
			found = learn.Planted(text)
			known[text] = found
		}
		for _, what := range found {
			r.Problems = append(r.Problems, callvet.Problem{
				Code: "orders-model", Key: key, Warning: true,
				Message: fmt.Sprintf("%s is written for the model and not about the tool: %s", where, what),
				Fix:     "read it before a model does",
			})
		}
	}
	planted("instructions", "the instructions of the server", r.Server.Instructions)
	for i := range list.Tools {
		if err := ctx.Err(); err != nil {
			return err
		}
		t := &list.Tools[i]
		planted(t.Name, "the name of a tool", t.Name)
		planted(t.Name, "the title of "+t.Name, t.Title)
		planted(t.Name, "the description of "+t.Name, t.Description)
		for _, schema := range [][]byte{t.Parameters, t.Declared, t.Output} {
			if v, err := value.Parse(schema); err == nil {
				eachText(v, "", func(path, text string) { planted(t.Name, path+" in a schema of "+t.Name, text) })
			}
		}
	}
	return nil
}

// eachText goes through all texts of a value: in a schema every one of them reaches the model.
func eachText(v value.Value, path string, do func(path, text string)) {
	if v.Kind() == value.String {
		do(strings.TrimPrefix(path, "."), v.Str())
		return
	}
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		at := path
		if v.Kind() == value.Object {
			at += "." + e.Key()
			do(strings.TrimPrefix(at, "."), e.Key())
		}
		eachText(e, at, do)
	}
}

// write makes the suite: the existing one with the present tools, or a new one.
func (r *ImportMCPResult) write(old *before, list *mcp.Listing, req *ImportMCPRequest, events app.Events) (err error) {
	s := &callvet.Suite{
		Dialect: "callvet", Name: nameOf(&r.Server),
		Description: madeOf + plain.Line(nameOf(&r.Server)),
	}
	if r.Server.Version != "" {
		s.Description += " " + plain.Line(r.Server.Version)
	}
	form := "yaml"
	if strings.EqualFold(filepath.Ext(req.Output), ".json") {
		form = "json"
	}
	if old != nil {
		was := *old.suite
		was.Tools, was.Cases = nil, slices.Clone(was.Cases)
		s = &was
		r.compare(old.suite.Tools, list)
	}
	for i := range list.Tools {
		t := list.Tools[i].Tool
		if old != nil {
			keepOwn(&t, old.suite.Tools)
		}
		s.Tools = append(s.Tools, t)
	}
	if old != nil { // tools of other servers, and tools that are gone
		for i := range old.suite.Tools {
			if t := &old.suite.Tools[i]; list.Find(t.Name) == nil {
				s.Tools = append(s.Tools, *t)
			}
		}
	}
	if req.DraftCases {
		r.draft(s, list)
	}
	r.Suite = s
	r.Data, err = suite.Export(s, form)
	if err == nil && old != nil && form == "yaml" {
		if text := spliced(old, r.Data, s.Cases[len(s.Cases)-r.Drafts:]); text != nil {
			r.Data = text
		} else if bytes.Contains(old.text, []byte("#")) {
			events.Warn("comments-lost", "the comments of "+req.Output+
				" are lost: its tools do not stand under one key at the beginning of a line")
		}
	}
	return err
}

// nameOf returns the name of a server.
func nameOf(s *mcp.Server) string {
	if s.Name != "" {
		return s.Name
	}
	return s.Where
}

// compare reports the changes since the tools were imported.
func (r *ImportMCPResult) compare(was []callvet.Tool, list *mcp.Listing) {
	change := func(tool, what, format string, args ...any) {
		r.Changes = append(r.Changes, ToolChange{tool, what, fmt.Sprintf(format, args...)})
	}
	before, now := suite.StaleStateOf(&callvet.Suite{Tools: was}, nil, ""), &callvet.Suite{}
	for i := range list.Tools {
		now.Tools = append(now.Tools, list.Tools[i].Tool)
	}
	is := suite.StaleStateOf(now, nil, "")
	for i := range now.Tools {
		t := &now.Tools[i]
		old, there := before.Tools[t.Name]
		if !there {
			change(t.Name, "new", "%s is new", t.Name)
			continue
		}
		at := slices.IndexFunc(was, func(o callvet.Tool) bool { return o.Name == t.Name })
		if old.Description != is.Tools[t.Name].Description {
			change(t.Name, "description", "the description of %s was %q and is %q", t.Name,
				redact.CutText(was[at].Description, 200), redact.CutText(t.Description, 200))
		}
		if old.Schema != is.Tools[t.Name].Schema || !bytes.Equal(was[at].Declared, t.Declared) {
			change(t.Name, "schema", "the arguments of %s have another schema: their hash was %s and is %s", t.Name,
				old.Schema, is.Tools[t.Name].Schema)
		}
		for _, f := range []struct {
			name    string
			was, is *bool
		}{{"read_only", was[at].ReadOnly, t.ReadOnly}, {"idempotent", was[at].Idempotent, t.Idempotent}} {
			if f.is != nil && (f.was == nil || *f.was != *f.is) {
				change(t.Name, "flags", "%s of %s was %s and is %s", f.name, t.Name, flagWord(f.was), flagWord(f.is))
			}
		}
	}
	for i := range was {
		if list.Find(was[i].Name) == nil {
			change(was[i].Name, "gone", "the server does not have %s; it stays in the suite", was[i].Name)
		}
	}
}

func flagWord(b *bool) string {
	if b == nil {
		return "not said"
	}
	return fmt.Sprint(*b)
}

// keepOwn keeps the fields of a tool that people wrote and servers do not have.
func keepOwn(t *callvet.Tool, was []callvet.Tool) {
	i := slices.IndexFunc(was, func(o callvet.Tool) bool { return o.Name == t.Name })
	if i < 0 {
		return
	}
	o := &was[i]
	t.Version, t.RateLimit, t.LatencyBudgetMS, t.LatencyP50MS, t.Safety, t.Family, t.Tags = o.Version, o.RateLimit,
		o.LatencyBudgetMS, o.LatencyP50MS, o.Safety, o.Family, o.Tags
	if t.ReadOnly == nil {
		t.ReadOnly = o.ReadOnly
	}
	if t.Idempotent == nil {
		t.Idempotent = o.Idempotent
	}
}

// draft adds a case for each tool that no case expects.
func (r *ImportMCPResult) draft(s *callvet.Suite, list *mcp.Listing) {
	ids, expected := map[string]bool{}, map[string]bool{}
	for i := range s.Cases {
		ids[s.Cases[i].ID] = true
		e := &s.Cases[i].Expect
		for _, name := range e.ToolsCalled {
			expected[name] = true
		}
		for j := range e.Plans {
			for k := range e.Plans[j].Calls {
				for _, name := range e.Plans[j].Calls[k].Tools {
					expected[name] = true
				}
			}
		}
	}
	for i := range list.Tools {
		if c := mcp.Draft(&list.Tools[i]); !expected[list.Tools[i].Name] && !ids[c.ID] {
			ids[c.ID] = true
			s.Cases = append(s.Cases, c)
			r.Drafts++
		}
	}
}

// spliced returns the existing text with the new tools, and the drafts after its cases: comments
// and the order of keys stay. It returns nil if that is not the same suite as whole.
func spliced(old *before, whole []byte, drafts []callvet.Case) []byte {
	from, to := block(old.text, "tools:")
	start, end := block(whole, "tools:")
	if from < 0 || start < 0 {
		return nil
	}
	text := slices.Concat(old.text[:from], whole[start:end], old.text[to:])
	if len(drafts) > 0 {
		more, err := suite.Export(&callvet.Suite{Cases: drafts}, "yaml")
		if err != nil {
			return nil
		}
		from, to := block(more, "cases:")
		if there, last := block(text, "cases:"); there >= 0 && last == len(text) {
			from += bytes.IndexByte(more[from:], '\n') + 1
		}
		text = slices.Concat(text, more[from:to])
	}
	s, err := readOwn(old.name, text)
	if err != nil {
		return nil
	}
	if again, err := suite.Export(s, "yaml"); err != nil || !bytes.Equal(again, whole) {
		return nil
	}
	return text
}

// block finds the lines of a key at the beginning of a line; -1 if there is none, or several.
func block(text []byte, key string) (from, to int) {
	from, to = -1, len(text)
	at, open := 0, false
	for line := range bytes.Lines(text) {
		switch top := len(line) > 0 && !bytes.ContainsAny(line[:1], " \t\r\n#-"); {
		case top && bytes.HasPrefix(line, []byte(key)):
			if from >= 0 {
				return -1, 0
			}
			from, open = at, true
		case top && open:
			to, open = at, false
		}
		at += len(line)
	}
	return from, to
}
