// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
)

func index(t testing.TB, o retrieve.BM25Options, docs ...retrieve.BM25Document) *retrieve.BM25Index {
	t.Helper()
	x, err := retrieve.NewBM25(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Update(docs, nil); err != nil {
		t.Fatal(err)
	}
	return x
}

func doc(id string, fields ...[]string) retrieve.BM25Document {
	return retrieve.BM25Document{ID: id, Fields: fields}
}

// TestFormula holds one score against the formula written out.
func TestFormula(t *testing.T) {
	t.Parallel()
	x := index(t, options(),
		doc("a", []string{"get", "weather"}, []string{"weather", "of", "weather"}),
		doc("b", []string{"send"}, []string{"mail"}),
		doc("c", nil, []string{"of", "the", "day", "mail"}),
	)
	// "weather" is in one of three documents. Name: 1 time, length 2 of mean 1, weight
	// 2, b 0.5. Description: 2 times, length 3 of mean 8/3, weight 1, b 0.75.
	tf := 2/(1-0.5+0.5*2/1) + 2/(1-0.75+0.75*3/(8.0/3))
	want := math.Log(1+(3-1+0.5)/(1+0.5)) * tf / (tf + 1.2)
	got := x.Search(retrieve.WordGroups([]string{"weather", "snow"}), 10)
	if len(got) != 1 || got[0].Doc != 0 || math.Abs(got[0].Score-want) > 1e-12 {
		t.Errorf("got %v, want 0 with %v", got, want)
	}
	twice := x.Search(retrieve.WordGroups([]string{"weather", "weather"}), 10)
	if math.Abs(twice[0].Score-2*want) > 1e-12 {
		t.Errorf("a word twice gives %v, want %v", twice[0].Score, 2*want)
	}
	p := x.Explain(retrieve.WordGroups([]string{"snow", "weather"}), 0)
	if p[0].Term != "" || p[0].Score != 0 || p[1].Score != got[0].Score || len(p[1].Fields) != 2 ||
		p[1].Fields[1].Count != 2 {
		t.Errorf("explained as %+v", p)
	}
	if s := p[1].Fields[0].Score + p[1].Fields[1].Score; math.Abs(s-want) > 1e-12 {
		t.Errorf("the fields add up to %v, want %v", s, want)
	}
}

// TestWeightZero: a word in a field that does not count neither finds a document
// nor makes it come twice.
func TestWeightZero(t *testing.T) {
	t.Parallel()
	docs := []retrieve.BM25Document{doc("both", []string{"bar"}, []string{"foo"})}
	for i := range 99 {
		docs = append(docs, doc(fmt.Sprint("d", i), []string{"other"}, []string{"thing"}))
	}
	o := options()
	o.Fields[1].Weight = 0
	x := index(t, o, docs...)
	if got := x.Search(retrieve.WordGroups([]string{"foo", "bar"}), 5); len(got) != 1 || got[0].Doc != 0 {
		t.Errorf("found %v", got)
	}
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	for _, o := range []retrieve.BM25Options{
		{},
		{K1: 1},
		{K1: math.NaN(), Fields: options().Fields},
		{K1: 1, Fields: []retrieve.BM25Field{{B: 2}}},
		{K1: 1, Fields: []retrieve.BM25Field{{Weight: -1}}},
	} {
		if _, err := retrieve.NewBM25(o); !errors.Is(err, callvet.ErrInvalid) {
			t.Errorf("New(%+v): %v", o, err)
		}
	}
	x := index(t, options(), doc("a", nil, []string{"x"}))
	for _, c := range []struct {
		add    []retrieve.BM25Document
		remove []string
		want   error
	}{
		{[]retrieve.BM25Document{doc("a", nil, nil)}, nil, callvet.ErrConflict},
		{[]retrieve.BM25Document{doc("b", nil, nil), doc("b", nil, nil)}, nil, callvet.ErrConflict},
		{[]retrieve.BM25Document{doc("b", nil)}, nil, callvet.ErrInvalid},
		{nil, []string{"b"}, callvet.ErrNotFound},
		{nil, []string{"a", "a"}, callvet.ErrNotFound},
	} {
		if err := x.Update(c.add, c.remove); !errors.Is(err, c.want) {
			t.Errorf("Update(%v, %v): %v, want %v", c.add, c.remove, err, c.want)
		}
	}
	if got := x.Search(retrieve.WordGroups([]string{"x"}), 3); len(got) != 1 {
		t.Errorf("a refused update changed the index: %v", got)
	}
	if err := x.Update([]retrieve.BM25Document{doc("a", nil, []string{"y"})}, []string{"a"}); err != nil {
		t.Errorf("replace: %v", err)
	}
	if got := x.Search(retrieve.WordGroups([]string{"x"}), 3); len(got) != 0 {
		t.Errorf("the replaced document is still found: %v", got)
	}
}

func TestExpand(t *testing.T) {
	t.Parallel()
	x := index(t, retrieve.BM25Options{K1: 1, Fields: []retrieve.BM25Field{{Weight: 1}}},
		doc("a",
			[]string{"trafikstorning", "vagtrafik", "trafik", "storning", "weather", "forecast", "4", "4711", "stor"}))
	e := retrieve.Expansion{Inflection: 0.8, Compound: 0.4, Misspelling: 0.5, MinPart: 4, Max: 8}
	for _, c := range []struct {
		stems []string
		want  map[string]float64
	}{
		{[]string{"trafikstorning"}, map[string]float64{"trafikstorning": 1, "trafik": 0.4, "storning": 0.4}},
		{[]string{"trafik"}, map[string]float64{"trafik": 1, "trafikstorning": 0.4, "vagtrafik": 0.4}},
		{[]string{"storningar"}, map[string]float64{"storning": 0.8, "stor": 0.4}},
		{[]string{"weathr"}, map[string]float64{"weather": 0.4}},
		{[]string{"forecasts", "forecast"}, map[string]float64{"forecast": 1}},
		{[]string{"4"}, map[string]float64{"4": 1}},
		{[]string{"xyzzy"}, map[string]float64{}},
		{nil, map[string]float64{}},
	} {
		got := map[string]float64{}
		for _, f := range x.Expand(c.stems, e) {
			got[f.Text] = math.Round(100*f.Weight) / 100
		}
		if len(c.stems) > 0 && c.stems[0] == "trafikstorning" {
			delete(got, "stor")
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("Expand(%v): %s", c.stems, d)
		}
	}
	if got := x.Expand([]string{"trafik", "trafik"}, retrieve.Expansion{}); len(got) != 1 {
		t.Errorf("without likeness there are %v", got)
	}
}

// documents draws a few documents over a small vocabulary.
func documents(t *rapid.T) []retrieve.BM25Document {
	word := rapid.SampledFrom([]string{"a", "b", "c", "d", "weather", "weathers", "trafik", "trafikinfo"})
	n := rapid.IntRange(0, 12).Draw(t, "n")
	out := make([]retrieve.BM25Document, n)
	for i := range out {
		out[i] = doc(fmt.Sprint(i), rapid.SliceOfN(word, 0, 3).Draw(t, "name"),
			rapid.SliceOfN(word, 0, 8).Draw(t, "description"))
	}
	return out
}

func question(t *rapid.T) []retrieve.TermGroup {
	word := rapid.SampledFrom([]string{"a", "b", "c", "d", "weather", "weathers", "trafik", "none"})
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) retrieve.TermGroup {
		var g retrieve.TermGroup
		for _, w := range rapid.SliceOfNDistinct(word, 1, 3, rapid.ID[string]).Draw(t, "forms") {
			g = append(g, retrieve.Term{Text: w, Weight: rapid.SampledFrom([]float64{1, 0.5, 0.25}).Draw(t, "weight")})
		}
		return g
	}), 0, 5).Draw(t, "question")
}

