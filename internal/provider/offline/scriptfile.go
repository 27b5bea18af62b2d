// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package offline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
)

// maxScript bounds a script file in bytes.
const maxScript = 16 << 20

type script struct {
	Model     string   `json:"model"`
	Otherwise string   `json:"otherwise"`
	Rules     []rule   `json:"rules"`
	Surface   *Surface `json:"surface"`
}

type rule struct {
	Case     string  `json:"case"`
	Contains string  `json:"contains"`
	Repeat   repeats `json:"repeat"`
	Then     string  `json:"then"`
	Steps    []step  `json:"steps"`
	step             // a single step may be in the rule
}

type step struct {
	Calls        []scriptCall `json:"calls"`
	Text         string       `json:"text"`
	Raw          string       `json:"raw"`
	Reasoning    string       `json:"reasoning"`
	FinishReason string       `json:"finish_reason"`
	Model        string       `json:"model"`
	DelayMS      float64      `json:"delay_ms"`
	FirstTokenMS float64      `json:"first_token_ms"`
	Error        *scriptError `json:"error"`
	Times        int          `json:"times"`
	Usage        *scriptUsage `json:"usage"`
}

func (s *step) empty() bool {
	return len(s.Calls) == 0 && s.Text == "" && s.Raw == "" && s.Error == nil
}

type scriptCall struct {
	ID      string          `json:"id"`
	Tool    string          `json:"tool"`
	Args    json.RawMessage `json:"args"`
	ArgsRaw *string         `json:"args_raw"`
}

type scriptError struct {
	Kind         callvet.FaultKind `json:"kind"`
	HTTP         int               `json:"http"`
	Message      string            `json:"message"`
	Param        string            `json:"param"`
	RetryAfterMS float64           `json:"retry_after_ms"`
}

type scriptUsage struct {
	InputTokens  int      `json:"input_tokens"`
	OutputTokens int      `json:"output_tokens"`
	CostUSD      *float64 `json:"cost_usd"`
}

// repeats are written as one number or as a list.
type repeats []int

// UnmarshalJSON implements json.Unmarshaler.
func (r *repeats) UnmarshalJSON(b []byte) error {
	var one int
	if json.Unmarshal(b, &one) == nil {
		*r = repeats{one}
		return nil
	}
	if json.Unmarshal(b, (*[]int)(r)) != nil {
		return errors.New("a whole number is needed, or a list of them")
	}
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

func parseScript(name string, src []byte) (*script, error) {
	var s script
	file, err := doc.Decode(name, src, &s)
	if err != nil {
		return nil, fmt.Errorf("read script: %w: %w", err, callvet.ErrInvalid)
	}
	c := checker{file: file}
	c.script(&s)
	if len(c.found) > 0 {
		return nil, fmt.Errorf("read script: %w: %w", errors.Join(c.found...), callvet.ErrInvalid)
	}
	return &s, nil
}

// checker finds mistakes that the forms of the keys do not detect.
type checker struct {
	file  *doc.File
	found []error
}

func (c *checker) problem(at, msg, fix string) {
	place, _ := c.file.Root.Find(at)
	c.found = append(c.found,
		callvet.Problem{Position: c.file.Position(place), Code: "script", Key: at, Message: at + ": " + msg, Fix: fix})
}

func (c *checker) script(s *script) {
	if len(s.Rules) == 0 {
		c.found = append(c.found, callvet.Problem{
			Position: callvet.Position{File: c.file.Name, Line: 1}, Code: "script", Message: "the script has no rules",
			Fix: "rules: [{case: ID, calls: [{tool: NAME, args: {…}}]}]",
		})
	}
	if s.Otherwise != "" && s.Otherwise != "abstain" && s.Otherwise != "error" {
		c.problem("otherwise", strconv.Quote(s.Otherwise)+" is not known", "abstain or error")
	}
	if s.Surface != nil {
		c.surface(s.Surface)
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
	own := !r.step.empty()
	switch {
	case own && len(r.Steps) > 0:
		c.problem(at, "a rule has steps or is one itself, not both", "move the calls, text or error into steps")
	case own:
		c.checkStep(at, &r.step)
		r.Steps = []step{r.step}
	case len(r.Steps) == 0:
		c.problem(at, "the rule does nothing", "give it calls, text, raw, error or steps")
	default:
		for i := range r.Steps {
			c.checkStep(fmt.Sprintf("%s.steps[%d]", at, i), &r.Steps[i])
		}
	}
}

func (c *checker) checkStep(at string, s *step) {
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
		c.problem(at+".times", "times counts errors", "use it together with error, at least 1")
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
	case callvet.FaultRateLimit, callvet.FaultServer, callvet.FaultAuth, callvet.FaultRequest, callvet.FaultTimeout,
		callvet.FaultNetwork,
		callvet.FaultMalformed, callvet.FaultTooLarge, callvet.FaultProcess, callvet.FaultMissing, callvet.FaultTool,
		callvet.FaultUnsupport:
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
	if call.Args == nil {
		call.Args = json.RawMessage("{}")
	}
}
