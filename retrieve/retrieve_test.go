// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
)

func tool(name, description, parameters string) callvet.Tool {
	return callvet.Tool{Name: name, Description: description, Parameters: []byte(parameters)}
}

func entries() []retrieve.Entry {
	return []retrieve.Entry{
		{
			Tool: tool("trafikverket_trafikinfo_storningar",
				"Aktuella störningar i trafiken på vägar och järnvägar.",
				`{"type":"object","properties":{"vag":{"type":"string","description":"Vägnummer, till exempel E4"}}}`),
			Keywords: []string{"störning", "hinder"}, Examples: []string{"Är det stopp på E6?"},
			Namespace: []string{"tools", "trafik"},
		},
		{
			Tool: tool("smhi_vader", "Väderprognos för en ort de närmaste dagarna.",
				`{"type":"object","properties":{"ort":{"type":"string"}}}`),
			Keywords: []string{"väder", "regn"}, Namespace: []string{"tools", "weather"},
		},
		{
			Tool: tool("bolagsverket_info_basic", "Grunddata om företag: namn, organisationsnummer och form.",
				`{"type":"object","properties":{"orgnr":{"type":"string"}}}`),
			Keywords: []string{"bolag"}, Namespace: []string{"tools", "bolag"},
		},
		{
			Tool: tool("create_calendar_event", "Creates an event in the user's calendar.",
				`{"type":"object","properties":{"attendees":{"type":"array","items":{"type":"object","properties":{"email":{"type":"string","description":"address of a guest"}}}},"repeat":{"enum":["daily","weekly"]}}}`),
			Namespace: []string{"office"},
		},
		{
			Tool:      tool("getStockPrice", "Returns the latest price of a share on a stock exchange.", `not JSON`),
			Namespace: []string{"office"},
		},
	}
}

