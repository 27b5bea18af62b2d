// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package route_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve/route"
)

// lessons are questions about weather and companies, and some about neither.
func lessons() []route.Example {
	towns := []string{"Åmål", "Öregrund", "Malmö", "Kiruna", "Ystad", "Falun", "Borås", "Visby", "Lund", "Umeå"}
	companies := []string{"Påhittet", "Exempelbageriet", "Testplåt", "Låtsaskaffe", "Fingerat", "Norrfiktion", "Provbygg", "Skenverket", "Dummyfisk", "Attrappen"}
	others := []string{"stryk mina skjortor", "vem vann matchen", "sjung en visa", "vad kostar en häst", "mata katten", "måla staketet", "laga cykeln", "diska glasen", "plocka lingon", "spela schack"}
	var out []route.Example
	for i := range 10 {
		out = append(out,
			route.Example{Text: "Hur blir vädret i " + towns[i] + " i morgon?", Route: "väder", SubRoute: "prognos"},
			route.Example{Text: "Kommer det regn i " + towns[i] + "?", Route: "väder", SubRoute: "prognos"},
			route.Example{Text: "Hur mycket snö föll i " + towns[i] + " i går?", Route: "väder", SubRoute: "mätning"},
			route.Example{Text: "Vem är vd för " + companies[i] + " AB?", Route: "bolag", SubRoute: "styrelse"},
			route.Example{Text: "Vilka sitter i styrelsen för " + companies[i] + "?", Route: "bolag", SubRoute: "styrelse"},
			route.Example{Text: "Hämta årsredovisningen för " + companies[i], Route: "bolag", SubRoute: "bokslut"},
			route.Example{Text: others[i]})
	}
	return out
}

func TestLearn(t *testing.T) {
	t.Parallel()
	l, err := route.Learn(lessons(), route.LearnOptions{Buckets: 4096, Seed: 3})
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
		if got := d.Route + "/" + d.SubRoute; got != want || d.Rule != -1 || !(d.Confidence >= 0 && d.Confidence <= 1+1e-9) {
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
		l, err := route.Learn(lessons(), route.LearnOptions{Buckets: 1024, Epochs: 3, Seed: 7})
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

func TestLearnWithoutOutsidersGivesAlways(t *testing.T) {
	t.Parallel()
	var in []route.Example
	for _, e := range lessons() {
		if e.Route != "" {
			in = append(in, e)
		}
	}
	l, err := route.Learn(in, route.LearnOptions{Buckets: 1024, Epochs: 2})
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
		examples []route.Example
		o        route.LearnOptions
	}{
		"nothing": {}, "one route": {examples: []route.Example{{Text: "a", Route: "a"}, {Text: "b"}}}, "only none": {examples: []route.Example{{Text: "a"}}},
		"buckets": {two, route.LearnOptions{Buckets: 3}}, "epochs": {two, route.LearnOptions{Epochs: -1}}, "rate": {two, route.LearnOptions{Rate: -1}}, "refuse": {two, route.LearnOptions{Refuse: 1}},
	} {
		if _, err := route.Learn(tc.examples, tc.o); !errors.Is(err, callvet.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
