// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
)

// maxCombos bounds how many cases one promptfoo test may become when its
// variables are lists.
const maxCombos = 1000

// promptfoo reads a promptfoo configuration: one case for each test, prompt and combination of
// listed variables. A prompt renders the question, so that it is a part of the case. With several
// prompts, the field "prompt" contains the name of the case's prompt.
func (r *reader) promptfoo() (*callvet.Suite, error) {
	doc, err := r.Single("a promptfoo configuration")
	if err != nil {
		return nil, err
	}
	p := &promptfooReader{reader: r, doc: r.Loose(doc)}
	if r.Src.Path != "" {
		p.dir = filepath.Dir(r.Src.Path)
	}
	s := &callvet.Suite{Name: Stem(r.Src.Path), Description: p.doc.Str("description"), Tools: r.Opt.Tools}
	p.suite = s
	for _, m := range p.doc.List {
		switch m.Name {
		case "description", "prompts", "providers", "targets", "tests", "scenarios", "defaultTest", "$schema":
		default:
			r.Keep(m.Off, m.Name, "it configures promptfoo itself")
		}
	}
	p.providers()
	p.prompts()
	p.defaults = r.Loose(p.doc.Get("defaultTest"))
	if ref, ok := p.doc.Get("defaultTest").Text(); ok {
		p.defaults = r.Loose(p.file(p.doc.Get("defaultTest"), ref))
	}
	p.tests(p.doc.Get("tests"))
	p.scenarios(p.doc.Get("scenarios"))
	if doc.Has("scenarios") { // they are cases now
		doc.Raw = WithMember(doc, "scenarios", []byte("[]"))
	}
	s.Foreign = FrameOf(r.Src, doc, "tests", nil)
	return s, nil
}

type promptfooReader struct {
	*reader
	suite    *callvet.Suite
	doc      Object
	defaults Object
	scenario Object // what a scenario adds to its tests
	chats    []promptTemplate
	count    int
	nested   int    // files of tests that are open; they do not name others
	dir      string // of the configuration; "" when it is not known
}

// promptTemplate is one prompt: plain text, or a list of messages.
type promptTemplate struct {
	text string
	name string // the label, else its place: prompt-1
	at   int
}

// providers takes tools and tool_choice; the models themselves are targets.
func (p *promptfooReader) providers() {
	list, key := p.doc.First("providers", "targets")
	items := list.Elements()
	if list.Kind() == '"' || list.Kind() == '{' {
		items = []Node{list}
	}
	var from int
	unread := false
	for i, n := range items {
		cfg := n.Get("config")
		tools, k := p.Loose(cfg).First("tools", "functions")
		choice := cfg.Get("tool_choice")
		if bedrock := cfg.Get("toolConfig"); !tools.Given() {
			tools, k, choice = bedrock.Get("tools"), "toolConfig.tools", bedrock.Get("toolChoice")
		}
		if ref, ok := tools.Text(); ok {
			errs := len(p.Problems)
			tools = p.file(tools, ref)
			for j := range p.Problems[errs:] { // an error only when no provider's tools can be read
				p.Problems[errs+j].Warning = true
			}
			unread = unread || tools.Absent()
		}
		if c := choice; c.Given() && p.suite.Defaults.ToolChoice == "" {
			p.suite.Defaults.ToolChoice = p.toolChoice(c)
		}
		if !tools.Given() {
			continue
		}
		if tools.Kind() == '{' {
			tools = Node{Raw: Array([][]byte{tools.Raw}), Off: tools.Off}
		}
		found := p.Tools(tools, k)
		switch {
		case p.suite.Tools == nil || from == 0:
			p.suite.Tools, from = found, i+1
		case !sameTools(p.suite.Tools, found):
			p.NotCarried(tools.Off, k, "provider %d has other tools than provider %d; a suite has one set", i+1, from)
		}
	}
	if unread && from == 0 && p.suite.Tools == nil {
		p.Warn(p.doc.At(key), "file", key, "put the file next to the configuration, or give the tools with --tools",
			"the tools of no provider could be read")
	}
}

func sameTools(a, b []callvet.Tool) bool {
	return slices.EqualFunc(a, b,
		func(x, y callvet.Tool) bool { return x.Name == y.Name && string(x.Parameters) == string(y.Parameters) })
}

