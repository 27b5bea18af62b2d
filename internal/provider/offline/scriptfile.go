// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package offline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"strconv"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/callvet/callvet"
)

// maxScript bounds a script file in bytes.
const maxScript = 16 << 20

type script struct {
	Model     string `yaml:"model"`
	Otherwise string `yaml:"otherwise"`
	Rules     []rule `yaml:"rules"`
}

type rule struct {
	Case     string  `yaml:"case"`
	Contains string  `yaml:"contains"`
	Repeat   repeats `yaml:"repeat"`
	Then     string  `yaml:"then"`
	Steps    []step  `yaml:"steps"`
	Own      step    `yaml:",inline"` // a single step may stand in the rule
}

type step struct {
	Calls        []scriptCall `yaml:"calls"`
	Text         string       `yaml:"text"`
	Raw          string       `yaml:"raw"`
	Reasoning    string       `yaml:"reasoning"`
	FinishReason string       `yaml:"finish_reason"`
	Model        string       `yaml:"model"`
	DelayMS      float64      `yaml:"delay_ms"`
	FirstTokenMS float64      `yaml:"first_token_ms"`
	Error        *scriptError `yaml:"error"`
	Times        int          `yaml:"times"`
	Usage        *scriptUsage `yaml:"usage"`
}

func (s *step) empty() bool {
	return len(s.Calls) == 0 && s.Text == "" && s.Raw == "" && s.Error == nil
}

type scriptCall struct {
	ID      string  `yaml:"id"`
	Tool    string  `yaml:"tool"`
	Args    any     `yaml:"args"`
	ArgsRaw *string `yaml:"args_raw"`

	json json.RawMessage // Args
}

type scriptError struct {
	Kind         callvet.FaultKind `yaml:"kind"`
	HTTP         int               `yaml:"http"`
	Message      string            `yaml:"message"`
	Param        string            `yaml:"param"`
	RetryAfterMS float64           `yaml:"retry_after_ms"`
}

type scriptUsage struct {
	InputTokens  int      `yaml:"input_tokens"`
	OutputTokens int      `yaml:"output_tokens"`
	CostUSD      *float64 `yaml:"cost_usd"`
}

// repeats are written as one number or as a list.
type repeats []int

// UnmarshalYAML implements yaml.InterfaceUnmarshaler.
func (r *repeats) UnmarshalYAML(read func(any) error) error {
	var one int
	if read(&one) == nil {
		*r = repeats{one}
		return nil
	}
	var list []int
	if err := read(&list); err != nil {
		return err
	}
	*r = list
	return nil
}

// readScript loads and checks a script.
func readScript(file string) (*script, error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open script %s: %w", file, callvet.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("open script: %w", err)
	}
	defer f.Close()
	var b bytes.Buffer
	if n, err := b.ReadFrom(&limited{f, maxScript}); err != nil {
		return nil, fmt.Errorf("read script %s after %d bytes: %w", file, n, err)
	}
	return parseScript(file, b.Bytes())
}

// limited fails when more than left bytes come.
type limited struct {
	f    fs.File
	left int
}

// Read implements io.Reader.
func (l *limited) Read(p []byte) (int, error) {
	n, err := l.f.Read(p)
	if l.left -= n; l.left < 0 {
		return 0, fmt.Errorf("more than %d MiB: %w", maxScript>>20, callvet.ErrLimited)
	}
	return n, err
}

func parseScript(file string, src []byte) (*script, error) {
	tree, err := parser.ParseBytes(src, 0)
	if err != nil {
		return nil, placed(file, err)
	}
	var s script
	dec := yaml.NewDecoder(bytes.NewReader(src), yaml.Strict(), yaml.UseOrderedMap())
	if err := dec.Decode(&s); err != nil {
		return nil, placed(file, err)
	}
	c := checker{file: file, tree: tree}
	c.script(&s)
	if len(c.found) > 0 {
		return nil, fmt.Errorf("read script: %w: %w", errors.Join(c.found...), callvet.ErrInvalid)
	}
	return &s, nil
}

// placed turns an error of the YAML reader into a Problem with its place.
func placed(file string, err error) error {
	p := callvet.Problem{Position: callvet.Position{File: file}, Code: "script", Message: err.Error()}
	var y yaml.Error
	if errors.As(err, &y) {
		p.Message = y.GetMessage()
		if t := y.GetToken(); t != nil && t.Position != nil {
			p.Line, p.Column = t.Position.Line, t.Position.Column
		}
	}
	return fmt.Errorf("read script: %w: %w", p, callvet.ErrInvalid)
}

// checker finds what the YAML reader cannot.
type checker struct {
	file  string
	tree  *ast.File
	found []error
}

func (c *checker) problem(at, msg, fix string) {
	p := callvet.Problem{Position: callvet.Position{File: c.file}, Code: "script", Key: at, Message: at + ": " + msg, Fix: fix}
	if yp, err := yaml.PathString("$." + at); err == nil {
		if n, err := yp.FilterFile(c.tree); err == nil && n != nil && n.GetToken() != nil {
			p.Line, p.Column = n.GetToken().Position.Line, n.GetToken().Position.Column
		}
	}
	c.found = append(c.found, p)
}

