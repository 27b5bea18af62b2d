// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package mcp

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"testing"
)

// TestServeBadLines: a line that is no message is answered with an error, and the conversation
// continues.
func TestServeBadLines(t *testing.T) {
	t.Parallel()
	const call = `{"jsonrpc":"2.0","id":"last","method":"tools/call","params":{"name":"zeta","arguments":{}}}`
	for name, c := range map[string]struct{ line, id, want string }{
		"no JSON":                 {"garbage", "null", `"code":-32700`},
		"half of a message":       {`{"jsonrpc":"2.0","id":7,`, "null", `"code":-32700`},
		"an unclosed batch":       {`[{"jsonrpc":"2.0"`, "null", `"code":-32700`},
		"another version":         {`{"jsonrpc":"1.0","id":7,"method":"ping"}`, "7", `"code":-32600`},
		"no message":              {`{"id":7,"a":1}`, "7", `"code":-32600`},
		"an id that is an object": {`{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`, "null", `"code":-32600`},
		"an empty batch":          {`[]`, "null", `the batch is empty`},
		"a batch with a bad one":  {`[1,{"jsonrpc":"2.0","id":7,"method":"ping"}]`, "7", `"result":{}`},
		"a line that is too long": {
			`{"jsonrpc":"2.0","id":7,"method":"` + strings.Repeat("x", 5000) + `"}`, "null",
			"more than 4096 bytes",
		},
		"a call without a name": {
			`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"arguments":{}}}`, "7",
			"no tool is named",
		},
		"a call with a blank name":  {`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":" ","arguments":{}}}`, "7", "no tool is named"},
		"arguments that are a text": {`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"zeta","arguments":"x"}}`, "7", "the arguments are no object"},
		"bytes that are no text":    {"\x00\xff\xfe", "null", `"code":-32700`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &desktop{}
			got, err := raw(t, &Serving{Open: d.Open, MaxBytes: 4096}, begin, c.line, call)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(got[c.id], c.want) {
				t.Errorf("%s: %s, want %s", c.id, got[c.id], c.want)
			}
			if !strings.Contains(got[`"last"`], `"structuredContent":{"z":1,`) { // the only call that was made
				t.Errorf("afterwards: %s", got[`"last"`])
			}
		})
	}
}

// TestBatchOfNonsense: a long batch of what is no message has a short answer.
func TestBatchOfNonsense(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	m := &messages{
		in:  bufio.NewReader(strings.NewReader("[" + strings.Repeat("1,", 5000) + "1]\n")),
		out: &lineWriter{out: &out}, most: 1 << 20,
	}
	if b, err := io.ReadAll(m); err != nil || len(b) > 0 {
		t.Errorf("%q %v", b, err)
	}
	if n := strings.Count(out.String(), "\n"); n != maxRefused {
		t.Errorf("%d answers", n)
	}
}

// TestServeSameID: two calls with one id are both made and both answered.
func TestServeSameID(t *testing.T) {
	t.Parallel()
	d := &desktop{}
	d.meet.Add(3) // all three wait for their answer at the same time
	const call = `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"meet","arguments":{}}}`
	var out bytes.Buffer
	s := &Serving{Open: d.Open}
	if err := s.Stdio(t.Context(), strings.NewReader(strings.Join([]string{begin, call, call, call}, "\n")),
		&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`{"z":1}`, `{"z":2}`, `{"z":3}`} {
		if strings.Count(out.String(), want) != 1 {
			t.Errorf("%s: %s", want, out.String())
		}
	}
	if n := strings.Count(out.String(), `"id":4,`); n != 3 {
		t.Errorf("%d answers have the id: %s", n, out.String())
	}
}

// FuzzLines: whatever an agent sends, only messages are handed on, one on a line.
func FuzzLines(f *testing.F) {
	for _, s := range []string{
		"", "\n", "{}", "[[]]", `[{"jsonrpc":"2.0","method":"a"}]`, "\x00",
		`{"jsonrpc":"2.0","id":1e999,"method":"a"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var out bytes.Buffer
		m := &messages{in: bufio.NewReader(bytes.NewReader(b)), out: &lineWriter{out: &out}, most: 64}
		read, err := io.ReadAll(m)
		if err != nil {
			t.Fatal(err)
		}
		again := &messages{in: bufio.NewReader(bytes.NewReader(read)), out: &lineWriter{out: &out}, most: 1 << 20}
		reported := out.Len()
		if twice, err := io.ReadAll(again); err != nil || !bytes.Equal(read, twice) || out.Len() != reported {
			t.Fatalf("%q, then %q (%v)", read, twice, err)
		}
	})
}
