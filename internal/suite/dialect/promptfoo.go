// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/callvet/callvet"
)

// maxCombos bounds how many cases one promptfoo test may become when its
// variables are lists.
const maxCombos = 1000

// promptfoo reads a promptfoo configuration: one case for each test, prompt and
// combination of listed variables.
func (r *reader) promptfoo() (*callvet.Suite, error) {
	doc, err := r.single("a promptfoo configuration")
	if err != nil {
		return nil, err
	}
	p := &promptfooReader{reader: r, doc: r.loose(doc)}
	if r.src.path != "" {
		p.dir = filepath.Dir(r.src.path)
	}
	s := &callvet.Suite{Name: stem(r.src.path), Description: p.doc.str("description"), Tools: r.opt.Tools}
	p.suite = s
	for _, m := range p.doc.list {
		switch m.name {
		case "description", "prompts", "providers", "targets", "tests", "defaultTest", "$schema":
		default:
			r.keep(m.off, m.name, "it configures promptfoo itself")
		}
	}
	p.providers()
	p.prompts()
	p.defaults = r.loose(p.doc.get("defaultTest"))
	if ref, ok := p.doc.get("defaultTest").text(); ok {
		p.defaults = r.loose(p.file(p.doc.get("defaultTest"), ref))
	}
	p.tests(p.doc.get("tests"))
	s.Foreign = frameOf(r.src, doc, "tests", nil)
	return s, nil
}

type promptfooReader struct {
	*reader
	suite    *callvet.Suite
	doc      object
	defaults object
	chats    []promptTemplate
	count    int
	nested   int    // files of tests that are open; they do not name others
	dir      string // of the configuration; "" when it is not known
}

// promptTemplate is one prompt: plain text, or a list of messages.
type promptTemplate struct {
	text string
	at   int
}

// providers takes tools and tool_choice; the models themselves are targets.
func (p *promptfooReader) providers() {
	list, key := p.doc.first("providers", "targets")
	items := list.elements()
	if list.kind() == '"' || list.kind() == '{' {
		items = []node{list}
	}
	var from int
	unread := false
	for i, n := range items {
		cfg := n.get("config")
		tools, k := p.loose(cfg).first("tools", "functions")
		if ref, ok := tools.text(); ok {
			errs := len(p.problems)
			tools = p.file(tools, ref)
			for j := range p.problems[errs:] { // an error only when no provider's tools can be read
				p.problems[errs+j].Warning = true
			}
			unread = unread || tools.absent()
		}
		if c := cfg.get("tool_choice"); c.given() && p.suite.Defaults.ToolChoice == "" {
			p.suite.Defaults.ToolChoice = p.toolChoice(c)
		}
		if !tools.given() {
			continue
		}
		if tools.kind() == '{' {
			tools = node{raw: array([][]byte{tools.raw}), off: tools.off}
		}
		found := p.tools(tools, k)
		switch {
		case p.suite.Tools == nil || from == 0:
			p.suite.Tools, from = found, i+1
		case !sameTools(p.suite.Tools, found):
			p.notCarried(tools.off, k, "provider %d has other tools than provider %d; a suite has one set", i+1, from)
		}
	}
	if unread && from == 0 && p.suite.Tools == nil {
		p.report(p.doc.at(key), "file", key, "put the file beside the configuration", "the tools of no provider could be read")
	}
	if len(items) > 0 {
		p.keep(p.doc.at(key), key, "models are targets: name them with -m when running")
	}
}

func sameTools(a, b []callvet.Tool) bool {
	return slices.EqualFunc(a, b, func(x, y callvet.Tool) bool { return x.Name == y.Name && string(x.Parameters) == string(y.Parameters) })
}

func (p *promptfooReader) prompts() {
	v := p.doc.get("prompts")
	items := v.elements()
	if v.kind() == '"' {
		items = []node{v}
	}
	for _, n := range items {
		src := n
		if n.kind() == '{' {
			o := p.loose(n)
			src, _ = o.first("raw", "content", "id")
		}
		text, ok := src.text()
		if !ok {
			p.report(n.off, "wrong-type", "prompts", "", "a prompt must be a string, not %s", kindName(src))
			continue
		}
		if strings.HasPrefix(text, "file://") {
			b, _, err := p.read(text)
			if err != nil {
				p.report(n.off, "file", "prompts", "put the prompt's text into the file", "%v", err)
				continue
			}
			text = strings.TrimSpace(string(b))
		}
		p.chats = append(p.chats, promptTemplate{text, n.off})
	}
	if len(p.chats) == 0 {
		p.report(p.doc.at("prompts"), "missing-key", "prompts", "", "the configuration has no prompt that can be read")
	}
}

// tests reads a list, a file, or a list with files in it.
func (p *promptfooReader) tests(v node) {
	if ref, ok := v.text(); ok {
		p.testFile(v, ref)
		return
	}
	for _, n := range v.elements() {
		if ref, ok := n.text(); ok {
			p.testFile(n, ref)
			continue
		}
		if n.kind() != '{' {
			p.report(n.off, "wrong-type", "tests", "", "a test must be an object, not %s", kindName(n))
			continue
		}
		p.test(n)
	}
}