func (c *checker) script(s *script) {
	if len(s.Rules) == 0 {
		c.found = append(c.found, callvet.Problem{
			Position: callvet.Position{File: c.file, Line: 1}, Code: "script", Message: "the script has no rules",
			Fix: "rules: [{case: ID, calls: [{tool: NAME, args: {…}}]}]",
		})
	}
	if s.Otherwise != "" && s.Otherwise != "abstain" && s.Otherwise != "error" {
		c.problem("otherwise", strconv.Quote(s.Otherwise)+" is not known", "abstain or error")
	}
	for i := range s.Rules {
		c.rule(fmt.Sprintf("rules[%d]", i), &s.Rules[i])
	}
}

func (c *checker) rule(at string, r *rule) {
	if _, err := path.Match(r.Case, ""); err != nil {
		c.problem(at+".case", "the pattern cannot be read", "use * and ? as in file names")
	}
	if r.Then != "" && r.Then != "repeat" && r.Then != "answer" {
		c.problem(at+".then", strconv.Quote(r.Then)+" is not known", "repeat or answer")
	}
	own := !r.Own.empty()
	switch {
	case own && len(r.Steps) > 0:
		c.problem(at, "a rule has steps or is one itself, not both", "move the calls, text or error into steps")
	case own:
		c.step(at, &r.Own)
		r.Steps = []step{r.Own}
	case len(r.Steps) == 0:
		c.problem(at, "the rule does nothing", "give it calls, text, raw, error or steps")
	default:
		for i := range r.Steps {
			c.step(fmt.Sprintf("%s.steps[%d]", at, i), &r.Steps[i])
		}
	}
}

func (c *checker) step(at string, s *step) {
	if s.empty() {
		c.problem(at, "the step does nothing", "give it calls, text, raw or error")
	}
	if s.Error != nil && (len(s.Calls) > 0 || s.Text != "" || s.Raw != "") {
		c.problem(at, "a step answers or fails, not both", "split it in two")
	}
	if s.Raw != "" && (s.Text != "" || len(s.Calls) > 0) {
		c.problem(at, "raw is the whole answer", "drop text and calls")
	}
	if s.Times < 0 || s.Times > 0 && s.Error == nil {
		c.problem(at+".times", "times counts errors", "use it beside error, at least 1")
	}
	if !inRange(s.DelayMS) || !inRange(s.FirstTokenMS) {
		c.problem(at, "a duration must be between 0 and a day, in milliseconds", "")
	}
	if s.Error != nil {
		c.fault(at+".error", s.Error)
	}
	for i := range s.Calls {
		c.call(fmt.Sprintf("%s.calls[%d]", at, i), &s.Calls[i])
	}
}

func inRange(ms float64) bool { return ms >= 0 && ms <= 24*3600*1000 }

func (c *checker) fault(at string, e *scriptError) {
	switch e.Kind {
	case callvet.FaultRateLimit, callvet.FaultServer, callvet.FaultAuth, callvet.FaultRequest, callvet.FaultTimeout, callvet.FaultNetwork,
		callvet.FaultMalformed, callvet.FaultTooLarge, callvet.FaultProcess, callvet.FaultMissing, callvet.FaultTool, callvet.FaultUnsupport:
	default:
		c.problem(at, fmt.Sprintf("error kind %q is not known", e.Kind),
			"rate_limit, server, auth, request, timeout, network, malformed, too_large, process, no_output, tool or unsupported")
	}
	if !inRange(e.RetryAfterMS) {
		c.problem(at, "retry_after_ms must be between 0 and a day", "")
	}
}

func (c *checker) call(at string, call *scriptCall) {
	if call.Tool == "" {
		c.problem(at, "the call has no tool", "tool: NAME")
	}
	if call.Args != nil && call.ArgsRaw != nil {
		c.problem(at, "a call has args or args_raw, not both", "")
	}
	b, err := appendJSON(nil, call.Args)
	if err != nil {
		c.problem(at+".args", err.Error(), "use values that JSON has")
	}
	if call.Args == nil {
		b = []byte("{}")
	}
	call.json = b
}

// appendJSON writes a YAML value as JSON with the keys in the order of the file.
func appendJSON(out []byte, v any) ([]byte, error) {
	switch x := v.(type) {
	case yaml.MapSlice:
		out = append(out, '{')
		for i, m := range x {
			if i > 0 {
				out = append(out, ',')
			}
			k, err := json.Marshal(fmt.Sprint(m.Key))
			if err != nil {
				return nil, err
			}
			if out, err = appendJSON(append(append(out, k...), ':'), m.Value); err != nil {
				return nil, err
			}
		}
		return append(out, '}'), nil
	case []any:
		out = append(out, '[')
		for i, e := range x {
			if i > 0 {
				out = append(out, ',')
			}
			var err error
			if out, err = appendJSON(out, e); err != nil {
				return nil, err
			}
		}
		return append(out, ']'), nil
	case float64:
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, errors.New("JSON has no such number")
		}
	}
	b, err := json.Marshal(v)
	return append(out, b...), err
}
