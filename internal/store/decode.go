// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/callvet/callvet"
)

// reader reads JSON that the appenders of this package wrote, and no other. It need not be strict,
// but must never panic. It costs a tenth of encoding/json, which matters when a report streams a
// whole run.
type reader struct {
	b     []byte
	i     int
	err   error
	words words
	// redacted is Cell.Redacted of the trace that was read.
	redacted int
}

// words are texts that many cells of a stream share, such as names of tools and scores: each is
// made once. Nil keeps none.
type words map[string]string

// Limits of stored data.
const (
	maxWords = 1 << 10
	maxWord  = 64 // bytes
)

func (w words) of(b []byte) string {
	if s, ok := w[string(b)]; ok {
		return s
	}
	s := string(b)
	if w != nil && len(w) < maxWords && len(s) <= maxWord {
		w[s] = s
	}
	return s
}

func (r *reader) fail(want string) {
	if r.err == nil {
		r.err = fmt.Errorf("byte %d: want %s: %w", r.i, want, callvet.ErrInvalid)
	}
}

// peek is the next byte that is not space; 0 at the end or after an error.
func (r *reader) peek() byte {
	for r.err == nil && r.i < len(r.b) {
		switch c := r.b[r.i]; c {
		case ' ', '\n', '\t', '\r':
			r.i++
		default:
			return c
		}
	}
	return 0
}

// begin enters an object or array; false for null and errors.
func (r *reader) begin(c byte) bool {
	switch r.peek() {
	case c:
		r.i++
		return true
	case 'n':
		r.token()
		return false
	}
	r.fail(strconv.QuoteRune(rune(c)))
	return false
}

// more reports whether another member or element follows; it leaves the object
// or array at its end.
func (r *reader) more(end byte) bool {
	c := r.peek()
	if c == ',' {
		r.i++
		c = r.peek()
	}
	switch c {
	case end:
		r.i++
		return false
	case 0:
		r.fail("a value")
		return false
	}
	return true
}

// key reads a member's name and its colon. Names are plain ASCII.
func (r *reader) key() []byte {
	k := r.quoted()
	if r.peek() != ':' {
		r.fail("a colon")
		return nil
	}
	r.i++
	if len(k) < 2 {
		return nil
	}
	return k[1 : len(k)-1]
}

// quoted is the next string with its quotes.
func (r *reader) quoted() []byte {
	if r.peek() != '"' {
		r.fail("a string")
		return nil
	}
	start := r.i
	for i := start + 1; i < len(r.b); i++ {
		switch r.b[i] {
		case '\\':
			i++
		case '"':
			r.i = i + 1
			return r.b[start:r.i]
		}
	}
	r.fail("the end of a string")
	return nil
}

func (r *reader) str() string {
	q := r.quoted()
	if len(q) < 2 {
		return ""
	}
	if bytes.IndexByte(q, '\\') < 0 {
		return string(q[1 : len(q)-1])
	}
	var s string
	if err := json.Unmarshal(q, &s); err != nil {
		r.fail("a valid string")
	}
	return s
}

// word is str for a text that other cells have too.
func (r *reader) word() string {
	q := r.quoted()
	if len(q) < 2 {
		return ""
	}
	if bytes.IndexByte(q, '\\') >= 0 {
		r.i -= len(q)
		return r.str()
	}
	return r.words.of(q[1 : len(q)-1])
}

// token is a number or a literal.
func (r *reader) token() []byte {
	r.peek()
	start := r.i
	for r.i < len(r.b) {
		switch r.b[r.i] {
		case ',', '}', ']', ' ', '\n', '\t', '\r':
			return r.b[start:r.i]
		}
		r.i++
	}
	return r.b[start:r.i]
}

// float reads a number; ok is false for null.
func (r *reader) float() (f float64, ok bool) {
	t := r.token()
	if string(t) == "null" {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(t), 64)
	if err != nil {
		r.fail("a number")
	}
	return f, err == nil
}

func (r *reader) number() float64 { f, _ := r.float(); return f }

func (r *reader) pointer() *float64 {
	if f, ok := r.float(); ok {
		return &f
	}
	return nil
}

func (r *reader) integer() int {
	n, err := strconv.Atoi(string(r.token()))
	if err != nil {
		r.fail("an integer")
	}
	return n
}

func (r *reader) truth() bool { return string(r.token()) == "true" }

