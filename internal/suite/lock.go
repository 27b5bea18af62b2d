// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/internal/suite/dialect"
)

// Lock records the cases of a file when they were made. It is next to the file, in LockPath. A
// regression case that has changed, in any byte, is an error. Source: Eval Case Interfaces,
// "Immutable".
type Lock struct {
	Version int `json:"callvet_lock"`
	// States are the tools, prompts and models at the time when cases were made (StaleState).
	States []json.RawMessage `json:"states,omitempty"`
	Cases  []LockedCase      `json:"locked"`
}

// LockedCase is one case of a Lock.
type LockedCase struct {
	ID   string       `json:"id"`
	Tier callvet.Tier `json:"tier,omitempty"`
	// SHA256 is the hash of the text of the case in its file, with line ends as \n, in
	// hexadecimal digits.
	SHA256 string `json:"sha256"`
	// Locked is when the entry was made, in RFC 3339.
	Locked string `json:"at"`
	// State is a position in States; nil where nothing is known of it.
	State *int `json:"state,omitempty"`
	// Reviewed is when the case was reviewed and found valid in State.
	Reviewed string `json:"reviewed,omitempty"`
	// Archived is the time since which the case does not run, and Reason the reason; "" while it
	// runs.
	Archived string `json:"archived,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

const (
	lockVersion = 1
	// maxLock bounds a lock in bytes.
	maxLock = 64 << 20
)

// LockPath is the path of the lock of a suite's file.
func LockPath(file string) string { return file + ".lock" }

// ReadLock reads a lock. The error wraps callvet.ErrInvalid and names the mistake.
func ReadLock(name string, data []byte) (*Lock, error) {
	var l Lock
	if _, err := doc.Decode(name, data, &l); err != nil {
		return nil, fmt.Errorf("read lock: %w: %w", callvet.ErrInvalid, err)
	}
	if l.Version != lockVersion {
		return nil, &callvet.Hinted{Err: fmt.Errorf("read lock %s: %w: version %d is not known", name,
			callvet.ErrInvalid, l.Version), Hint: "update callvet"}
	}
	ids := map[string]bool{}
	for i := range l.Cases {
		c := &l.Cases[i]
		switch {
		case c.ID == "" || len(c.SHA256) != 2*sha256.Size:
			return nil, fmt.Errorf("read lock %s: %w: locked[%d] has no id or no sha256", name, callvet.ErrInvalid, i)
		case ids[c.ID]:
			return nil, fmt.Errorf("read lock %s: %w: the case %q stands twice", name, callvet.ErrInvalid, c.ID)
		case c.State != nil && (*c.State < 0 || *c.State >= len(l.States)):
			return nil, fmt.Errorf("read lock %s: %w: locked[%d] has the state %d of %d", name, callvet.ErrInvalid, i,
				*c.State, len(l.States))
		}
		ids[c.ID] = true
	}
	return &l, nil
}

// Bytes writes the lock as a file.
func (l *Lock) Bytes() ([]byte, error) {
	out := *l
	out.Version = lockVersion
	if out.Cases == nil {
		out.Cases = []LockedCase{}
	}
	b, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write lock: %w", err)
	}
	return append(b, '\n'), nil
}

// Find returns the entry of a case; nil when there is none.
func (l *Lock) Find(id string) *LockedCase {
	if l == nil {
		return nil
	}
	if i := slices.IndexFunc(l.Cases, func(c LockedCase) bool { return c.ID == id }); i >= 0 {
		return &l.Cases[i]
	}
	return nil
}

// Seal locks the cases of a file that have no entry yet, and returns their ids. A case of a tier
// other than regression may change: its entry is then replaced. state, when not nil, is the
// present state of tools, prompts and models.
func (l *Lock) Seal(file string, data []byte, cases []callvet.Case, now time.Time,
	state json.RawMessage,
) (sealed []string, err error) {
	sums, err := digests(file, data, cases)
	if err != nil {
		return nil, err
	}
	for i := range cases {
		c := &cases[i]
		e := l.Find(c.ID)
		switch {
		case e == nil:
			l.Cases = append(l.Cases, LockedCase{ID: c.ID})
			e = &l.Cases[len(l.Cases)-1]
		case c.Tier == callvet.TierRegression || e.Tier == callvet.TierRegression:
			continue // for good
		case e.SHA256 == sums[i] && (state == nil || e.State != nil):
			continue
		}
		e.Tier, e.SHA256, e.Locked, e.State = c.Tier, sums[i], now.UTC().Format(time.RFC3339), l.place(state)
		sealed = append(sealed, c.ID)
	}
	return sealed, nil
}

// Review records that all cases were reviewed in a state. It becomes their state; their locked
// texts stay.
func (l *Lock) Review(now time.Time, state json.RawMessage) {
	for i := range l.Cases {
		if c := &l.Cases[i]; c.Archived == "" {
			c.State, c.Reviewed = l.place(state), now.UTC().Format(time.RFC3339)
		}
	}
}

// StateOf is the state of tools and prompts when a case was made, or checked last; nil if unknown.
func (l *Lock) StateOf(id string) json.RawMessage {
	if e := l.Find(id); e != nil && e.State != nil {
		return l.States[*e.State]
	}
	return nil
}

// place is the position of a state in States, nil for none.
func (l *Lock) place(state json.RawMessage) *int {
	if state == nil {
		return nil
	}
	i := slices.IndexFunc(l.States,
		func(s json.RawMessage) bool { return bytes.Equal(suiteCompact(s), suiteCompact(state)) })
	if i < 0 {
		i, l.States = len(l.States), append(l.States, state)
	}
	return &i
}

func suiteCompact(raw json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

// Archive takes a case out of runs for good. The error wraps callvet.ErrNotFound for one
// without an entry, and callvet.ErrConflict for one that is archived.
func (l *Lock) Archive(id, reason string, now time.Time) error {
	e := l.Find(id)
	switch {
	case e == nil:
		return &callvet.Hinted{
			Err:  fmt.Errorf("archive case %q: %w in the lock", id, callvet.ErrNotFound),
			Hint: "callvet case lock FILE locks the cases of a file",
		}
	case e.Archived != "":
		return fmt.Errorf("archive case %q: %w: it is archived since %s", id, callvet.ErrConflict, e.Archived)
	}
	e.Archived, e.Reason = now.UTC().Format(time.DateOnly), reason
	return nil
}

// span is the place of the text of a case in its file.
type span struct{ from, to int }

// digests are the hashes of the texts of cases, in their order.
func digests(file string, data []byte, cases []callvet.Case) ([]string, error) {
	if doc.IsYAML(file, data) { // the YAML reader counts the lines of such a text
		data = doc.LineEnds(data)
	}
	at := make([]callvet.Position, len(cases))
	for i := range cases {
		at[i] = cases[i].Position
	}
	out := make([]string, len(cases))
	for i, s := range textsOf(file, data, at) {
		if s.to <= s.from {
			return nil, fmt.Errorf("lock %s: %w: the text of case %q is not found", file, callvet.ErrInvalid,
				cases[i].ID)
		}
		out[i] = digest(data[s.from:s.to])
	}
	return out, nil
}

// digest ignores the difference between line ends of systems: copies of a repository have either.
func digest(text []byte) string {
	sum := sha256.Sum256(doc.LineEnds(text))
	return hex.EncodeToString(sum[:])
}

// textsOf finds the texts that begin at positions of a file; an empty span is one that is
// not found.
func textsOf(file string, data []byte, at []callvet.Position) []span {
	lines := []int{0}
	for i, b := range data {
		if b == '\n' {
			lines = append(lines, i+1)
		}
	}
	yaml := doc.IsYAML(file, data)
	out := make([]span, len(at))
	for i, p := range at {
		if p.Line < 1 || p.Line > len(lines) {
			continue
		}
		from := lines[p.Line-1]
		for range p.Column - 1 {
			_, size := utf8.DecodeRune(data[min(from, len(data)):])
			from += size
		}
		from = min(from, len(data))
		var to int
		if from < len(data) && (!yaml || data[from] == '{') {
			to = bracketed(data, from)
		} else {
			to = indented(data, from, from-lines[p.Line-1])
		}
		out[i] = span{from, to}
	}
	return out
}

// bracketed is the end of the JSON value that begins at from; comments count as part of it.
func bracketed(data []byte, from int) int {
	depth := 0
	for i := from; i < len(data); i++ {
		switch b := data[i]; {
		case b == '{' || b == '[':
			depth++
		case b == '}' || b == ']':
			if depth--; depth == 0 {
				return i + 1
			}
		case b == '"':
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		case b == '/' && i+1 < len(data) && data[i+1] == '/':
			for i < len(data) && data[i] != '\n' {
				i++
			}
		case b == '/' && i+1 < len(data) && data[i+1] == '*':
			end := bytes.Index(data[i:], []byte("*/"))
			if end < 0 {
				return from
			}
			i += end + 1
		}
	}
	return from
}

// indented is the end of the YAML block with its first key at from, with so many columns before it.
func indented(data []byte, from, columns int) int {
	end := from
	for i := from; i < len(data); {
		next := len(data)
		if n := bytes.IndexByte(data[i:], '\n'); n >= 0 {
			next = i + n + 1
		}
		line := data[i:next]
		text := bytes.TrimLeft(line, " ")
		switch {
		case len(bytes.TrimSpace(text)) == 0, text[0] == '#':
		case i != from && len(line)-len(text) < columns, bytes.HasPrefix(line, []byte("---")),
			bytes.HasPrefix(line, []byte("...")):
			return end
		default:
			end = i + len(bytes.TrimRight(line, " \t\r\n"))
		}
		i = next
	}
	return end
}

// lockOf reads the lock of a file, nil where there is none.
func (o *Options) lockOf(file string) (*Lock, error) {
	if o.NoIncludes {
		return nil, nil
	}
	name := LockPath(file)
	f, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read lock: %w", err)
	}
	data, err := doc.ReadWhole(f, maxLock)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("read lock %s: %w", name, err)
	}
	return ReadLock(name, data)
}

// watch compares the cases of one file with its lock while they are read.
type watch struct {
	file string
	data []byte
	lock *Lock // nil: there is none
	seen []callvet.Case
	bare int // regression cases without a lock
	last callvet.Position
}

// takes compares the next case, and sets the skip reason of an archived one.
func (w *watch) takes(c *callvet.Case) {
	e := w.lock.Find(c.ID)
	if e == nil && c.Tier == callvet.TierRegression {
		if w.bare++; w.bare == 1 {
			w.last = c.Position
		}
	}
	if e == nil {
		return
	}
	w.seen = append(w.seen, callvet.Case{ID: c.ID, Tier: c.Tier, Position: c.Position})
	if e.Archived != "" && c.Skip == "" {
		c.Skip = "archived " + e.Archived
		if e.Reason != "" {
			c.Skip += ": " + e.Reason
		}
	}
}

// problems reports the differences from the lock after all cases.
func (w *watch) problems() []callvet.Problem {
	var out []callvet.Problem
	if w.bare > 0 {
		out = append(out, callvet.Problem{
			Position: w.last, Code: "not-locked", Warning: true, Fix: "callvet case lock " + filepath.Base(w.file),
			Message: fmt.Sprintf(
				"%d regression cases of the file are not locked: a change of one would not be noticed", w.bare),
		})
	}
	if w.lock == nil {
		return out
	}
	sums, err := digests(w.file, w.data, w.seen)
	if err != nil {
		return append(out,
			callvet.Problem{Position: callvet.Position{File: w.file}, Code: "regression-changed", Message: err.Error()})
	}
	there := map[string]bool{}
	for i := range w.seen {
		c := &w.seen[i]
		there[c.ID] = true
		e := w.lock.Find(c.ID)
		if sums[i] == e.SHA256 || c.Tier != callvet.TierRegression && e.Tier != callvet.TierRegression {
			continue
		}
		out = append(out, callvet.Problem{
			Position: c.Position, Case: c.ID, Code: "regression-changed",
			Fix: "restore its text; callvet case archive takes a case out that does not apply any more",
			Message: fmt.Sprintf(
				"the regression case was changed after it was locked on %s: its sha256 is %s…, not %s…", day(e.Locked),
				sums[i][:12], e.SHA256[:12]),
		})
	}
	for i := range w.lock.Cases {
		if e := &w.lock.Cases[i]; e.Tier == callvet.TierRegression && e.Archived == "" && !there[e.ID] {
			out = append(out, callvet.Problem{
				Position: callvet.Position{File: w.file}, Case: e.ID, Code: "regression-gone",
				Fix: "put it back; callvet case archive takes a case out that does not apply any more",
				Message: fmt.Sprintf("the regression case %q, which was locked on %s, is not in the file any more",
					e.ID, day(e.Locked)),
			})
		}
	}
	return out
}

func day(at string) string { d, _, _ := strings.Cut(at, "T"); return d }

// watched compares the cases that are read from a file with its lock.
func (r *reading) watched(file string, data []byte, opt Options) (*reading, error) {
	lock, err := opt.lockOf(file)
	if err != nil {
		return nil, err
	}
	w := &watch{file: file, data: data, lock: lock}
	r.files[0].Lock = lock
	cases, problems := r.cases, r.problems
	r.cases = func(yield func(*callvet.Case) bool) {
		for c := range cases {
			if w.takes(c); !yield(c) {
				return
			}
		}
	}
	r.problems = func() []callvet.Problem {
		out := append(slices.Clip(problems()), w.problems()...)
		inOrderOfFile(out)
		return out
	}
	return r, nil
}

// watchAll is like watched, for cases in memory.
func watchAll(cases []callvet.Case, file string, data []byte, opt Options) ([]callvet.Problem, *Lock, error) {
	lock, err := opt.lockOf(file)
	if err != nil {
		return nil, nil, err
	}
	w := &watch{file: file, data: data, lock: lock}
	for i := range cases {
		w.takes(&cases[i])
	}
	return w.problems(), lock, nil
}

// fileOf returns the data about a file without its cases.
func fileOf(name string, data []byte, lock *Lock) File {
	sum := sha256.Sum256(data)
	return File{Name: name, Hash: hex.EncodeToString(sum[:]), Metadata: dialect.Envelope(data, name), Lock: lock}
}
