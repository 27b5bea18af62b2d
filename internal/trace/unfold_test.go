// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

// printed is the record of "Evaluating Tool Calling", §2.2, as that document prints it.
const printed = `{
  "task_id": "t_10023",
  "turn_id": 3,
  "call_id": "t_10023#3#1",
  "tool": "get_refund_policy@v3",
  "args": {"country":"AR","product_type":"electronics"},
  "args_raw": "{...}",                    // original emitted payload
  "accept_time_ms": 173,
  "result": {"window_days":30,"exceptions":["defecto..."]},
  "error": null,
  "latency_ms": {"queue":2,"exec":24},
  "status": "ok",                         // ok | rejected_by_contract | exec_error | timeout
  "gold": {                               // optional for labeled sets
    "needed": true,                       // whether this call was needed at this point
    "args": {"country":"AR","product_type":"electronics"},
    "result_check": "window_days==30"
  },
  "tags": ["refunds","es-AR"]
}
`

// readAt returns the records with their lines, and the problems.
func readAt(t *testing.T, text string) []string {
	t.Helper()
	r, err := Open(iotest.HalfReader(strings.NewReader(text)), Options{})
	if err != nil {
		return []string{err.Error()}
	}
	var out []string
	for {
		v, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			out = append(out, err.Error())
			break
		}
		out = append(out, fmt.Sprintf("%d %s", v.Line, v.TaskID))
	}
	for _, p := range r.Log().Problems("f") {
		out = append(out, p.Error())
	}
	return out
}

// mixed is the message about a line that ends too early.
const mixed = " (the record is cut off, or goes on in the next line: write each on one line)"

func TestFolded(t *testing.T) {
	t.Parallel()
	const a, b = `{"task_id":"a","tool":"x"}`, `{"task_id":"b","tool":"x"}`
	for text, want := range map[string][]string{
		printed:                                       {"1 t_10023"},
		"\n// one\n" + printed + printed:              {"3 t_10023", "22 t_10023"},
		"[" + a + "," + b + "]":                       {"1 a", "2 b"},
		"[\n" + a + ",\n\n" + b + "\n]\n":             {"2 a", "4 b"},
		"[\r\n" + a + ",\r\n" + b + "\r\n]":           {"2 a", "3 b"},
		"[" + a + "," + b + ",\n" + printed + "]":     {"1 a", "2 b", "3 t_10023"},
		a + " // the first\n" + b + "\n":              {"1 a", "2 b"},
		"/* all\nof them */ " + a + "\n" + b:          {"2 a", "3 b"},
		"{\"task_id\":\"a\",\n\"tool\":\"x\",}\n" + b: {"1 a", "3 b"},
		"\ufeff[" + a + "]":                           {"1 a"},
		// Comments and brackets in strings are text.
		"[{\"task_id\":\"a // b /* c\",\n\"tool\":\"]}\\\"{[\"}]": {"1 a // b /* c"},
		// A mistake is reported with its line.
		"[\n" + a + ",\n{\"task_id\":\"b\",\n \"tool\":\"x\",\n \"status\":\"done\"}]": {
			"2 a",
			`f:5: "status" is "done"; it must be ok, rejected_by_contract, exec_error or timeout`,
		},
		"{\n\"task_id\": \"a\"\n\"tool\": \"x\"\n}\n" +
			b: {"5 b", "f:3: not JSON: byte 17: expected , or } in an object"},
		// A record without its end does not take the next one with it.
		"{\n\"task_id\": \"c\",\n\"args\": {\"n\": 1\n" + a + "\n" +
			b: {"4 a", "5 b", "f:3: not JSON: byte 33: an object is not closed"},
		"{\n\"task_id\": \"c,\n\"tool\": 1\n" +
			a: {"4 a", "f:2: not JSON: byte 16: raw control character in a string"},
		"[\n" + a + ",\n5, \"b\"\n]": {
			"2 a",
			"f:3: the line is a number, not an object", "f:4: the line is a string, not an object",
		},
		"{\n\"task_id\": /* never ends\n\"a\"}": {"read traces, line 1: the comment that begins in line 2 has no end: invalid"},
		// A first line that is only broken is a line.
		`{"task_id":"c"` + "\n" + a + "\n" +
			b: {"2 a", "3 b", "f:1: not JSON: byte 14: an object is not closed" + mixed},
		`{"task_id":"c","args":` + "\n" + a + "\n" +
			b: {"2 a", "3 b", "f:1: not JSON: byte 22: unexpected end" + mixed},
		`{"task_id":"c","args":` + "\n" + a: {"2 a", "f:1: not JSON: byte 22: unexpected end" + mixed},
		`{"task_id":"c` + "\n" + a: {
			"2 a",
			"f:1: not JSON: byte 13: a string is not closed" + mixed,
		},
		"nothing\n" + a: {"2 a", "f:1: not JSON: byte 0: not a JSON literal"},
		a + "\n" + printed[:30] + "\n" +
			b: {
			"1 a", "5 b", "f:2: not JSON: byte 1: expected a member name" + mixed,
			"f:3: not JSON: byte 11: data after the value", "f:4: not JSON: byte 4: a string is not closed" + mixed,
		},
		"":   nil,
		"[]": nil,
	} {
		if d := cmp.Diff(want, readAt(t, text)); d != "" {
			t.Errorf("%q: %s", text, d)
		}
	}
}

