// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel/steps"
	"github.com/callvet/callvet/value"
)

func parsed(t *testing.T, s string) value.Value {
	t.Helper()
	v, err := value.Parse([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func names(n *steps.SliceNames, s *steps.SliceSet) []string {
	var out []string
	for _, id := range s.IDs {
		x := n.Slice(id)
		out = append(out, x.Key+"="+x.Value)
	}
	slices.Sort(out)
	return out
}

func TestSet(t *testing.T) {
	t.Parallel()
	all := []string{"called_tool", "api_version", "tool_family", "language", "tag", "*"}
	for name, c := range map[string]struct {
		by           []string
		tool         string
		tags, fields string
		want         []string
	}{
		"tags with languages and named values": {
			all, "send@v2", `["es-AR","refunds","tier:gold","k=v","zh-Hant-TW","x-y"]`, `{}`,
			[]string{
				"=", "api_version=v2", "called_tool=send", "k=v", "language=es-AR", "language=zh-Hant-TW",
				"tag=refunds", "tag=x-y", "tier=gold", "tool_family=mail",
			},
		},
		"fields go before the tool's own": {
			all, "send@v2", `null`,
			`{"api_version":"2026-01","locale":"sv-SE","n":3,"yes":true,"no":null,"tool_family":"own"}`,
			[]string{
				"=", "api_version=2026-01", "called_tool=send", "language=sv-SE", "n=3", "tool_family=own",
				"yes=true",
			},
		},
		"only what was asked for": {
			[]string{"language"},
			"send", `["es-AR","refunds"]`,
			`{"intent":"x"}`,
			[]string{"=", "language=es-AR"},
		},
		"a language is a tag where it is none": {
			[]string{"tag"},
			"send", `["es-AR"]`, `{}`,
			[]string{"=", "tag=es-AR"},
		},
		"crosses need their sides": {
			[]string{"language*intent"},
			"send", `["es-AR"]`,
			`{"intent":"x","other":"y"}`,
			[]string{"=", "intent=x", "language*intent=es-AR*x", "language=es-AR"},
		},
		"a cross that is asked for twice is one": {
			[]string{"language*intent", "language*intent"},
			"send", `["es-AR"]`,
			`{"intent":"x"}`,
			[]string{"=", "intent=x", "language*intent=es-AR*x", "language=es-AR"},
		},
	} {
		n := steps.NewSliceNames(c.by, map[string][]string{"send": {"mail"}})
		s := n.Set([]byte("target"), []byte(c.tool), parsed(t, c.tags), parsed(t, c.fields))
		if diff := cmp.Diff(c.want, names(n, s)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if again := n.Set([]byte("target"), []byte(c.tool), parsed(t, c.tags), parsed(t, c.fields)); again != s {
			t.Errorf("%s: the same line gave another set", name)
		}
		if x := n.Slice(s.IDs[0]); x.Key != "" {
			t.Errorf("%s: the slice of all is not the first", name)
		}
	}
}

// TestOf: a line has the slices by name that it has by number.
func TestOf(t *testing.T) {
	t.Parallel()
	keys := []string{
		"called_tool", "expected_tool", "api_version", "tool_family", "language", "tag", "*", "intent",
		"language*intent", "expected_tool*intent", "locale", "family",
	}
	rapid.Check(t, func(t *rapid.T) {
		by := rapid.SliceOfDistinct(rapid.SampledFrom(keys), rapid.ID).Draw(t, "by")
		tags := rapid.SliceOf(rapid.SampledFrom([]string{
			"es-AR", "refunds", "tier:gold", "lang:de", "k=v", "x-y", "=",
			"a:", strings.Repeat("ö", 80),
		})).Draw(t, "tags")
		fields := rapid.MapOf(rapid.SampledFrom([]string{
			"intent", "locale", "api_version", "tool_family", "family",
			"n",
		}), rapid.SampledFrom([]string{"x", "sv-SE", ""})).Draw(t, "fields")
		tool := rapid.SampledFrom([]string{"", "send", "send@v2", "other@v1"}).Draw(t, "tool")
		families := map[string][]string{"send": {"mail", "net"}}
		text := func(x any) value.Value {
			b, err := json.Marshal(x)
			if err != nil {
				t.Fatal(err)
			}
			v, err := value.Parse(b)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		n := steps.NewSliceNames(by, families)
		var call []byte
		base, _ := callvet.SplitTool(tool)
		if tool != "" {
			call = []byte(tool)
		}
		expected := rapid.SampledFrom([]string{"", "send", "find"}).Draw(t, "expected")
		set := n.Set(nil, call, text(tags), text(fields))
		line := steps.SliceLine{Tool: tool, Families: families[base], Tags: tags, Fields: fields}
		if expected != "" {
			f := n.Finder()
			set, line.Expected = f.Expecting(set, []byte(expected+"@v3")), []string{expected}
		}
		want := names(n, set)[1:]
		got := []string{}
		for _, s := range steps.CrossedSlices(by, steps.SlicesOf(by, line)) {
			got = append(got, s[0]+"="+s[1])
		}
		slices.Sort(got)
		if d := cmp.Diff(want, got); d != "" {
			t.Fatal(d)
		}
	})
}

func TestCrossed(t *testing.T) {
	t.Parallel()
	in := [][2]string{{"intent", "x"}, {"language", "de"}, {"language", "sv"}}
	want := append(slices.Clone(in), [2]string{"language*intent", "de*x"}, [2]string{"language*intent", "sv*x"})
	if d := cmp.Diff(want, steps.CrossedSlices([]string{"language*intent", "intent", "*"}, in)); d != "" {
		t.Error(d)
	}
}

// TestTooManyValues: a key with too many values is no slice, whatever their order.
func TestTooManyValues(t *testing.T) {
	t.Parallel()
	n := steps.NewSliceNames([]string{"*"}, nil)
	for i := range steps.MaxSliceValues + 10 {
		n.Set(nil, nil, value.Value{}, parsed(t, fmt.Sprintf(`{"id":"%d","kind":"%d"}`, i, i%7)))
	}
	if !n.Dead[steps.TargetKey{Key: "id"}] || n.Dead[steps.TargetKey{Key: "kind"}] {
		t.Error(n.Dead)
	}
}

// TestFinder: what is remembered of a line is not taken for another one's, also
// where their names hold the byte that separates them.
func TestFinder(t *testing.T) {
	t.Parallel()
	n := steps.NewSliceNames([]string{"called_tool"}, nil)
	f := n.Finder()
	for range 2 {
		for _, c := range [][2]string{{"a", "b\x00c"}, {"a\x00b", "c"}, {"", "a"}, {"a", ""}, {"a", "b"}} {
			got := f.Set([]byte(c[0]), []byte(c[1]), value.Value{}, value.Value{})
			if want := n.Set([]byte(c[0]), []byte(c[1]), value.Value{}, value.Value{}); got != want {
				t.Errorf("%q is in %v, not in %v", c, got, want)
			}
			if got, want := f.Tool([]byte(c[1])), n.Tool([]byte(c[1])); got != want {
				t.Errorf("%q has number %d, not %d", c[1], got, want)
			}
		}
	}
}

// TestRequested: sides of crosses are slices only where they were asked for.
func TestRequested(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		by   []string
		key  string
		want bool
	}{
		{[]string{"language*intent"}, "intent", false},
		{[]string{"language*intent"}, "language*intent", true},
		{[]string{"*"}, "intent", true},
		{[]string{"*"}, "called_tool", false},
		{[]string{"*", "called_tool"}, "called_tool", true},
	} {
		if got := steps.SliceRequested(c.by, c.key); got != c.want {
			t.Errorf("%v, %s: %v", c.by, c.key, got)
		}
	}
}