func (p *promptfooReader) prompts() {
	v := p.doc.Get("prompts")
	items := v.Elements()
	if v.Kind() == '"' {
		items = []Node{v}
	}
	for _, n := range items {
		src, name := n, fmt.Sprintf("prompt-%d", len(p.chats)+1)
		if n.Kind() == '{' {
			o := p.Loose(n)
			src, _ = o.First("raw", "content", "id")
			name = cmp.Or(o.Str("label"), name)
		}
		text, ok := src.Text()
		if !ok {
			p.Report(n.Off, "wrong-type", "prompts", "", "a prompt must be a string, not %s", KindName(src))
			continue
		}
		if strings.HasPrefix(text, "file://") {
			b, _, err := p.read(text)
			if err != nil {
				p.Report(n.Off, "file", "prompts", "put the prompt's text into the file", "%v", err)
				continue
			}
			text = strings.TrimSpace(string(b))
		}
		p.chats = append(p.chats, promptTemplate{text, name, n.Off})
	}
	if len(p.chats) == 0 {
		p.Report(p.doc.At("prompts"), "missing-key", "prompts", "", "the configuration has no prompt that can be read")
	}
}

// tests reads a list, a file, or a list with files in it.
func (p *promptfooReader) tests(v Node) {
	if ref, ok := v.Text(); ok {
		p.testFile(v, ref)
		return
	}
	for _, n := range v.Elements() {
		if ref, ok := n.Text(); ok {
			p.testFile(n, ref)
			continue
		}
		if n.Kind() != '{' {
			p.Report(n.Off, "wrong-type", "tests", "", "a test must be an object, not %s", KindName(n))
			continue
		}
		p.test(n)
	}
}

// scenarios read each test of a scenario with each entry of its config.
func (p *promptfooReader) scenarios(v Node) {
	for _, n := range v.Elements() {
		if ref, ok := n.Text(); ok {
			n = p.file(n, ref)
		}
		if n.Kind() != '{' {
			p.Report(n.Off, "wrong-type", "scenarios", "", "a scenario must be an object, not %s", KindName(n))
			continue
		}
		tests := n.Get("tests")
		if !tests.Given() { // promptfoo sends each entry of the config
			tests = Node{Raw: []byte("[{}]"), Off: n.Off}
		}
		config := n.Get("config")
		if ref, ok := config.Text(); ok {
			config = p.file(config, ref)
		}
		for _, entry := range config.Elements() {
			p.scenario = p.Loose(entry)
			p.tests(tests)
		}
		p.scenario = Object{}
	}
}

// testFile reads tests of another file. Their positions are the lines of that file.
func (p *promptfooReader) testFile(at Node, ref string) {
	if p.nested > 0 {
		return
	}
	if !strings.Contains(ref, "://") { // a path alone names a file here
		ref = "file://" + ref
	}
	if strings.HasSuffix(strings.ToLower(ref), ".csv") {
		p.table(at, ref)
		return
	}
	src, ok := p.open(at, ref)
	if !ok {
		return
	}
	outer := p.Src
	p.Src = src
	p.nested++
	for _, v := range src.Values {
		if v.Kind() == '{' {
			p.test(v)
			continue
		}
		p.tests(v)
	}
	p.nested--
	p.Src = outer
}

func (p *promptfooReader) open(at Node, ref string) (*Source, bool) {
	b, rel, err := p.read(ref)
	var src *Source
	if err == nil {
		if src, err = Open(b, filepath.Join(p.dir, rel)); err != nil { // which quotes the file
			err = fmt.Errorf("read %s: %w: it is neither JSON nor YAML", ref, callvet.ErrInvalid)
		}
	}
	if err != nil {
		p.Report(at.Off, "file", ref, "", "%v", err)
	}
	return src, err == nil
}

// file reads a JSON, JSON Lines or YAML value next to the configuration; positions inside it are
// the position of the reference to the file.
func (p *promptfooReader) file(at Node, ref string) Node {
	src, ok := p.open(at, ref)
	if !ok {
		return Node{}
	}
	if len(src.Values) == 1 {
		return Node{Raw: src.Values[0].Raw, Off: at.Off}
	}
	items := make([][]byte, len(src.Values))
	for i := range src.Values {
		items[i] = src.Values[i].Raw
	}
	return Node{Raw: Array(items), Off: at.Off}
}

