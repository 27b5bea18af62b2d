// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package traces

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/measure"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/score"
)

// excerptSpan is how many lines after a task's first line are searched for its other lines.
const excerptSpan = 2000

// excerpt is the text of one example while it is collected.
type excerpt struct {
	task, target string
	attempt      int
	from, to     int64 // lines
	text         strings.Builder
	red          *redact.Redactor // its own, so that its replacements are numbered from 1
}

// Exhibitor shows lines redacted, and explains their mistakes.
type Exhibitor struct {
	red    *redact.Redactor
	scorer *score.StepScorer // nil: no explanations
}

// NewExhibitor explains mistakes with a fork of by, and redacts excerpts by red. by may be nil.
func NewExhibitor(by *score.StepScorer, red *redact.Redactor) *Exhibitor {
	x := &Exhibitor{red: red}
	if by != nil {
		x.scorer = by.Fork()
	}
	return x
}

// reasons are the mistakes of a step, one line each. They contain no values if a value of the step
// was masked or has a secret's name: sentences do not name the member of a value, and a contract
// contains values too.
func (x *Exhibitor) reasons(v *trace.View, s *trace.Step, red *redact.Redactor, masked bool) (out []string) {
	if x.scorer == nil {
		return nil
	}
	why := x.scorer.Explain((*score.StepInput)(&v.Call))
	if masked || x.secret(s) {
		out = append(withoutValues(&why.Call), why.Plain...)
	} else {
		out = why.Reasons
	}
	for i, r := range out {
		out[i] = strings.ReplaceAll(red.Text(r), "\n", `\n`) // names of members may contain a secret
	}
	return out
}

func withoutValues(c *callvet.CallMatch) (out []string) {
	for _, b := range c.Violations {
		out = append(out, "arguments break the schema: "+strings.TrimSpace(b.Path+" "+b.Keyword))
	}
	for _, d := range c.Args {
		if !d.Matched {
			out = append(out, "argument "+d.Path+" differs from the expected one")
		}
	}
	return out
}

// secret reports whether a value of a step has a name of a secret.
func (x *Exhibitor) secret(s *trace.Step) bool {
	values := []json.RawMessage{s.Args, json.RawMessage(s.ArgsRaw), s.Result, s.Error}
	if g := s.Gold; g != nil {
		values = append(values, g.Args, g.Result)
	}
	return slices.ContainsFunc(values, x.red.NamesSecret)
}

// Excerpts reads the lines of the examples again, by file and line. Marks are the offsets of some
// lines of a file.
func (x *Exhibitor) Excerpts(open func(name string) (io.ReadCloser, error), list []panel.Example,
	marks map[string][]measure.Mark,
) (map[panel.Example]string, error) {
	out := map[panel.Example]string{}
	files := map[string][]panel.Example{}
	for _, e := range list {
		if e.Line > 0 && e.File != "" {
			files[e.File] = append(files[e.File], e)
		}
	}
	for name, examples := range files {
		f, err := open(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		texts, err := x.fileExcerpts(f, examples, marks[name])
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, fmt.Errorf("read examples again: %w", err)
		}
		for i, e := range examples {
			out[e] = texts[i]
		}
	}
	return out, nil
}

// fileExcerpts reads the parts of the file with the examples, from mark to mark. Without marks it
// reads the file up to the last example.
func (x *Exhibitor) fileExcerpts(r io.Reader, list []panel.Example, marks []measure.Mark) ([]string, error) {
	wanted := make([]excerpt, len(list))
	for i, e := range list {
		wanted[i].task, wanted[i].target, wanted[i].attempt, wanted[i].from = e.Task, e.Target, e.Attempt, e.Line
		wanted[i].red = x.red.Fork()
		if wanted[i].to = e.Line; e.Kind != "" { // a task
			wanted[i].to += excerptSpan
		}
	}
	take := func(v *trace.View) error {
		for i := range wanted {
			wanted[i].take(v, x)
		}
		return nil
	}
	file, seekable := r.(io.Seeker)
	parts := seekable && len(marks) > 0
	if !parts {
		marks = []measure.Mark{{Line: 1}}
	}
	for i, from := range marks {
		to, size := int64(math.MaxInt64), int64(math.MaxInt64)
		if i+1 < len(marks) {
			to, size = marks[i+1].Line, marks[i+1].Offset-from.Offset
		}
		if !touches(wanted, from.Line, to) {
			continue
		}
		if seekable {
			if _, err := file.Seek(from.Offset, io.SeekStart); err != nil {
				return nil, err
			}
		}
		if err := readLines(io.LimitReader(r, size), trace.Options{Lines: parts}, from.Line, wanted, take); err != nil {
			return nil, err
		}
	}
	out := make([]string, len(wanted))
	for i := range wanted {
		out[i] = wanted[i].text.String()
	}
	return out, nil
}

