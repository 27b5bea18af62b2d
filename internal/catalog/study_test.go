// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/retrieve/learn"
)

func testStudy(tools map[string]string, order, asked string) (*study, []Question) {
	t := &study{
		bench: &bench{env: &Env{Now: time.Now}, catalogue: &retrieve.Catalogue{}},
		asked: &SuggestRequest{Holdout: 0.5, Top: 10},
	}
	for _, name := range strings.Fields(order) {
		t.catalogue.Entries = append(t.catalogue.Entries,
			retrieve.Entry{Tool: callvet.Tool{Name: name, Description: tools[name]}})
	}
	var qs []Question
	for i, line := range strings.Split(asked, "\n") {
		right, text, _ := strings.Cut(line, ": ")
		want := []string{right}
		qs = append(qs, Question{
			Question: learn.Question{Case: fmt.Sprint(i), Text: text, Right: want},
			Of:       &callvet.Case{ID: fmt.Sprint(i)}, Want: callvet.Selection{Tools: want},
		})
	}
	for i := range qs {
		t.all = append(t.all, qs[i].Question)
	}
	return t, qs
}

// Two descriptions that lower nothing alone and something together are not both
// proposed: a tool with the words of both questions loses one of them.
func TestTogether(t *testing.T) {
	t.Parallel()
	s, qs := testStudy(map[string]string{
		"a": "stone garden apple", "b": "river tiger apple", "c": "piano tiger cloud",
		"d": "piano window apple",
	}, "a b c d",
		"a: stone tiger garden\nb: piano apple apple\nc: garden window window\nd: window stone piano\na: stone garden river\nb: stone piano cloud")
	s.held = qs
	out := &Suggestions{Tools: []Suggestion{
		{Tool: "a", Was: "stone garden apple", Description: "cloud stone stone cloud"},
		{Tool: "b", Was: "river tiger apple", Description: "stone tiger tiger tiger"},
		{Tool: "c", Was: "piano tiger cloud", Description: "nothing", Reasons: []string{"it has fewer than 4 words"}},
	}}
	if err := s.measure(context.Background(), out); err != nil {
		t.Fatal(err)
	}
	proposed := 0
	for i := range out.Tools[:2] {
		g := &out.Tools[i]
		if g.of.Lowers() != "" {
			t.Errorf("%s lowers what is held out alone", g.Tool)
		}
		if g.Status == learn.Proposed {
			proposed++
		} else if !strings.HasPrefix(strings.Join(g.Reasons, ""),
			"together with the others it lowers the held-out part: 1 case is newly wrong") {
			t.Errorf("%s: %v", g.Tool, g.Reasons)
		}
	}
	if proposed != 1 || out.Together == nil || out.Together.Lowers() != "" {
		t.Errorf("%d proposed together", proposed)
	}
	if c := out.Tools[2]; c.Status != learn.Rejected || c.Alone != nil {
		t.Errorf("%+v", c)
	}
}

// Whatever the seed is, no prompt holds a question that is held out, and the file of
// edits names every other.
func TestUnracedPromptsHoldNothingOut(t *testing.T) {
	t.Parallel()
	var asked []string
	for i := range 24 {
		asked = append(asked, fmt.Sprintf("%s: question%d of words%d", []string{"a", "b", "c"}[i%3], i, i%5))
	}
	for seed := range int64(40) {
		s, qs := testStudy(map[string]string{"a": "words0 words1", "b": "words2 words3", "c": "words4"}, "a b c",
			strings.Join(asked, "\n"))
		s.asked.Seed = seed
		for i := range s.catalogue.Entries { // some of the questions are the catalogue's own
			s.catalogue.Entries[i].Examples = []string{qs[i].Text, qs[i+3].Text}
		}
		s.catalogue.Entries[0].Tool.Description += ", such as\n" + qs[12].Text
		if err := s.divide(context.Background(), qs); err != nil {
			t.Fatal(err)
		}
		if len(s.train)+len(s.held) != len(qs) || len(s.held) < 9 || len(s.held) > 15 {
			t.Fatalf("%d seen and %d held out", len(s.train), len(s.held))
		}
		shown := 0
		for i := range s.candidates {
			text, err := learn.RewritePrompt(s.catalogue, &s.candidates[i], PlainQuestions(s.held))
			if err != nil {
				t.Fatal(err)
			}
			for _, q := range s.held {
				if strings.Contains(text, q.Text+`"`) {
					t.Fatalf("seed %d: %q is held out, and in the prompt about %s", seed, q.Text, s.candidates[i].Tool)
				}
			}
			for _, q := range s.train {
				shown += strings.Count(text, `"`+q.Text+`"`)
			}
		}
		if shown == 0 {
			t.Fatal("no prompt has a question")
		}
	}
}

// A share of the examples becomes a confidence once, by the catalog as it is.
func TestLoadSettles(t *testing.T) {
	t.Parallel()
	var told string
	e := &Env{
		Notify: func(n callvet.Notice) { told += n.Text },
		Files: one(
			`{"tools":[{"name":"trains","description":"Train departures","example_queries":["When does the train leave?","Which trains are late?","Trains to Lund","Next train"]},
			{"name":"weather","description":"Weather forecasts","example_queries":["Will it rain?","Weather tomorrow","Is it cold?","Forecast for Lund"]}]}`),
	}
	f := &Search{Tools: "c.json", Settings: Settings{AbstainPercent: 40}}
	if _, err := settled(t.Context(), e, f, ""); err != nil || f.AbstainPercent != 0 || f.Abstain <= 0 ||
		!strings.Contains(told, "40% of the catalogue's example questions (8)") {
		t.Errorf("%+v, told %q: %v", f.Settings, told, err)
	}
}

// one is a file of every name.
type one string

// Read implements catalog.Files.
func (o one) Read(string, int64) ([]byte, error) { return []byte(o), nil }