// read gives the bytes of a file:// reference inside the configuration's directory.
func (p *promptfooReader) read(ref string) ([]byte, string, error) {
	rel, found := strings.CutPrefix(ref, "file://")
	ext := strings.ToLower(filepath.Ext(rel))
	switch {
	case !found:
		return nil, "", fmt.Errorf("%s is not a file:// reference and cannot be read here", ref)
	case ext == ".xlsx":
		return nil, "", fmt.Errorf("%s: tests in spreadsheets are not read; save them as CSV, JSON Lines or YAML", ref)
	case ext == ".js" || ext == ".ts" || ext == ".mjs" || ext == ".cjs" || ext == ".py" || ext == ".rb" ||
		strings.Contains(ext, ":"):
		return nil, "", fmt.Errorf("%s: programs are not run on import", ref)
	case p.dir == "" || p.Opt.Include == nil:
		return nil, "", fmt.Errorf("%s: the configuration has no directory to read it from", ref)
	}
	b, err := p.Opt.Include(p.dir, rel)
	if err == nil && len(b) > doc.MaxYAML {
		err = fmt.Errorf("%w: larger than %d bytes", callvet.ErrLimited, doc.MaxYAML)
	}
	if err != nil {
		return nil, "", fmt.Errorf("read %s: %w", ref, err)
	}
	return b, rel, nil
}

// test makes the cases of one test.
func (p *promptfooReader) test(n Node) {
	p.count++
	p.CaseID = fmt.Sprintf("test-%d", p.count)
	o := p.Loose(n)
	for _, m := range o.List {
		switch m.Name {
		case "description", "vars", "assert", "metadata", "options", "threshold":
		default:
			p.Keep(m.Off, "tests[]."+m.Name,
				"weights, thresholds and provider choice of single tests have no place here")
		}
	}
	combos := p.combos(p.vars(o))
	for ci, vars := range combos {
		for pi, chat := range p.chats {
			c := callvet.Case{
				ID: p.CaseID, Description: cmp.Or(o.Str("description"), p.scenario.Str("description")),
				Position: p.Src.Position(n.Off), Foreign: n.Raw,
			}
			if len(p.chats) > 1 {
				c.ID += fmt.Sprintf("/prompt-%d", pi+1)
			}
			if len(combos) > 1 {
				c.ID += fmt.Sprintf("/vars-%d", ci+1)
			}
			p.metadata(o.Get("metadata"), &c)
			p.metadata(p.scenario.Get("metadata"), &c)
			if len(p.scenario.List) > 0 {
				c.Foreign = nil // the test alone is not the case
			}
			if len(p.chats) > 1 && c.Fields["prompt"] == "" { // so that each prompt is a slice
				setField(&c, "prompt", chat.name)
			}
			p.input(chat, vars, &c)
			p.asserts(o, vars, &c)
			p.suite.Cases = append(p.suite.Cases, c)
		}
	}
	p.CaseID = ""
}

func setField(c *callvet.Case, name, value string) {
	if c.Fields == nil {
		c.Fields = map[string]string{}
	}
	c.Fields[name] = value
}

func (p *promptfooReader) metadata(v Node, c *callvet.Case) {
	for _, m := range v.Members(p.Keys) {
		if s, ok := m.Val.Text(); ok {
			if m.Name == "tier" {
				c.Tier = callvet.Tier(s)
				continue
			}
			setField(c, m.Name, s)
		}
	}
}

// input renders a prompt: chat messages when it is a JSON list of them, else
// one user turn.
func (p *promptfooReader) input(chat promptTemplate, vars []Member, c *callvet.Case) {
	text, err := render(chat.text, vars)
	if err != "" {
		c.Skip = "the prompt is a template that cannot be rendered: " + err
		p.Report(chat.at, "template", "prompts", "only {{name}} and {{name.key}} are rendered", "%s", c.Skip)
	}
	c.Input = UserInput(text)
	if !strings.HasPrefix(strings.TrimSpace(text), "[") {
		return
	}
	if n, ok := Trusted([]byte(text)); ok && FirstOf(n).Has("role") {
		n.Off = chat.at
		sub := newReader(&Source{Path: p.Src.Path, Text: n.Raw, Form: "json"}, p.Opt)
		if turns := sub.Turns(Node{Raw: n.Raw}); len(sub.Problems) == 0 {
			c.Input = turns
		}
	}
}