func ids(x *retrieve.BM25Index, hits []retrieve.BM25Hit) []string {
	out := make([]string, len(hits))
	for i, h := range hits {
		out[i] = fmt.Sprintf("%s %v", x.ID(h.Doc), h.Score)
	}
	return out
}

// TestRemovedIsNeverAdded: removing documents gives the very index that was built
// without them.
func TestRemovedIsNeverAdded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		docs, q := documents(rt), question(rt)
		var kept []retrieve.BM25Document
		var gone []string
		for _, d := range docs {
			if rapid.Bool().Draw(rt, "remove") {
				gone = append(gone, d.ID)
			} else {
				kept = append(kept, d)
			}
		}
		x, y := index(t, options(), docs...), index(t, options(), kept...)
		if err := x.Update(nil, gone); err != nil {
			rt.Fatal(err)
		}
		if d := cmp.Diff(ids(y, y.Search(q, 20)), ids(x, x.Search(q, 20))); d != "" {
			rt.Fatal(d)
		}
		e := retrieve.Expansion{Inflection: 0.5, Compound: 0.5, Misspelling: 0.5, MinPart: 4, Max: 4}
		if d := cmp.Diff(y.Expand([]string{"trafi"}, e), x.Expand([]string{"trafi"}, e)); d != "" {
			rt.Fatal(d)
		}
	})
}

