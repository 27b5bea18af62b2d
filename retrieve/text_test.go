// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/retrieve"
)

func TestWords(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                                   "",
		"  --- ":                             "",
		"get_weather-forecast.v2":            "get weather forecast v 2 v2",
		"getHTTPPage":                        "get http page gethttppage",
		"JavaScript":                         "java script javascript",
		"URLs and APIs":                      "urls and apis",
		"Trafikstörningar på E4?":            "trafikstorningar pa e 4 e4",
		"ﬁle ＡＢＣ №5":                         "file abc 5",
		"Straße ÆON smørrebrød":              "strasse aeon smorrebrod",
		"I\u0307stanbul e\u0301te\u0301":     "istanbul ete",
		"使用必应搜索 bing":                        "使用 用必 必应 应搜 搜索 bing",
		"东":                                  "东",
		"don't":                              "don t",
		"ΣΊΣΥΦΟΣ":                            "σισυφοσ",
		"mp3player":                          "mp 3 player mp3player",
		strings.Repeat("a", 100):             strings.Repeat("a", 64),
		"trafikverket_trafikinfo_storningar": "trafikverket trafikinfo storningar",
	} {
		if d := cmp.Diff(want, strings.Join(retrieve.Words(in), " ")); d != "" {
			t.Errorf("Words(%q): %s", in, d)
		}
	}
}

func TestReference(t *testing.T) {
	t.Parallel()
	got := retrieve.Reference("The tool's API_key is a \"v2\", at E4 — for å tåg\\u00e5")
	if d := cmp.Diff([]string{"tool", "api_key", "v2", "e4", "tåg", "u00e5"}, got); d != "" {
		t.Error(d)
	}
}

func TestAnalyzer(t *testing.T) {
	t.Parallel()
	a := retrieve.NewAnalyzer()
	detect := map[string]retrieve.Language{
		"what is the weather in Malmö":               retrieve.English,
		"Finns det några trafikstörningar på E4?":    retrieve.Swedish,
		"¿Cuál es el tiempo en Madrid?":              retrieve.Spanish,
		"Qual é a previsão do tempo para São Paulo?": retrieve.Portuguese,
		"Wie wird das Wetter in Berlin und Hamburg?": retrieve.German,
	}
	for in, want := range detect {
		if got, ok := a.Detect(retrieve.Words(in)); got != want || !ok {
			t.Errorf("Detect(%q) = %s, %v; want %s", in, got, ok, want)
		}
	}
	if l, ok := a.Detect([]string{"xyzzy"}); ok || l != retrieve.English {
		t.Errorf("Detect of nothing known = %s, %v", l, ok)
	}
	// Forms of one word meet in its own language.
	for l, words := range map[retrieve.Language][2]string{
		retrieve.English: {"cancellations", "cancellation"}, retrieve.Swedish: {"storningar", "storning"},
		retrieve.German:  {"fahrplane", "fahrplan"},
		retrieve.Spanish: {"reservas", "reserva"}, retrieve.Portuguese: {"passagens", "passagem"},
	} {
		x, y := a.Document(nil, l, a.Look(nil, words[:1])), a.Document(nil, l, a.Look(nil, words[1:]))
		if l != retrieve.Portuguese && x[0] != y[0] {
			t.Errorf("%s: %v and %v do not meet", l, x, y)
		}
	}
	got := a.Query("Finns det några trafikstörningar på E4?", []retrieve.Language{retrieve.English, retrieve.Swedish})
	if d := cmp.Diff([][]string{{"trafikstorningar", "trafikstorning"}, {"e"}, {"4"}, {"e4"}}, got); d != "" {
		t.Error(d)
	}
	if got := a.Query("what is it", []retrieve.Language{retrieve.English}); len(got) != 3 {
		t.Errorf("a question of function words alone has %v", got)
	}
	if got := a.Query("", []retrieve.Language{retrieve.English}); len(got) != 0 {
		t.Errorf("an empty question has %v", got)
	}
}

func FuzzWords(f *testing.F) {
	for _, s := range []string{
		"", "getHTTPPage2", "trafikstörningar", "使用必应", "ﬁ\u0301ß", "\xff\xfe", "İI",
		"a\u0345b",
	} {
		f.Add(s)
	}
	a := retrieve.NewAnalyzer()
	f.Fuzz(func(t *testing.T, s string) {
		words := retrieve.Words(s)
		for _, w := range words {
			if w == "" || utf8.RuneCountInString(w) > 64 {
				t.Fatalf("Words(%q) has %q", s, w)
			}
			if utf8.ValidString(s) && !utf8.ValidString(w) {
				t.Fatalf("Words(%q) has the broken %q", s, w)
			}
			for _, l := range retrieve.Languages() {
				if retrieve.Stem(l, w) == "" {
					t.Fatalf("the %s stem of %q is empty", l, w)
				}
			}
		}
		if f := retrieve.Fold(s); utf8.ValidString(s) && retrieve.Fold(f) != f {
			t.Fatalf("Fold(%q) = %q, again %q", s, f, retrieve.Fold(f))
		}
		if q := a.Query(s, retrieve.Languages()); len(words) > 0 && len(q) == 0 {
			t.Fatalf("Query(%q) has no words", s)
		}
		fork := a.Fork()
		var content []string
		for _, w := range fork.ContentOf(nil, fork.Look(nil, words)) {
			content = append(content, w.Text)
		}
		if !slices.Equal(content, a.Content(s)) {
			t.Fatalf("Content(%q) = %q, of its words %q", s, a.Content(s), content)
		}
		for _, w := range retrieve.Reference(s) {
			if len([]rune(w)) < 2 {
				t.Fatalf("Reference(%q) has %q", s, w)
			}
		}
	})
}

func BenchmarkQuery(b *testing.B) {
	a := retrieve.NewAnalyzer()
	for b.Loop() {
		a.Query("Can you tell me whether there are any traffic disturbances on the E4 north of Stockholm?",
			[]retrieve.Language{retrieve.English, retrieve.Swedish})
	}
}
