// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/value"
)

// plainly reads a line as a plain step and by the form of its record, and reports whether it
// is a plain step: then both are the same.
func plainly(t testing.TB, line string) bool {
	t.Helper()
	parsed := value.Doc{Names: lineNames()}
	if parsed.Parse([]byte(line)) != nil {
		return false
	}
	got, want, f, strange := View{}, View{}, newForms(), 0
	got.reset(parsed.Root())
	if !got.plain(parsed.Root()) {
		return false
	}
	form, err := f.check(parsed.Root(), func(doc.Unknown) { strange++ })
	if err != nil || form != f.step || strange > 0 {
		t.Fatalf("%s: plain, but %v, %d unknown members", line, err, strange)
	}
	spaced := strings.Replace(line, "{", `{"version":1,`, 1) // which no plain step has
	other := value.Doc{Names: lineNames()}
	if err := other.Parse([]byte(spaced)); err != nil {
		t.Fatalf("%s: %v", spaced, err)
	}
	err = want.fill(other.Root(), f, func(doc.Unknown) { strange++ })
	if err != nil || strange > 0 || want.form == nil {
		t.Fatalf("%s: %v, %d unknown members", spaced, err, strange)
	}
	raw := cmp.Transformer("raw", func(v value.Value) string { return v.Kind().String() + " " + string(v.Raw()) })
	if d := cmp.Diff(want, got, raw, cmpopts.IgnoreUnexported(View{}),
		cmpopts.IgnoreFields(View{}, "Record")); d != "" {
		t.Fatalf("%s: %s", line, d)
	}
	return true
}

// TestPlain: which lines are plain steps, and that these are read as by the form.
func TestPlain(t *testing.T) {
	t.Parallel()
	plain := []string{
		example,
		`{"task_id":"t","tool":"f"}`,
		`{"task_id":"t","tool":"f","args":null,"args_raw":null,"turn_id":null,"gold":null}`,
		`{"task_id":"t","tool":"f","latency_ms":null,"status":null,"tags":null}`,
		`{"task_id":"\u0074","tool":"f","status":"\u006fk","gold":{"needed":false}}`,
		`{"tool":"f","task_id":"t","gold":{"\u0061rgs":{},"scoring":null}}`,
		`{"task_id":"t","tool":"f","env":"mock","status":"ok","corrects":true}`,
		`{"task_id":"t","tool":"f","start_ms":0,"attempt":2147483647,"latency_ms":{"exec":31622400000}}`,
		`{"task_id":"t","tool":"f","start_ms":1.5,"turn_id":2.0,"fields":{"a":[1]}}`,
	}
	other := []string{
		`{"task_id":"t","tool":"f","gold":{"neded":false}}`,
		`{"task_id":"t","tool":"f","gold":{"scoring":{}}}`,
		`{"task_id":"t","tool":"f","gold":[]}`,
		`{"task_id":"t","tool":"f","gold":{"params":1}}`,
		`{"task_id":"t","tool":"f","gold":{"tool":1}}`,
		`{"task_id":"t","tool":"f","latency_ms":{"exe":1}}`,
		`{"task_id":"t","tool":"f","latency_ms":[{"exec":1}]}`,
		`{"task_id":"t","tool":"f","latency_ms":{"exec":-1}}`,
		`{"task_id":"t","tool":"f","latency_ms":{"queue":31622400001}}`,
		`{"task_id":"","tool":"f"}`,
		`{"task_id":"t","tool":null}`,
		`{"task_id":"t"}`,
		`{"task_id":"t","tool":"f","type":"step"}`,
		`{"task_id":"t","tool":"f","type":"task"}`,
		`{"task_id":"t","tool":"f","status":""}`,
		`{"task_id":"t","tool":"f","status":"fine"}`,
		`{"task_id":"t","tool":"f","tags":["a",1]}`,
		`{"task_id":"t","tool":"f","tags":{"a":"b"}}`,
		`{"task_id":"t","tool":"f","fields":[]}`,
		`{"task_id":"t","tool":"f","mine":1}`,
		`{"task_id":"t","tool":"f","start_ms":-1}`,
		`{"task_id":"t","tool":"f","start_ms":"1"}`,
		`{"task_id":"t","tool":"f","turn_id":0.5}`,
		`{"task_id":"t","tool":"f","attempt":2147483648}`,
		`{"task_id":"t","tool":"f","args_raw":{}}`,
		`{"task_id":"t","tool":"f","corrects":1}`,
		`{"task_id":"t","tool":"f","env":"guard","guard":[]}`,
		`[]`,
		`7`,
	}
	for i, line := range append(plain, other...) {
		if got, want := plainly(t, line), i < len(plain); got != want {
			t.Errorf("%s: plain is %v", line, got)
		}
	}
}

// FuzzPlain: a plain step is read as by the form.
func FuzzPlain(f *testing.F) {
	f.Add(example)
	f.Add(`{"type":"task","task_id":"t"}`)
	f.Add(
		`{"task_id":"t","tool":"f","status":"ok","fields":{"a":1},"args":{"a":1},"gold":{"args":{"a":1},"needed":null}}`)
	f.Add(`{"task_id":"t","tool":"f","tags":["a",["b"]],"latency_ms":{"queue":1e3}}`)
	f.Fuzz(func(t *testing.T, line string) { plainly(t, line) })
}