func newIndex(t testing.TB, o retrieve.Options, es []retrieve.Entry) *retrieve.Index {
	t.Helper()
	x, err := retrieve.New(t.Context(), o, es)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func search(t testing.TB, x *retrieve.Index, q string, k int) retrieve.Result {
	t.Helper()
	r, err := x.Search(t.Context(), q, k)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func names(r retrieve.Result) []string {
	out := []string{}
	for _, h := range r.Hits {
		out = append(out, h.ID)
	}
	return out
}

// TestFinds asks as people do: inflected, in compounds, misspelled, by parameter.
func TestFinds(t *testing.T) {
	t.Parallel()
	lexical := retrieve.Default()
	lexical.Offline, lexical.VectorWeight = 0, 0
	ranks := retrieve.Default()
	ranks.Formula = retrieve.ReciprocalRank
	for name, o := range map[string]retrieve.Options{
		"default": retrieve.Default(), "lexical": lexical,
		"ranks": ranks,
	} {
		x := newIndex(t, o, entries())
		for q, want := range map[string]string{
			"Finns det några trafikstörningar på E4?": "trafikverket_trafikinfo_storningar",
			"Hur blir vädret i Lund?":                 "smhi_vader",
			"vilket företag har det här orgnumret":    "bolagsverket_info_basic",
			"put lunch with Anna in my calender":      "create_calendar_event",
			"email a guest":                           "create_calendar_event",
			"repeats weekly":                          "create_calendar_event",
			"stock prices of Volvo":                   "getStockPrice",
		} {
			if got := names(search(t, x, q, 3)); len(got) == 0 || got[0] != want {
				t.Errorf("%s: %q finds %v, want %s first", name, q, got, want)
			}
		}
		for _, q := range []string{"", "   ", "?!"} {
			if r := search(t, x, q, 3); len(r.Hits) != 0 {
				t.Errorf("%s: %q finds %v", name, q, names(r))
			}
		}
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	x := newIndex(t, retrieve.Default(), entries())
	e, err := x.Explain(t.Context(), "väder och trafikstörningar på vägarna", "smhi_vader")
	if err != nil {
		t.Fatal(err)
	}
	if e.Winner == nil || e.Winner.ID != "trafikverket_trafikinfo_storningar" || e.Tool.Rank != 2 {
		t.Fatalf("explained as %+v", e)
	}
	reasons := strings.Join(e.Reasons(), "\n")
	if !strings.Contains(reasons, `no form of "storning`) && !strings.Contains(reasons, `no form of "trafik`) {
		t.Errorf("the reasons are:\n%s", reasons)
	}
	for who, sums := range map[string][2]float64{
		"tool":   {e.Tool.Parts.Lexical, sum(e.Words, func(w retrieve.Word) float64 { return w.Tool.Score })},
		"winner": {e.Winner.Parts.Lexical, sum(e.Words, func(w retrieve.Word) float64 { return w.Winner.Score })},
	} {
		if math.Abs(sums[0]-sums[1]) > 1e-9 {
			t.Errorf("the words of the %s add up to %v, want %v", who, sums[1], sums[0])
		}
	}
	if s := e.Tool.Parts.Lexical + e.Tool.Parts.Semantic; math.Abs(s-e.Tool.Score) > 1e-12 || e.Winner.Score > 1 {
		t.Errorf("scores %v and %v", e.Tool, e.Winner)
	}
	if _, err := x.Explain(t.Context(), "x", "nobody"); !errors.Is(err, callvet.ErrNotFound) {
		t.Errorf("explain a stranger: %v", err)
	}
	if e, err := x.Explain(t.Context(), "", "smhi_vader"); err != nil || e.Winner != nil || len(e.Reasons()) != 0 {
		t.Errorf("explain no question: %+v, %v", e, err)
	}
}

func sum(words []retrieve.Word, of func(retrieve.Word) float64) float64 {
	s := 0.0
	for _, w := range words {
		s += of(w)
	}
	return s
}

func TestAbstains(t *testing.T) {
	t.Parallel()
	o := retrieve.Default()
	o.Threshold = 0.3
	x := newIndex(t, o, entries())
	if r := search(t, x, "sing me a song about the sea", 3); len(r.Hits) != 0 || !r.Abstained && r.Calibrated {
		t.Errorf("a question for nobody finds %v", names(r))
	}
	r := search(t, x, "aktuella störningar i trafiken", 3)
	if len(r.Hits) != 1 || r.Abstained {
		t.Errorf("a question for one finds %v", names(r))
	}
	for _, e := range entries() {
		why, err := x.Explain(t.Context(), "aktuella störningar i trafiken", e.Tool.Name)
		if given := e.Tool.Name == r.Hits[0].ID; err != nil || given == why.Lost() || why.Tool.Rank > 0 &&
			given == (why.Withheld != "") {
			t.Errorf("%s: %q, %v", e.Tool.Name, why.Reasons(), err)
		}
	}
	o.Threshold, o.Confidence, o.MinConfidence = 0, &retrieve.Logistic{Bias: -4, Score: 10, Lead: 5}, 0.5
	x = newIndex(t, o, entries())
	sure, unsure := search(t, x, "aktuella störningar i trafiken", 3), search(t, x, "the user went to a sunny beach", 3)
	if !sure.Calibrated || sure.Confidence < 0.5 || len(sure.Hits) == 0 || unsure.Confidence >= 0.5 ||
		len(unsure.Hits) != 0 || !unsure.Abstained {
		t.Errorf("sure %+v, unsure %+v", sure, unsure)
	}
	// the explanation equals the search
	for _, q := range []string{"aktuella störningar i trafiken", "the user went to a sunny beach"} {
		r := search(t, x, q, 3)
		e, err := x.Explain(t.Context(), q, entries()[0].Tool.Name)
		if err != nil || (e.Withheld == "") != (len(r.Hits) > 0) || r.Abstained &&
			(!e.Lost() || !strings.Contains(e.Reasons()[0],
				fmt.Sprintf("has confidence %.4g, and 0.5 is needed", r.Confidence))) {
			t.Errorf("%s: %q %v, %+v", q, e.Reasons(), err, r)
		}
	}
}

// TestBigTool holds the additive preset against the arithmetic of the document.
func TestBigTool(t *testing.T) {
	t.Parallel()
	es := []retrieve.Entry{
		{
			Tool: callvet.Tool{Name: "Väder", Description: "Väder i Sverige"}, ID: "w",
			Keywords: []string{"regn", "väder"}, Examples: []string{"Blir det regn?"},
			Namespace: []string{"tools", "action"},
		},
		{Tool: callvet.Tool{Name: "other", Description: "nothing"}, ID: "o", Namespace: []string{"tools"}},
		{
			Tool: callvet.Tool{Name: "foreign", Description: "regn regn"}, ID: "f", Keywords: []string{"regn"},
			Namespace: []string{"else"},
		},
	}
	x := newIndex(t, retrieve.BigTool(), es)
	// "vader" within the question: 5; "regn" and "vader": 6; of its words "vader" and
	// "i" stand in "vader i sverige", and "v" does: 3; example within: 2; namespace: 3.
	r := search(t, x, "V: blir det regn? Väder i dag", 0)
	want := retrieve.Parts{
		Lexical: 16, Name: 5, Keywords: 6, Description: 3, Examples: 2, Namespace: 3,
		Matched: []string{"regn", "vader"},
	}
	if d := cmp.Diff([]string{"w", "o"}, names(r)); d != "" {
		t.Fatal(d)
	}
	if d := cmp.Diff(want, r.Hits[0].Parts); d != "" || r.Hits[0].Score != 19 || r.Hits[1].Score != 4 {
		t.Errorf("scores %v, %v: %s", r.Hits[0].Score, r.Hits[1].Score, d)
	}
	o := retrieve.BigTool()
	o.Primary, o.Fallback = [][]string{{"nowhere"}}, [][]string{{"else"}}
	if got := names(search(t, newIndex(t, o, es), "regn", 0)); !slices.Equal(got, []string{"f"}) {
		t.Errorf("the fallback gives %v", got)
	}
	e, err := x.Explain(t.Context(), "regn", "f")
	if err != nil || e.Tool.Rank != 0 || e.Tool.Score != 4 {
		t.Errorf("a tool that is no candidate: %+v, %v", e.Tool, err)
	}
}

// TestUpdateIsNew: an index after updates equals a new index of its entries, with an embedder that
// does not depend on the catalog.
func TestUpdateIsNew(t *testing.T) {
	t.Parallel()
	o := retrieve.Default()
	o.Embedder = retrieve.NewNGram(64, strings.Fields)
	rapid.Check(t, func(rt *rapid.T) {
		all := entries()
		first := rapid.IntRange(0, len(all)).Draw(rt, "first")
		x := newIndex(t, o, all[:first])
		var gone []string
		var kept []retrieve.Entry
		for _, e := range all[:first] {
			if rapid.Bool().Draw(rt, "remove") {
				gone = append(gone, e.Tool.Name)
			} else {
				kept = append(kept, e)
			}
		}
		if err := x.Update(t.Context(), all[first:], gone); err != nil {
			rt.Fatal(err)
		}
		y := newIndex(t, o, append(kept, all[first:]...))
		for _, q := range []string{"trafik på E4", "stock price", "väderprognos", "calendar event weekly"} {
			a, b := search(t, y, q, 9), search(t, x, q, 9)
			if d := cmp.Diff(describe(a), describe(b)); d != "" {
				rt.Fatal(d)
			}
		}
	})
}

func describe(r retrieve.Result) (out []string) {
	for _, h := range r.Hits {
		out = append(out, fmt.Sprintf("%s %v", h.ID, h.Score))
	}
	return out
}

func TestRetrieveRefuses(t *testing.T) {
	t.Parallel()
	twice := []retrieve.Entry{{Tool: callvet.Tool{Name: "a"}}, {Tool: callvet.Tool{Name: "a"}}}
	if _, err := retrieve.New(t.Context(), retrieve.Default(), twice); !errors.Is(err, callvet.ErrConflict) {
		t.Errorf("two of a name: %v", err)
	}
	for _, change := range []func(*retrieve.Options){
		func(o *retrieve.Options) { o.Formula = "best" },
		func(o *retrieve.Options) { o.VectorWeight = 2 },
		func(o *retrieve.Options) { o.K1 = -1 },
		func(o *retrieve.Options) { o.Name.B = 3 },
	} {
		o := retrieve.Default()
		change(&o)
		if _, err := retrieve.New(t.Context(), o, nil); !errors.Is(err, callvet.ErrInvalid) {
			t.Errorf("options %+v: %v", o, err)
		}
	}
	x := newIndex(t, retrieve.Default(), entries())
	if err := x.Update(t.Context(), nil, []string{"nobody"}); !errors.Is(err, callvet.ErrNotFound) || x.Len() != 5 {
		t.Errorf("remove a stranger: %v", err)
	}
}

// failing is an embedder that breaks after some texts.
type failing struct{ after int }

func (*failing) Model() string { return "failing" }

func (f *failing) Embed(_ context.Context, texts []string) ([][]float32, error) {
	if f.after -= len(texts); f.after < 0 {
		return nil, callvet.ErrUnavailable
	}
	out := make([][]float32, len(texts))
	for i := range out {
		out[i] = []float32{1, 0}
	}
	return out, nil
}

// kept is a cache in memory that counts what it was asked for.
type kept struct {
	vectors map[retrieve.VectorKey][]float32
	hits    int
}

func (k *kept) Get(key retrieve.VectorKey) ([]float32, bool) {
	v, ok := k.vectors[key]
	if ok {
		k.hits++
	}
	return v, ok
}

func (k *kept) Put(_ context.Context, key retrieve.VectorKey, v []float32) { k.vectors[key] = v }

func TestEmbedder(t *testing.T) {
	t.Parallel()
	cache := &kept{vectors: map[retrieve.VectorKey][]float32{}}
	o := retrieve.Default()
	o.Embedder, o.Cache = &failing{after: 5}, cache
	x := newIndex(t, o, entries())
	if _, err := x.Search(t.Context(), "väder", 1); !errors.Is(err, callvet.ErrUnavailable) {
		t.Errorf("an embedder that fails gives %v, not an error", err)
	}
	o.Cache = nil
	for _, n := range []int{0, 2} { // a failure leaves the index as it was
		f := &failing{after: n}
		o.Embedder = f
		x := newIndex(t, o, entries()[:n])
		if err := x.Update(t.Context(), entries()[2:], nil); !errors.Is(err, callvet.ErrUnavailable) || x.Len() != n {
			t.Errorf("an update of %d that cannot be embedded: %v, then %d entries", n, err, x.Len())
		}
		f.after = 100
		if err := x.Update(t.Context(), entries()[2:], nil); err != nil || x.Len() != n+3 {
			t.Errorf("the same update later: %v, then %d entries", err, x.Len())
		}
	}
	o.Cache = cache
	changed := entries()
	changed[1].Tool.Description += " Nytt."
	o.Embedder = &failing{after: 1} // only the changed text is embedded again
	newIndex(t, o, changed)
	if cache.hits != 4 {
		t.Errorf("the cache had %d of 5 vectors, want 4", cache.hits)
	}
}

// TestSearchWhileUpdating: questions and changes at the same time see whole catalogs.
func TestSearchWhileUpdating(t *testing.T) {
	t.Parallel()
	x := newIndex(t, retrieve.Default(), entries())
	var g sync.WaitGroup
	for range 3 {
		g.Go(func() {
			for range 50 {
				r, err := x.Search(t.Context(), "aktuella störningar i trafiken", 3)
				if err != nil || len(r.Hits) == 0 || r.Hits[0].ID != "trafikverket_trafikinfo_storningar" {
					t.Errorf("found %v, %v", names(r), err)
					return
				}
			}
		})
	}
	g.Go(func() {
		for range 20 {
			if err := x.Update(t.Context(), entries()[4:], []string{"getStockPrice"}); err != nil {
				t.Error(err)
				return
			}
		}
	})
	g.Wait()
}

func BenchmarkRetrieveSearch(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000, 100_000} {
		es, questions := retrieveCatalog(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			x := newIndex(b, retrieve.Default(), es)
			i := 0
			for b.Loop() {
				search(b, x, questions[i%len(questions)], 10)
				i++
			}
		})
	}
}

func BenchmarkNew(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		es, _ := retrieveCatalog(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				newIndex(b, retrieve.Default(), es)
			}
		})
	}
}