// skip skips one value and returns it.
func (r *reader) skip() []byte {
	c := r.peek()
	start := r.i
	switch c {
	case '"':
		return r.quoted()
	case '{', '[':
	case 0, ',', ':', '}', ']':
		r.fail("a value")
		return nil
	default:
		return r.token()
	}
	for depth := 0; r.i < len(r.b); {
		switch r.b[r.i] {
		case '"':
			if r.quoted() == nil {
				return nil
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		r.i++
		if depth == 0 {
			return r.b[start:r.i]
		}
	}
	r.fail("the end of a value")
	return nil
}

func (r *reader) raw() json.RawMessage { return bytes.Clone(r.skip()) }

// list reads an array; nil for null and for an empty one.
func list[T any](r *reader, one func(*reader, *T)) (out []T) {
	if !r.begin('[') {
		return nil
	}
	for r.more(']') {
		var zero T
		out = append(out, zero)
		one(r, &out[len(out)-1])
	}
	return out
}

func readString(r *reader, s *string) { *s = r.str() }

func (r *reader) timestamp() time.Time {
	t, err := time.Parse(time.RFC3339Nano, r.str())
	if err != nil {
		r.fail("a time")
	}
	return t
}

// stored has the stored parts of a cell.
type stored struct {
	columns
	result, trace, exchanges []byte
}

// decode fills a cell from its stored parts; w are the words of the stream. If a record cannot be
// read, the cell is lost; the other cells of the run stay readable.
func decode(c *callvet.Cell, from *stored, w words) {
	from.at.of(c)
	err := from.check()
	if err == nil {
		err = decodeParts(c, from, w)
	}
	if err == nil {
		err = checkCell(c)
	}
	if err != nil {
		c.Lost(string(from.caseID), err)
	}
}

func decodeParts(c *callvet.Cell, from *stored, w words) (err error) {
	if from.result, err = unseal(from.result); err != nil {
		return fmt.Errorf("result: %w", err)
	}
	if from.exchanges, err = unseal(from.exchanges); err != nil {
		return fmt.Errorf("exchanges: %w", err)
	}
	r := reader{b: from.result, words: w}
	readResult(&r, &c.Result)
	if r.end(); r.err != nil {
		return fmt.Errorf("result: %w", r.err)
	}
	if c.Redacted, err = decodeTrace(from.trace, &c.Trace, w); err != nil {
		return err
	}
	if len(from.exchanges) == 0 {
		return nil
	}
	r = reader{b: from.exchanges, words: w}
	c.Trace.Exchanges = list(&r, readExchange)
	if r.end(); r.err != nil {
		return fmt.Errorf("exchanges: %w", r.err)
	}
	return nil
}

// decodeTrace reads a stored trace, and the version of the redaction that wrote it.
func decodeTrace(b []byte, t *callvet.Trace, w words) (redacted int, err error) {
	if b, err = unseal(b); err != nil {
		return 0, fmt.Errorf("trace: %w", err)
	}
	r := reader{b: b, words: w}
	readTrace(&r, t)
	if r.end(); r.err != nil {
		return 0, fmt.Errorf("trace: %w", r.err)
	}
	return r.redacted, nil
}

// end fails if anything follows the value.
func (r *reader) end() {
	if r.peek() != 0 || r.i < len(r.b) {
		r.fail("the end of the record")
	}
}

// checkTrace returns an error for statuses and other words that this version does not know.
func checkTrace(t *callvet.Trace) error {
	switch t.Outcome {
	case callvet.OutcomeCalled, callvet.OutcomeAbstained, callvet.OutcomeUnparseable, callvet.OutcomeError,
		callvet.OutcomeNotRun:
	default:
		return unknownWord("outcome", string(t.Outcome))
	}
	if t.Outcome == callvet.OutcomeError && t.Fault == nil {
		return fmt.Errorf("trace: an error without its fault: %w", callvet.ErrInvalid)
	}
	switch t.Format {
	case "", callvet.FormatPass, callvet.FormatNormalized, callvet.FormatFail:
	default:
		return unknownWord("format", string(t.Format))
	}
	for i := range t.Turns {
		if err := checkTurn(&t.Turns[i]); err != nil {
			return err
		}
	}
	return nil
}

func checkTurn(t *callvet.Turn) error {
	if t.Role == "" {
		return unknownWord("role", "")
	}
	for i := range t.Calls {
		c := &t.Calls[i]
		switch c.Status {
		case "", callvet.StatusOK, callvet.StatusRejected, callvet.StatusExecErr, callvet.StatusTimeout:
		default:
			return unknownWord("status", string(c.Status))
		}
		for _, d := range c.Guard {
			switch d.Action {
			case callvet.RulingDeny, callvet.RulingRedact, callvet.RulingFlag, callvet.RulingConfirm,
				callvet.RulingWait:
			default:
				return unknownWord("action of a guard", string(d.Action))
			}
		}
	}
	return nil
}

// checkCell returns an error for an unknown verdict, or one that an attempt with the outcome cannot
// have. Earlier versions wrote no verdict for an error.
func checkCell(c *callvet.Cell) error {
	if err := checkTrace(&c.Trace); err != nil {
		return err
	}
	judged := c.Trace.Outcome != callvet.OutcomeError && c.Trace.Outcome != callvet.OutcomeNotRun
	switch v := c.Result.Verdict; v {
	case callvet.VerdictPass, callvet.VerdictFail, callvet.VerdictNotRun:
		return nil
	case "", callvet.VerdictError:
		if v == "" && judged {
			return fmt.Errorf("result: an attempt that was judged has no verdict: %w", callvet.ErrInvalid)
		}
		return nil
	}
	return unknownWord("verdict", string(c.Result.Verdict))
}

func unknownWord(name, word string) error {
	const most = 40
	if len(word) > most {
		word = strings.ToValidUTF8(word[:most], "") + "…"
	}
	return fmt.Errorf("the %s %q is not known: %w", name, word, callvet.ErrInvalid)
}
