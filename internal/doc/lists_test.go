// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package doc

import (
	"strings"
	"testing"
)

func TestPlainJSON(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, data, want string
		placed           bool
	}{
		{"a.json", `[1, 2]`, `[1, 2]`, true},
		{"a.json", "\ufeff[1]", `[1]`, true},
		{"a.json", "[1, // one\n2,]", "[1,       \n2 ]", true},
		{"a.jsonl", "{\"a\":1}\n\n{\"a\":2}\n", "[{\"a\":1},\n\n{\"a\":2}\n]", true},
		{"a.jsonl", "{\"a\":1}", `[{"a":1}]`, true},
		{"a.txt", "{\"a\":1}\r\n{\"a\":2}", "[{\"a\":1},\r\n{\"a\":2}]", true},
		{"a.yaml", "- a: x\n  b: [1, y]\n\n- c\n", "[{\"a\":\"x\",\n\"b\":[1,\"y\"]},\n\n\"c\"]", false},
	} {
		got, placed, err := PlainJSON(c.name, []byte(c.data))
		if err != nil || string(got) != c.want || placed != c.placed {
			t.Errorf("%s %q: %q, %v, %v", c.name, c.data, got, placed, err)
		}
	}
	for _, c := range []struct{ name, data, say string }{
		{"a.json", "[1\n,", "a.json:2:"},
		{"a.yaml", "a: [", "a.yaml:1:"},
		{"a.jsonl", "{\"a\":1}\n{\"a\"\n", "a.jsonl:"},
		{"a.json", "[1] x", "a.json:1:"},
	} {
		if _, _, err := PlainJSON(c.name, []byte(c.data)); err == nil || !strings.HasPrefix(err.Error(), c.say) {
			t.Errorf("%s %q: %v", c.name, c.data, err)
		}
	}
}

func FuzzPlainJSON(f *testing.F) {
	f.Add("a.jsonl", []byte("{}\n{}"))
	f.Add("a.yaml", []byte("a: &x [1]\nb: *x\n"))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		if got, _, err := PlainJSON(name, data); err == nil && validJSON(got) != nil {
			t.Errorf("%q became %q", data, got)
		}
	})
}
