// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/value"
)

func TestNumbersInText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]float64{
		"":                              nil,
		"no digits":                     nil,
		"7":                             {7},
		"5 rooms for 2":                 {5, 2},
		"it costs 3.50.":                {3.5},
		"3.":                            {3},
		"1,234.5 of 12,345,678":         {1234.5, 12345678},
		"1,234":                         {1234},
		"1,2345 are two":                {1, 2345},
		"1,23 are two":                  {1, 23},
		"1,23x":                         {1, 23},
		"1,23":                          {1, 23},
		"1,a23":                         {1},
		"3.5":                           {3.5},
		"a range 3-5, then -8":          {3, 5, 8},
		"room B12, b_7, é9 and x1y2":    nil,
		"12B":                           {12},
		"1.2.3":                         {1.2, 3},
		"1. first\n2) second\n 3. x":    nil,
		"\t4. indented":                 nil,
		"in 2024. Then":                 {2024},
		"3.x is no list, 3) either":     {3, 3},
		"1.":                            {1},
		"2)":                            {2},
		"\n9 apples":                    {9},
		"0 and 00012":                   {0, 12},
		"9999999999999999999999 is big": {1e22},
	} {
		if diff := cmp.Diff(want, Numbers(nil, []byte(text))); diff != "" {
			t.Errorf("%q: -want +got\n%s", text, diff)
		}
	}
}

// TestGrounding: strings and numbers of arguments that occur in the conversation, by the scoring
// rules ("grounded_args").
func TestGrounding(t *testing.T) {
	t.Parallel()
	texts := []string{
		"Fly from Oslo to New  York on 2026-05-01 for 1,200 euros, two of us.",
		"Booking B12 of Åsa costs 35.5 (art. 7).",
	}
	for args, want := range map[string][2]int{ // found, total
		`{}`:                                 {0, 0},
		`null`:                               {0, 0},
		`true`:                               {0, 0},
		`{"a":"","b":null,"c":true}`:         {0, 0},
		`{"from":"Oslo"}`:                    {1, 1},
		`{"from":"oslo","to":"NEW YORK"}`:    {2, 2},
		`{"by":"fly"}`:                       {1, 1},
		`{"from":"Os"}`:                      {0, 1},
		`{"from":"slo"}`:                     {0, 1},
		`{"to":"York, New"}`:                 {1, 1},
		`{"to":"York, Old"}`:                 {0, 1},
		`{"to":"New York Oslo"}`:             {1, 1},
		`{"who":"åsa"}`:                      {1, 1},
		`{"who":"sa"}`:                       {0, 1},
		`{"x":"?!"}`:                         {0, 1},
		`{"x":"   "}`:                        {1, 1},
		`{"x":"("}`:                          {1, 1},
		`{"price":1200}`:                     {1, 1},
		`{"price":-1200}`:                    {1, 1},
		`{"price":1200.0,"fee":35.50}`:       {2, 2},
		`{"price":120}`:                      {0, 1},
		`{"art":7,"room":12}`:                {1, 2},
		`{"id":"B12"}`:                       {1, 1},
		`{"id":"B1"}`:                        {0, 1},
		`{"id":"12"}`:                        {0, 1},
		`{"day":"2026-05-01"}`:               {1, 1},
		`{"l":["Oslo",[1200,{"k":"Rome"}]]}`: {2, 3},
		`"Oslo"`:                             {1, 1},
		`{"n":9007199254740993}`:             {0, 1},
	} {
		var c Corpus
		for _, s := range texts {
			c.Add([]byte(s))
		}
		g := Grounder{Sources: &c}
		g.Walk(mustParse(t, args))
		if got := [2]int{g.Found, g.Total}; got != want {
			t.Errorf("%s: %v, want %v", args, got, want)
		}
	}
}