// testFile reads tests of another file, whose lines then are the positions.
func (p *promptfooReader) testFile(at node, ref string) {
	src, ok := p.open(at, ref)
	if !ok || p.nested > 0 {
		return
	}
	outer := p.src
	p.src = src
	p.nested++
	for _, v := range src.values {
		if v.kind() == '{' {
			p.test(v)
			continue
		}
		p.tests(v)
	}
	p.nested--
	p.src = outer
}

func (p *promptfooReader) open(at node, ref string) (*source, bool) {
	b, rel, err := p.read(ref)
	var src *source
	if err == nil {
		src, err = open(b, filepath.Join(p.dir, rel))
	}
	if err != nil {
		p.report(at.off, "file", ref, "", "%v", err)
	}
	return src, err == nil
}

// file reads a JSON, JSON Lines or YAML value beside the configuration;
// positions inside it are the place that names it.
func (p *promptfooReader) file(at node, ref string) node {
	src, ok := p.open(at, ref)
	if !ok {
		return node{}
	}
	if len(src.values) == 1 {
		return node{raw: src.values[0].raw, off: at.off}
	}
	items := make([][]byte, len(src.values))
	for i := range src.values {
		items[i] = src.values[i].raw
	}
	return node{raw: array(items), off: at.off}
}

// read gives the bytes of a file:// reference inside the configuration's directory.
func (p *promptfooReader) read(ref string) ([]byte, string, error) {
	rel, found := strings.CutPrefix(ref, "file://")
	ext := strings.ToLower(filepath.Ext(rel))
	switch {
	case !found:
		return nil, "", fmt.Errorf("%s is not a file:// reference and cannot be read here", ref)
	case ext == ".csv" || ext == ".xlsx":
		return nil, "", fmt.Errorf("%s: tests in spreadsheets are not read; save them as JSON Lines or YAML", ref)
	case ext == ".js" || ext == ".ts" || ext == ".mjs" || ext == ".cjs" || ext == ".py" || ext == ".rb" || strings.Contains(ext, ":"):
		return nil, "", fmt.Errorf("%s: programs are not run on import", ref)
	case p.dir == "":
		return nil, "", fmt.Errorf("%s: the configuration has no directory to read it from", ref)
	}
	root, err := os.OpenRoot(p.dir)
	if err != nil {
		return nil, "", fmt.Errorf("read %s: %w", ref, err)
	}
	defer root.Close()
	f, err := root.Open(filepath.Clean(rel))
	if err != nil {
		return nil, "", fmt.Errorf("read %s: %w", ref, err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxYAMLBytes+1))
	if err == nil && len(b) > maxYAMLBytes {
		err = fmt.Errorf("%w: larger than %d bytes", callvet.ErrLimited, maxYAMLBytes)
	}
	if err != nil {
		return nil, "", fmt.Errorf("read %s: %w", ref, err)
	}
	return b, rel, nil
}

// test makes the cases of one test.
func (p *promptfooReader) test(n node) {
	p.count++
	p.caseID = fmt.Sprintf("test-%d", p.count)
	o := p.loose(n)
	for _, m := range o.list {
		switch m.name {
		case "description", "vars", "assert", "metadata", "options":
		default:
			p.keep(m.off, "tests[]."+m.name, "weights, thresholds and provider choice of single tests have no place here")
		}
	}
	combos := p.combos(p.vars(o))
	for ci, vars := range combos {
		for pi, chat := range p.chats {
			c := callvet.Case{ID: p.caseID, Description: o.str("description"), Position: p.src.position(n.off), Foreign: n.raw}
			if len(p.chats) > 1 {
				c.ID += fmt.Sprintf("/prompt-%d", pi+1)
			}
			if len(combos) > 1 {
				c.ID += fmt.Sprintf("/vars-%d", ci+1)
			}
			p.metadata(o.get("metadata"), &c)
			p.input(chat, vars, &c)
			p.asserts(o, vars, &c)
			p.suite.Cases = append(p.suite.Cases, c)
		}
	}
	p.caseID = ""
}

func (p *promptfooReader) metadata(v node, c *callvet.Case) {
	for _, m := range v.members(p.keys) {
		if s, ok := m.val.text(); ok {
			if m.name == "tier" {
				c.Tier = callvet.Tier(s)
				continue
			}
			if c.Fields == nil {
				c.Fields = map[string]string{}
			}
			c.Fields[m.name] = s
		}
	}
}

// input renders a prompt: chat messages when it is a JSON list of them, else
// one user turn.
func (p *promptfooReader) input(chat promptTemplate, vars []member, c *callvet.Case) {
	text, err := render(chat.text, vars)
	if err != "" {
		c.Skip = "the prompt is a template that cannot be rendered: " + err
		p.report(chat.at, "template", "prompts", "only {{name}} and {{name.key}} are rendered", "%s", c.Skip)
	}
	c.Input = userInput(text)
	if !strings.HasPrefix(strings.TrimSpace(text), "[") {
		return
	}
	if n, ok := trusted([]byte(text)); ok && firstOf(n).has("role") {
		n.off = chat.at
		sub := newReader(&source{path: p.src.path, text: n.raw, form: "json"}, p.opt)
		if turns := sub.turns(node{raw: n.raw}); len(sub.problems) == 0 {
			c.Input = turns
		}
	}
}
