// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package text_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/retrieve/text"
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
		if d := cmp.Diff(want, strings.Join(text.Words(in), " ")); d != "" {
			t.Errorf("Words(%q): %s", in, d)
		}
	}
}

func TestReference(t *testing.T) {
	t.Parallel()
	got := text.Reference("The tool's API_key is a \"v2\", at E4 — for å tåg\\u00e5")
	if d := cmp.Diff([]string{"tool", "api_key", "v2", "e4", "tåg", "u00e5"}, got); d != "" {
		t.Error(d)
	}
}

func TestAnalyzer(t *testing.T) {
	t.Parallel()
	a := text.NewAnalyzer()
	detect := map[string]text.Language{
		"what is the weather in Malmö":               text.English,
		"Finns det några trafikstörningar på E4?":    text.Swedish,
		"¿Cuál es el tiempo en Madrid?":              text.Spanish,
		"Qual é a previsão do tempo para São Paulo?": text.Portuguese,
		"Wie wird das Wetter in Berlin und Hamburg?": text.German,
	}
	for in, want := range detect {
		if got, ok := a.Detect(text.Words(in)); got != want || !ok {
			t.Errorf("Detect(%q) = %s, %v; want %s", in, got, ok, want)
		}
	}
	if l, ok := a.Detect([]string{"xyzzy"}); ok || l != text.English {
		t.Errorf("Detect of nothing known = %s, %v", l, ok)
	}
	// Forms of one word meet in its own language.
	for l, words := range map[text.Language][2]string{
		text.English: {"cancellations", "cancellation"}, text.Swedish: {"storningar", "storning"}, text.German: {"fahrplane", "fahrplan"},
		text.Spanish: {"reservas", "reserva"}, text.Portuguese: {"passagens", "passagem"},
	} {
		x, y := a.Document(nil, l, a.Look(nil, words[:1])), a.Document(nil, l, a.Look(nil, words[1:]))
		if l != text.Portuguese && x[0] != y[0] {
			t.Errorf("%s: %v and %v do not meet", l, x, y)
		}
	}
	got := a.Query("Finns det några trafikstörningar på E4?", []text.Language{text.English, text.Swedish})
	if d := cmp.Diff([][]string{{"trafikstorningar", "trafikstorning"}, {"e"}, {"4"}, {"e4"}}, got); d != "" {
		t.Error(d)
	}
	if got := a.Query("what is it", []text.Language{text.English}); len(got) != 3 {
		t.Errorf("a question of function words alone has %v", got)
	}
	if got := a.Query("", []text.Language{text.English}); len(got) != 0 {
		t.Errorf("an empty question has %v", got)
	}
}

func FuzzWords(f *testing.F) {
	for _, s := range []string{"", "getHTTPPage2", "trafikstörningar", "使用必应", "ﬁ\u0301ß", "\xff\xfe", "İI", "a\u0345b"} {
		f.Add(s)
	}
	a := text.NewAnalyzer()
	f.Fuzz(func(t *testing.T, s string) {
		words := text.Words(s)
		for _, w := range words {
			if w == "" || utf8.RuneCountInString(w) > 64 {
				t.Fatalf("Words(%q) has %q", s, w)
			}
			if utf8.ValidString(s) && !utf8.ValidString(w) {
				t.Fatalf("Words(%q) has the broken %q", s, w)
			}
			for _, l := range text.Languages() {
				if text.Stem(l, w) == "" {
					t.Fatalf("the %s stem of %q is empty", l, w)
				}
			}
		}
		if f := text.Fold(s); utf8.ValidString(s) && text.Fold(f) != f {
			t.Fatalf("Fold(%q) = %q, again %q", s, f, text.Fold(f))
		}
		if q := a.Query(s, text.Languages()); len(words) > 0 && len(q) == 0 {
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
		for _, w := range text.Reference(s) {
			if len([]rune(w)) < 2 {
				t.Fatalf("Reference(%q) has %q", s, w)
			}
		}
	})
}

func BenchmarkQuery(b *testing.B) {
	a := text.NewAnalyzer()
	for b.Loop() {
		a.Query("Can you tell me whether there are any traffic disturbances on the E4 north of Stockholm?", []text.Language{text.English, text.Swedish})
	}
}
