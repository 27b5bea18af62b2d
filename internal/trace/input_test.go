// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/callvet/callvet"
)

func TestCutGzip(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	for i := range 5000 {
		fmt.Fprintf(z, `{"task_id":"t%d","tool":"a"}`+"\n", i)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{12, 40, b.Len() / 2, b.Len() - 9} {
		r, err := Open(bytes.NewReader(b.Bytes()[:n]), Options{Strict: true}) // the beginning of a line is no bad line
		for err == nil {
			_, err = r.Next()
		}
		if !errors.Is(err, callvet.ErrInvalid) || !strings.Contains(err.Error(), "gzip") {
			t.Errorf("cut after %d of %d bytes: %v", n, b.Len(), err)
		}
	}
}

// TestLongLineInPieces: what was looked at is not looked at again, or a line that
// comes byte by byte would take hours.
func TestLongLineInPieces(t *testing.T) {
	t.Parallel()
	text := `{"task_id":"t","tool":"f","result":"` + strings.Repeat("x", 1<<20) + `"}` + "\n" +
		`{"task_id":"u","tool":"f"}`
	r, err := Open(iotest.OneByteReader(strings.NewReader(text)), Options{Block: 1 << 10})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"t", "u"} {
		if v, err := r.Next(); err != nil || string(v.TaskID) != want {
			t.Fatalf("not %s (%v)", want, err)
		}
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// TestSlipsInLabels: a label with a misspelled name is reported, not lost in silence.
func TestSlipsInLabels(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]UnknownKey{
		`{"task_id":"t","tool":"f","gold":{"neded":true}}`: {"gold.neded", "gold.needed", 1, 1},
		`{"task_id":"t","tool":"f","latency_ms":{"exce":1}}`: {
			"latency_ms.exce",
			"latency_ms.exec", 1, 1,
		},
		`{"type":"task","task_id":"t","gold":{"stps":[]}}`: {"gold.stps", "gold.steps", 1, 1},
		`{"type":"task","task_id":"t","usage":{"input_token":1}}`: {
			"usage.input_token",
			"usage.input_tokens", 1, 1,
		},
		`{"task_id":"t","tool":"f","args":{"neded":1},"fields":{"x":"y"},"gld":1}`: {"gld", "gold", 1, 1},
	} {
		r, err := Open(strings.NewReader(line+"\n"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Next(); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		if got := r.Log().Unknown; len(got) != 1 || got[0] != want {
			t.Errorf("%s: unknown %+v, want %+v", line, got, want)
		}
		strict, err := Open(strings.NewReader(line), Options{Strict: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := strict.Next(); !errors.Is(err, callvet.ErrInvalid) {
			t.Errorf("%s, strict: %v", line, err)
		}
	}
}