// readLines reads the lines of the examples from r, which begins with line from.
func readLines(r io.Reader, o trace.Options, from int64, wanted []excerpt, take func(*trace.View) error) error {
	blocks, err := trace.NewBlocks(r, o)
	if err != nil {
		return err
	}
	scan := trace.NewScanner(trace.Options{})
	last := int64(0)
	for i := range wanted {
		last = max(last, wanted[i].to)
	}
	var buf []byte
	for {
		b, err := blocks.Next(buf)
		b.Line += from - 1
		if errors.Is(err, io.EOF) || err == nil && b.Line > last {
			return nil
		}
		if err != nil {
			return err
		}
		buf = b.Data
		if !touches(wanted, b.Line, b.Line+int64(bytes.Count(b.Data, []byte{'\n'}))) {
			continue
		}
		if err := scan.Scan(b, take); err != nil {
			return err
		}
	}
}

func touches(wanted []excerpt, from, to int64) bool {
	for i := range wanted {
		if wanted[i].from <= to && from <= wanted[i].to {
			return true
		}
	}
	return false
}

// maxExcerpt bounds the text of one example in bytes.
const maxExcerpt = 8000

func (e *excerpt) take(v *trace.View, x *Exhibitor) {
	red := e.red
	if v.Line < e.from || v.Line > e.to || e.text.Len() > maxExcerpt ||
		string(v.TaskID) != e.task || v.Attempt != e.attempt || e.target != "" && string(v.Target) != e.target {
		return
	}
	if v.IsTask {
		t := v.Task()
		if t.Goal != "" {
			fmt.Fprintf(&e.text, "goal: %s\n", red.Text(t.Goal))
		}
		if t.Answer != nil {
			fmt.Fprintf(&e.text, "answer: %s\n", red.Text(*t.Answer))
		}
		if t.Pass != nil {
			fmt.Fprintf(&e.text, "passed: %v\n", *t.Pass)
		}
		return
	}
	s, before := v.Step(), red.Total()
	args := red.Payload(s.ArgsRaw) // which reasons may quote too
	if s.Args != nil {
		args = string(red.JSON(s.Args))
	}
	fmt.Fprintf(&e.text, "%s(%s)", trace.JoinTool(s.Tool, s.ToolVersion), args)
	if s.Status != "" {
		fmt.Fprintf(&e.text, "  %s", s.Status)
	}
	if s.ExecMS != nil {
		fmt.Fprintf(&e.text, "  %g ms", *s.ExecMS)
	}
	if s.Result != nil {
		fmt.Fprintf(&e.text, "\n  → %s", red.JSON(s.Result))
	}
	if s.Error != nil {
		fmt.Fprintf(&e.text, "\n  ! %s", red.JSON(s.Error))
	}
	if g := s.Gold; g != nil {
		e.gold(g, red)
		red.JSON(g.Result)
	}
	for _, r := range x.reasons(v, &s, red, red.Total() > before) {
		fmt.Fprintf(&e.text, "\n  ✗ %s", r)
	}
	e.text.WriteString("\n")
}

func (e *excerpt) gold(g *trace.Gold, red *redact.Redactor) {
	var parts []string
	switch {
	case g.Needed != nil && !*g.Needed:
		parts = append(parts, "not needed")
	case g.Tool != "":
		parts = append(parts, red.Text(g.Tool))
	}
	if g.Args != nil {
		parts = append(parts, string(red.JSON(g.Args)))
	}
	if g.ResultCheck != "" {
		parts = append(parts, red.Text(g.ResultCheck))
	}
	if len(parts) > 0 {
		fmt.Fprintf(&e.text, "\n  expected: %s", strings.Join(parts, " "))
	}
}

// WithoutSecrets masks secrets in the names that panels quote from traces: values of slices, tools,
// arguments. Figures and personal data stay; a slice may be named by a person's id.
func WithoutSecrets(p *panel.Panels, red *redact.Redactor) {
	for i := range p.Findings {
		for j, e := range p.Findings[i].Evidence {
			p.Findings[i].Evidence[j] = red.Name(e)
		}
	}
	for i := range p.Warnings {
		p.Warnings[i] = red.Name(p.Warnings[i])
	}
	for i := range p.Targets {
		t := &p.Targets[i]
		for j := range t.Slices {
			t.Slices[j].Value = red.Name(t.Slices[j].Value)
		}
		for j := range t.Confusion {
			t.Confusion[j].Expected, t.Confusion[j].Called = red.Name(t.Confusion[j].Expected),
				red.Name(t.Confusion[j].Called)
		}
	}
}

// WithoutSecretsInGates masks secrets in the citations of gates from panels, after the decision:
// gates find slices by their values.
func WithoutSecretsInGates(r *gates.Report, red *redact.Redactor) {
	each := func(texts ...*string) {
		for _, t := range texts {
			*t = red.Name(*t)
		}
	}
	each(&r.Sentence)
	for i := range r.Warnings {
		each(&r.Warnings[i])
	}
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		each(&v.Value, &v.Sentence, &v.Against, &v.Cure)
		for j := range v.Notes {
			each(&v.Notes[j])
		}
		for j := range v.Open {
			each(&v.Open[j].Why)
		}
	}
}
