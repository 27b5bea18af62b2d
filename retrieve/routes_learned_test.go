// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
)

// lessons are questions about weather and companies, and some about neither.
func lessons() []retrieve.RouteExample {
	towns := []string{"Åmål", "Öregrund", "Malmö", "Kiruna", "Ystad", "Falun", "Borås", "Visby", "Lund", "Umeå"}
	companies := []string{
		"Påhittet", "Exempelbageriet", "Testplåt", "Låtsaskaffe", "Fingerat", "Norrfiktion",
		"Provbygg", "Skenverket", "Dummyfisk", "Attrappen",
	}
	others := []string{
		"stryk mina skjortor", "vem vann matchen", "sjung en visa", "vad kostar en häst", "mata katten",
		"måla staketet", "laga cykeln", "diska glasen", "plocka lingon", "spela schack",
	}
	var out []retrieve.RouteExample
	for i := range 10 {
		out = append(out,
			retrieve.RouteExample{
				Text: "Hur blir vädret i " + towns[i] + " i morgon?", Route: "väder",
				SubRoute: "prognos",
			},
			retrieve.RouteExample{Text: "Kommer det regn i " + towns[i] + "?", Route: "väder", SubRoute: "prognos"},
			retrieve.RouteExample{
				Text: "Hur mycket snö föll i " + towns[i] + " i går?", Route: "väder",
				SubRoute: "mätning",
			},
			retrieve.RouteExample{Text: "Vem är vd för " + companies[i] + " AB?", Route: "bolag", SubRoute: "styrelse"},
			retrieve.RouteExample{
				Text: "Vilka sitter i styrelsen för " + companies[i] + "?", Route: "bolag",
				SubRoute: "styrelse",
			},
			retrieve.RouteExample{
				Text: "Hämta årsredovisningen för " + companies[i], Route: "bolag",
				SubRoute: "bokslut",
			},
			retrieve.RouteExample{Text: others[i]})
	}
	return out
}

func TestLearn(t *testing.T) {
	t.Parallel()
	l, err := retrieve.LearnRoutes(lessons(), retrieve.LearnOptions{Buckets: 4096, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	for question, want := range map[string]string{
		"Hur blir vädret i Luleå i morgon?":    "väder/prognos",
		"Hur mycket snö föll det i Sveg?":      "väder/mätning",
		"Vilka sitter i Skenverkets styrelse?": "bolag/styrelse",
		"Kan du hämta en årsredovisning":       "bolag/bokslut",
		"putsa fönstren":                       "/",
		"":                                     "/",
		"\xff\xfe":                             "/",
	} {
		d := l.Route(question)
		if got := d.Route + "/" + d.SubRoute; got != want || d.Rule != -1 ||
			!(d.Confidence >= 0 && d.Confidence <= 1+1e-9) {
			t.Errorf("%q: %+v, want %s", question, d, want)
		}
	}
	if !(l.Threshold() >= 0 && l.Threshold() <= 1) {
		t.Errorf("threshold %v", l.Threshold())
	}
}

func TestLearnIsDeterministic(t *testing.T) {
	t.Parallel()
	var got [2][]string
	for i := range got {
		l, err := retrieve.LearnRoutes(lessons(), retrieve.LearnOptions{Buckets: 1024, Epochs: 3, Seed: 7})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range lessons() {
			got[i] = append(got[i], fmt.Sprintf("%+v", l.Route(e.Text)))
		}
	}
	if d := cmp.Diff(got[0], got[1]); d != "" {
		t.Error(d)
	}
}

func TestLearnWithoutOutsidersRefusesNothing(t *testing.T) {
	t.Parallel()
	var in []retrieve.RouteExample
	for _, e := range lessons() {
		if e.Route != "" {
			in = append(in, e)
		}
	}
	l, err := retrieve.LearnRoutes(in, retrieve.LearnOptions{Buckets: 1024, Epochs: 2})
	if err != nil {
		t.Fatal(err)
	}
	if d := l.Route("plocka lingon i styrelsen"); d.Route == "" || l.Threshold() != 0 {
		t.Errorf("%+v at %v", d, l.Threshold())
	}
}

func TestLearnRefuses(t *testing.T) {
	t.Parallel()
	two := lessons()[:14]
	for name, tc := range map[string]struct {
		examples []retrieve.RouteExample
		o        retrieve.LearnOptions
	}{
		"nothing": {}, "one route": {examples: []retrieve.RouteExample{{Text: "a", Route: "a"}, {Text: "b"}}},
		"only none": {examples: []retrieve.RouteExample{{Text: "a"}}},
		"buckets":   {two, retrieve.LearnOptions{Buckets: 3}}, "epochs": {two, retrieve.LearnOptions{Epochs: -1}},
		"rate": {two, retrieve.LearnOptions{Rate: -1}}, "refuse": {two, retrieve.LearnOptions{Refuse: 1}},
	} {
		if _, err := retrieve.LearnRoutes(tc.examples, tc.o); !errors.Is(err, callvet.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
