// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel"
)

// maxAttempt is how many bytes the short JSON of an attempt has at most, with its newline.
const maxAttempt = 2000

// attemptJSON is one attempt with its case.
type attemptJSON struct {
	Case   callvet.Case   `json:"case"`
	Target string         `json:"target"`
	Result callvet.Result `json:"result"`
	Trace  callvet.Trace  `json:"trace"`
	// LeftOut counts the parts that the short form omits, by their kind; cut texts count their
	// bytes themselves.
	LeftOut map[string]int `json:"left_out,omitempty"`
}

// AttemptJSON writes an attempt on one line. With full it writes all stored data, else at most
// 2,000 bytes with the reasons for the outcome.
func AttemptJSON(w io.Writer, target string, r Row, full bool) error {
	a := attemptJSON{Case: *r.Case, Target: target, Result: r.Cell.Result, Trace: r.Cell.Trace}
	if full {
		return json.NewEncoder(w).Encode(&a)
	}
	a.shorten()
	own := a.LeftOut
	for i, l := range attemptLimits {
		if i == 1 { // the comparison of calls and assertions contains the expected values
			a.Case.Expect, own["expectation"] = callvet.Expect{}, 1
		}
		c := cutter{limits: l, left: map[string]int{}}
		maps.Copy(c.left, own)
		line, err := c.line(&a)
		if err != nil {
			return err
		}
		if len(line) <= maxAttempt {
			_, err = w.Write(line)
			return err
		}
	}
	a.LeftOut = map[string]int{
		"turns": len(r.Cell.Trace.Turns), "calls compared": len(r.Cell.Result.Calls),
		"scores": len(r.Cell.Result.Scores),
	}
	a.Case = callvet.Case{ID: plain.Limited(a.Case.ID, 200)}
	a.Target = plain.Limited(target, 200)
	a.Result = callvet.Result{Verdict: a.Result.Verdict, Class: a.Result.Class, Reason: plain.Limited(a.Result.Reason, 200)}
	a.Trace = callvet.Trace{Repeat: a.Trace.Repeat, Outcome: a.Trace.Outcome, Reason: a.Trace.Reason}
	return json.NewEncoder(w).Encode(&a)
}

// shorten omits fields that are empty, that follow from the others, or that are in the suite.
func (a *attemptJSON) shorten() {
	a.LeftOut = map[string]int{}
	drop := func(what string, n int) {
		if n > 0 {
			a.LeftOut[what] += n
		}
	}
	a.Case = callvet.Case{ID: a.Case.ID, Input: a.Case.Input, Expect: a.Case.Expect}
	r := &a.Result
	n := len(r.Scores)
	r.Scores = slices.DeleteFunc(slices.Clone(r.Scores), func(s callvet.Score) bool {
		best := 1.0
		if panel.Describe(s.Name).LowerIsBetter {
			best = 0
		}
		return s.Reason == "" && s.Scored && s.Value == best
	})
	drop("best scores", n-len(r.Scores))
	if i := slices.IndexFunc(r.Scores, func(s callvet.Score) bool { return s.Name == "overall" }); i > 0 {
		overall := r.Scores[i] // the first one stays longest
		r.Scores = slices.Insert(slices.Delete(r.Scores, i, i+1), 0, overall)
	}
	r.Calls = slices.Clone(r.Calls)
	for i := range r.Calls {
		c := &r.Calls[i]
		c.GotArgs = nil // the trace has them
		n := len(c.Args)
		c.Args = slices.DeleteFunc(slices.Clone(c.Args), func(d callvet.ArgDiff) bool { return d.Matched })
		drop("matched arguments", n-len(c.Args))
		if c.State == callvet.StateMatched {
			c.WantArgs = nil
		}
	}
	n = len(r.Assertions)
	r.Assertions = slices.DeleteFunc(slices.Clone(r.Assertions),
		func(x callvet.Assertion) bool { return x.State == callvet.AssertPassed })
	drop("passed assertions", n-len(r.Assertions))
	r.Rules = 0
	t := &a.Trace
	drop("exchanges", len(t.Exchanges))
	t.Exchanges, t.ToolChoice, t.Started = nil, "", time.Time{}
	if t.Format == callvet.FormatPass {
		t.Format = ""
	}
	var answered []string // calls with their results
	n = len(t.Turns)
	t.Turns = slices.DeleteFunc(slices.Clone(t.Turns), func(u callvet.Turn) bool {
		for i := range u.Calls {
			if len(u.Calls[i].Result) > 0 || u.Calls[i].Error != "" {
				answered = append(answered, u.Calls[i].ID)
			}
		}
		return u.Role == callvet.RoleTool && slices.Contains(answered, u.CallID)
	})
	drop("turns of tools", n-len(t.Turns))
	if k := len(t.Turns); k > 0 && t.Turns[k-1].Content == t.Answer {
		t.Answer = ""
	}
	for i := range t.Turns {
		t.Turns[i].Raw = nil
	}
}

// limits bound the bytes of texts, the elements of lists and, from a depth on, the members of objects.
type limits struct{ text, list int }

// attemptLimits are tried one after the other.
var attemptLimits = [...]limits{{400, 50}, {200, 20}, {120, 10}, {80, 6}, {60, 4}, {40, 3}, {30, 2}, {20, 1}}

// freeDepth is the depth to which objects keep all their members: the members of a result, a
// trace and a call have fixed meanings.
const freeDepth = 6

// cutter rewrites JSON within limits, in the same order.
type cutter struct {
	limits
	left map[string]int
	out  bytes.Buffer
}

// line is the attempt within the limits.
func (c *cutter) line(a *attemptJSON) ([]byte, error) {
	whole := *a
	whole.LeftOut = nil
	text, err := json.Marshal(&whole)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := c.value(dec, 0); err != nil {
		return nil, err
	}
	if len(c.left) > 0 {
		left, err := json.Marshal(c.left)
		if err != nil {
			return nil, err
		}
		c.out.Truncate(c.out.Len() - 1) // the brace
		c.out.WriteString(`,"left_out":`)
		c.out.Write(left)
		c.out.WriteByte('}')
	}
	c.out.WriteByte('\n')
	return c.out.Bytes(), nil
}

// value writes the next value.
func (c *cutter) value(dec *json.Decoder, depth int) error {
	tok, err := dec.Token()
	if err != nil {
		return err
	}
	switch tok := tok.(type) {
	case json.Delim:
		return c.list(dec, tok == '{', depth+1)
	case string:
		text, err := json.Marshal(plain.Limited(tok, c.text))
		c.out.Write(text)
		return err
	}
	text, err := json.Marshal(tok)
	c.out.Write(text)
	return err
}

// list writes the rest of an array or an object.
func (c *cutter) list(dec *json.Decoder, object bool, depth int) error {
	what, ends := "elements of lists", "[]"
	if object {
		what, ends = "members of objects", "{}"
	}
	c.out.WriteByte(ends[0])
	for i := 0; dec.More(); i++ {
		end := c.out.Len()
		if i > 0 {
			c.out.WriteByte(',')
		}
		if object {
			if err := c.value(dec, depth); err != nil {
				return err
			}
			c.out.WriteByte(':')
		}
		within := c.left
		beyond := i >= c.limits.list && (!object || depth > freeDepth)
		if beyond { // its content is not counted again
			c.left = map[string]int{}
		}
		if err := c.value(dec, depth); err != nil {
			return err
		}
		if beyond {
			c.out.Truncate(end)
			c.left = within
			c.left[what]++
		}
	}
	c.out.WriteByte(ends[1])
	_, err := dec.Token()
	return err
}