// TestFoldedAgrees writes the same records as lines and folded, with comments and spaces
// wherever JSON may have them: they must be read alike, at the lines where they begin.
func TestFoldedAgrees(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	for round := range 300 {
		var records []string
		for i := range 1 + rnd.IntN(20) {
			records = append(records,
				fmt.Sprintf(
					`{"task_id":"t%d","tool":"x@v1","turn_id":%d,"args":{"a":[1,{"b":"// \" }"}],"c":{}},"tags":["[","/*"]}`, i, i))
		}
		var b bytes.Buffer
		var want []string
		array := rnd.IntN(2) == 0
		space := func() {
			for range rnd.IntN(3) {
				b.WriteString([]string{" ", "\n", "\r\n", "\t", "// note }\n", "/* { \n */"}[rnd.IntN(6)])
			}
		}
		if array {
			b.WriteByte('[')
		} else if round%2 == 0 {
			b.WriteString("// first\n")
		}
		for i, r := range records {
			space()
			if i > 0 {
				b.WriteByte('\n')
			}
			line := 1 + bytes.Count(b.Bytes(), []byte("\n"))
			want = append(want, fmt.Sprintf("%d t%d", line, i))
			inString := false
			for j := range len(r) {
				if r[j] == '"' && r[j-1] != '\\' {
					inString = !inString
				}
				b.WriteByte(r[j])
				if !inString && strings.IndexByte(",:{}[]", r[j]) >= 0 && j+1 < len(r) {
					space()
				}
			}
			space()
			if array && i+1 < len(records) {
				b.WriteByte(',')
			}
		}
		if array {
			b.WriteString("]\n")
		}
		if !array && value1(records[0], b.String()) { // records on lines of their own, after all
			continue
		}
		if d := cmp.Diff(want, readAt(t, b.String())); d != "" {
			t.Fatalf("%s\n%s", b.String(), d)
		}
	}
}

// value1 reports whether a text begins with a record as it is.
func value1(record, text string) bool { return strings.HasPrefix(strings.TrimSpace(text), record+"\n") }

// TestFoldedMemory: a record is not held by who unfolds it, nor are the spaces behind a comma.
func TestFoldedMemory(t *testing.T) {
	t.Parallel()
	for _, text := range []io.Reader{
		io.MultiReader(strings.NewReader("[\n{\"task_id\":\"a\",\"goal\":\""), io.LimitReader(endless('x'), 24<<20),
			strings.NewReader("\"}]")),
		io.MultiReader(strings.NewReader("[\n{\"task_id\":\"a\","), io.LimitReader(endless('\n'), 24<<20),
			strings.NewReader("}]")),
		io.MultiReader(strings.NewReader("[\n"), io.LimitReader(endless('['), 24<<20)),
	} {
		u, top := newUnfold(text), 0
		buf := make([]byte, 64<<10)
		for {
			_, err := u.Read(buf)
			top = max(top, cap(u.out)+cap(u.nest))
			if err != nil {
				break
			}
		}
		if top > 8<<20 {
			t.Errorf("%d bytes were held", top)
		}
	}
}

type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

// FuzzUnfold: whatever the text is, nothing panics, the number of lines is never less than
// that of records, and records that are read once are read again from what Writer wrote.
func FuzzUnfold(f *testing.F) {
	f.Add([]byte(printed))
	f.Add([]byte("[" + printed + "," + printed + "]"))
	f.Add([]byte("{\"task_id\":\"a\", // x\n\"tool\":\"y\",}\n{\"task_id\":\"b\",\n\"tool\":\"y\"}"))
	f.Add([]byte("[[[{\"/*\": //\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := Open(bytes.NewReader(text), Options{MaxLine: 1 << 12})
		if err != nil {
			return
		}
		n := int64(0)
		for {
			v, err := r.Next()
			if err != nil {
				if !errors.Is(err, io.EOF) && !errors.Is(err, callvet.ErrInvalid) {
					t.Fatal(err)
				}
				break
			}
			if !json.Valid(v.Raw) || v.Line < 1 {
				t.Fatalf("line %d: %s", v.Line, v.Raw)
			}
			n++
		}
		if log := r.Log(); log.Steps+log.Tasks != n || log.Lines < n {
			t.Fatalf("%d records: %+v", n, log)
		}
	})
}
