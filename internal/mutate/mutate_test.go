// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package mutate

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/value"
)

const doc = `{"a":[1,{"b":"x"}],"c":{}}`

// TestRender puts a value in each place of a document, and leaves each place out.
func TestRender(t *testing.T) {
	t.Parallel()
	root, err := value.Parse([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range paths(root, nil, nil) {
		line := strings.Join(p, ".") + " " + string(render(nil, root, p, "0"))
		if len(p) > 0 {
			line += " " + string(render(nil, root, p, ""))
		}
		got = append(got, line)
	}
	want := []string{
		` 0`,
		`a {"a":0,"c":{}} {"c":{}}`,
		`a.0 {"a":[0,{"b":"x"}],"c":{}} {"a":[{"b":"x"}],"c":{}}`,
		`a.1 {"a":[1,0],"c":{}} {"a":[1],"c":{}}`,
		`a.1.b {"a":[1,{"b":0}],"c":{}} {"a":[1,{}],"c":{}}`,
		`c {"a":[1,{"b":"x"}],"c":0} {"a":[1,{"b":"x"}]}`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestSome: changes are JSON, the same ones for a seed, and reach every place with every value.
func TestSome(t *testing.T) {
	t.Parallel()
	const n = 4000
	var first []string
	once, twice, long := map[string]bool{}, 0, 0
	for c := range Some([]byte(doc), n, 5000, 1) {
		if _, err := value.Parse(c.Text); err != nil {
			t.Fatalf("%s: %v", c.String(), err)
		}
		switch {
		case strings.Contains(c.Path, ", "):
			twice++
		case len(c.What) > 5000:
			long++
		case len(c.What) > 50:
		default:
			once[c.String()] = true
		}
		first = append(first, string(c.Text))
	}
	if len(first) != n || twice != n/2 {
		t.Errorf("%d changes, %d of them of changed documents", len(first), twice)
	}
	// each place with each value but the long text, or left out; the document stays
	if most := len(Values(1)); len(once) != 6*most-1 {
		t.Errorf("%d kinds of changes, of %d values", len(once), most)
	}
	if long == 0 || long > n/100 {
		t.Errorf("%d of %d texts are long", long, n)
	}
	var again []string
	for c := range Some([]byte(doc), n, 5000, 1) {
		if again = append(again, string(c.Text)); len(again) == 10 {
			break
		}
	}
	if !slices.Equal(first[:10], again) {
		t.Error("a seed gives other changes")
	}
	for c := range Some([]byte(`{"a"`), 1, 1, 1) {
		t.Errorf("what is no document was changed: %+v", c)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for what, want := range map[string]string{
		"":                      "a = left out",
		"null":                  "a = null",
		strings.Repeat("x", 40): "a = " + strings.Repeat("x", 40),
		strings.Repeat("x", 41): "a = " + strings.Repeat("x", 20) + "… of 41 bytes",
	} {
		if got := (&Change{Path: "a", What: what}).String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestCount(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"": 7, "0": 7, "-1": 7, "1": 1, "50000": 50000, "x": 7} {
		if got := Count(func(string) string { return text }, 7); got != want {
			t.Errorf("%q: %d", text, got)
		}
	}
	if Huge(1999) != 64<<10 || Huge(2000) != 1<<20 {
		t.Error("the length of the longest text")
	}
}