func TestCorpus(t *testing.T) {
	t.Parallel()
	var c Corpus
	if c.Add(nil); !c.Empty() {
		t.Error("nothing was added")
	}
	c.Add([]byte("Two 2"))
	c.Add([]byte("ONE 1"))
	if c.Empty() || string(c.text) != "two 2\none 1" {
		t.Errorf("%q", c.text)
	}
	if diff := cmp.Diff([]float64{2, 1}, c.Numbers()); diff != "" {
		t.Error(diff)
	}
	var copied Corpus
	copied.Set(&c)
	c.Add([]byte("3"))
	if string(copied.text) != "two 2\none 1" || len(copied.numbers) != 2 {
		t.Errorf("a copy changes with its original: %q %v", copied.text, copied.numbers)
	}

	// A megabyte in all is taken, and not a byte more.
	var full Corpus
	full.Add(bytes.Repeat([]byte("x"), maxCorpus-1))
	full.Add([]byte("yz"))
	if len(full.text) != maxCorpus-1 {
		t.Errorf("%d bytes", len(full.text))
	}
	full = Corpus{}
	if full.Add(bytes.Repeat([]byte("x"), maxCorpus)); len(full.text) != maxCorpus {
		t.Errorf("%d bytes", len(full.text))
	}
}

// TestGrounderLists: what a Grounder finds is the same whether it searches the text or has listed its
// words, while texts are added.
func TestGrounderLists(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	parts := []string{"a", "b1", "1.5", "-2", "é", "_7", "Ab", "+", "12", "x y", "", ".5", "1,200"}
	text := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(parts[rnd.IntN(len(parts))] + []string{"", " ", "-", "\n"}[rnd.IntN(4)])
		}
		return b.String()
	}
	for range 300 {
		var c Corpus
		want := 0
		searching, listing := Grounder{Sources: &c}, Grounder{Sources: &c, searched: searchAll}
		for range 4 {
			c.Add([]byte(text(5)))
			values := []any{text(1), text(2), rnd.IntN(20), -2, 1.5, 0.5, 1200}
			b, err := json.Marshal(values)
			if err != nil {
				t.Fatal(err)
			}
			v := mustParse(t, string(b))
			searching.Walk(v)
			listing.Walk(v)
			for e, ok := v.First(); ok; e, ok = v.Next(e) {
				if (e.Kind() == value.Number || len(e.Bytes()) > 0) && defined(&c, e) {
					want++
				}
			}
			if searching.Found != want || listing.Found != want {
				t.Fatalf("in %q of %s: %d found, and %d in the list, want %d", c.text, b, searching.Found,
					listing.Found, want)
			}
		}
		if searching.words != nil || listing.words == nil {
			t.Fatal("both search, or both list")
		}
	}
}

// defined is what it means that a corpus has a value, step by step.
func defined(c *Corpus, v value.Value) bool {
	if v.Kind() == value.Number {
		f, _ := v.Float()
		return slices.Contains(c.numbers, math.Abs(f)) || holds(c.text, v.Raw())
	}
	text := Fold(nil, v.Bytes())
	if len(text) == 0 || holds(c.text, text) {
		return true
	}
	words := 0
	for start := 0; start < len(text); {
		end := start
		for end < len(text) && wordByte(text[end]) == wordByte(text[start]) {
			end++
		}
		if wordByte(text[start]) {
			if words++; !holds(c.text, text[start:end]) {
				return false
			}
		}
		start = end
	}
	return words > 0
}

// TestNumbersAreSorted: a number is found among many as among few.
func TestNumbersAreSorted(t *testing.T) {
	t.Parallel()
	var c Corpus
	for i := range 2*maxUnsorted + 50 {
		c.Add(fmt.Appendf(nil, "%d", 2*(i^5)))
	}
	for i := range 2 * maxUnsorted {
		if !c.counts(float64(2*i)) || c.counts(float64(2*i+1)) {
			t.Fatal(i)
		}
	}
	if c.sorted == 0 || c.sorted == len(c.numbers) {
		t.Errorf("%d of %d sorted", c.sorted, len(c.numbers))
	}
}

// TestWordBytes: letters and digits of words, and whatever is not ASCII.
func TestWordBytes(t *testing.T) {
	t.Parallel()
	for c := range 256 {
		r := rune(c)
		if want := c >= utf8.RuneSelf || unicode.IsLetter(r) || unicode.IsDigit(r); wordByte(byte(c)) != want {
			t.Errorf("wordByte(%q) = %v", r, !want)
		}
		if want := c < utf8.RuneSelf && unicode.IsDigit(r); digit(byte(c)) != want {
			t.Errorf("digit(%q) = %v", r, !want)
		}
	}
}