// TestSearchIsExact: the heap gives what sorting all scores gives, Explain adds up to
// the score, and no score reaches the ceiling.
func TestSearchIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		x, q := index(t, options(), documents(rt)...), question(rt)
		var all []retrieve.BM25Hit
		for d := range x.Len() {
			sum := 0.0
			for _, p := range x.Explain(q, d) {
				sum += p.Score
			}
			if sum > 0 {
				all = append(all, retrieve.BM25Hit{Doc: d, Score: sum})
			}
		}
		slices.SortStableFunc(all, func(a, b retrieve.BM25Hit) int {
			switch {
			case a.Score > b.Score:
				return -1
			case a.Score < b.Score:
				return 1
			}
			return 0
		})
		k := rapid.IntRange(0, 6).Draw(rt, "k")
		if d := cmp.Diff(all[:min(k, len(all))], x.Search(q, k), cmpopts.EquateEmpty()); d != "" {
			rt.Fatal(d)
		}
		ceiling := 0.0
		for _, g := range q {
			ceiling += x.Ceiling(g)
		}
		if len(all) > 0 && all[0].Score >= ceiling {
			rt.Fatalf("score %v, ceiling %v", all[0].Score, ceiling)
		}
	})
}

// TestStrangersKeepTheOrder: a document without any word of the question, and as long
// as the mean, changes the others' scores through idf only: with one word in the
// question, never their order.
func TestStrangersKeepTheOrder(t *testing.T) {
	t.Parallel()
	o := retrieve.BM25Options{K1: 1.2, Fields: []retrieve.BM25Field{{Weight: 1, B: 0}}}
	rapid.Check(t, func(rt *rapid.T) {
		var docs []retrieve.BM25Document
		for _, d := range documents(rt) {
			docs = append(docs, doc(d.ID, d.Fields[1]))
		}
		x := index(t, o, docs...)
		q := retrieve.WordGroups([]string{rapid.SampledFrom([]string{"a", "b", "weather"}).Draw(rt, "word")})
		order := func() (out []string) {
			for _, h := range x.Search(q, 50) {
				out = append(out, x.ID(h.Doc))
			}
			return out
		}
		before := order()
		if err := x.Update([]retrieve.BM25Document{doc("stranger", []string{"z", "z"})}, nil); err != nil {
			rt.Fatal(err)
		}
		if d := cmp.Diff(before, order()); d != "" {
			rt.Fatal(d)
		}
	})
}
