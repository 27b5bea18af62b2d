// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

func TestLikeness(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, a, b  string
		least, most float64
	}{
		{"the same", "Where is my order?", "Where is my order?", 1, 1},
		{"punctuation and case", "where is my order", "Where is MY order?!", 1, 1},
		{"other numbers", "Order 12 is late", "Order 990 is late", 1, 1},
		{"accents count", "está", "esta", 0.1, 0.9},
		{"one word more", "Where is my order, please?", "Where is my order?", 0.6, 0.8},
		{"another question", "Where is my order?", "Book a table for two", 0, 0.1},
		{"nothing", "", "?!", 1, 1},
		{"nothing and something", "", "Where?", 0, 0},
		{"not Latin", "我的订单在哪里", "我的订单在哪里？", 1, 1},
	} {
		got, back := Likeness(tt.a, tt.b), Likeness(tt.b, tt.a)
		if got != back || got < tt.least || got > tt.most {
			t.Errorf("%s: %g and %g the other way, want %g to %g", tt.name, got, back, tt.least, tt.most)
		}
	}
}

// asksOf is what is kept of prompts.
func asksOf(prompts ...string) (list []asked) {
	for i, p := range prompts {
		list = append(list, asked{id: fmt.Sprint(i), pieces: pieces(p)})
	}
	return list
}

// TestNearPairs: the pairs that all comparisons find are those that prefixes find.
func TestNearPairs(t *testing.T) {
	t.Parallel()
	words := strings.Fields(
		"where is my order blue red shoes from last week please tell me when it comes and who brings it to the house of my aunt")
	random := rand.New(rand.NewPCG(1, 2))
	prompts := make([]string, 400)
	for i := range prompts {
		if i > 0 && random.IntN(3) == 0 { // an earlier one with a word changed
			old := strings.Fields(prompts[random.IntN(i)])
			old[random.IntN(len(old))] = words[random.IntN(len(words))]
			prompts[i] = strings.Join(old, " ")
			continue
		}
		for range 10 + random.IntN(20) {
			prompts[i] += words[random.IntN(len(words))] + " "
		}
	}
	list := asksOf(prompts...)
	got, compared := nearPairs(list, alikeSteps)
	if compared != len(list) {
		t.Errorf("%d of %d prompts compared", compared, len(list))
	}
	like := map[int]bool{}
	var want []nearPair
	for i := range list {
		best := nearPair{first: -1, second: i}
		for j := range i {
			if l := jaccard(list[i].pieces, list[j].pieces); !like[j] && l >= alikeFrom && l > best.likeness {
				best.first, best.likeness = j, l
			}
		}
		if best.first >= 0 {
			like[i] = true
			want = append(want, best)
		}
	}
	// of two equally like the first found
	pair := func(p nearPair) string { return fmt.Sprintf("%d %.6f", p.second, p.likeness) }
	if diff := cmp.Diff(texts(want, pair), texts(got, pair)); diff != "" || len(want) < 20 {
		t.Errorf("%d pairs by all comparisons (-), by prefixes (+): %s", len(want), diff)
	}
	if short, compared := nearPairs(list, 1000); len(short) >= len(got) || compared >= len(list) {
		t.Errorf("%d pairs and %d prompts with 1000 steps, %d pairs without a bound", len(short), compared, len(got))
	}
}

func texts[T any](list []T, text func(T) string) (out []string) {
	for _, v := range list {
		out = append(out, text(v))
	}
	return out
}

// TestAlikeTakesBoundedTime: 10,000 prompts of one template, and 10,000 that share most of
// their words and are not alike.
func TestAlikeTakesBoundedTime(t *testing.T) {
	t.Parallel()
	words := make([]string, 60)
	random := rand.New(rand.NewPCG(3, 4))
	for i := range words {
		for range 7 {
			words[i] += string(rune('a' + random.IntN(26)))
		}
	}
	filled, shuffled := make([]string, 10_000), make([]string, 10_000)
	for i := range filled {
		filled[i] = fmt.Sprintf("What is the weather in town %d on day %d, and do I need a coat?", i, i%31)
		for range 40 {
			shuffled[i] += words[random.IntN(len(words))] + " "
		}
	}
	for _, tt := range []struct {
		name    string
		prompts []string
		alike   int // at least
	}{{"one template", filled, 9_999}, {"the same words", shuffled, 0}} {
		start := time.Now()
		list := asksOf(tt.prompts...)
		pairs, compared := nearPairs(list, alikeSteps)
		took := time.Since(start)
		t.Logf("%s: %d near-duplicates, %d of 10,000 compared, in %v", tt.name, len(pairs), compared, took)
		if len(pairs) < tt.alike {
			t.Errorf("%s: %d near-duplicates, want %d at least", tt.name, len(pairs), tt.alike)
		}
		if took > 30*time.Second { // ten times what a slow machine takes
			t.Errorf("%s: %v for 10,000 prompts", tt.name, took)
		}
	}
}

// TestLintNearDuplicates: which cases are reported, which are not, and how many.
func TestLintNearDuplicates(t *testing.T) {
	t.Parallel()
	reported := func(s *callvet.Suite) (out []string) {
		for _, p := range lint(t.Context(), s, LintOptions{}) {
			if p.Code == "near-duplicate" {
				out = append(out, p.Case)
			}
		}
		return out
	}
	ask := func(id, text string) callvet.Case {
		return callvet.Case{
			ID: id, Input: []callvet.Turn{{Role: callvet.RoleUser, Content: text}},
			Expect: callvet.Expect{ResponseNonEmpty: true},
		}
	}
	other, skipped := ask("other context", "When does the order 12 arrive?"),
		ask("skipped", "When does the order 12 arrive?")
	other.Context, skipped.Skip = "The customer is in Peru.", "later"
	talk := ask("a talk", "When does the order 12 arrive?")
	talk.Input = append([]callvet.Turn{
		{Role: callvet.RoleUser, Content: "I bought shoes, and a hat for my aunt."},
		{Role: callvet.RoleAssistant, Content: "What about them?"},
	}, talk.Input...)
	s := &callvet.Suite{
		Name: "s",
		Cases: []callvet.Case{
			ask("first", "When does the order 12 arrive?"),
			ask("number", "when does the order 7713 arrive"), other, skipped, talk,
			ask("another", "Is there a discount on hats?"),
		},
	}
	if diff := cmp.Diff([]string{"number"}, reported(s)); diff != "" {
		t.Error(diff)
	}
	s.Dialect = "bfcl"
	if got := reported(s); got != nil {
		t.Errorf("a published benchmark is told of %v", got)
	}
	s = &callvet.Suite{Name: "s"}
	for i := range 40 {
		s.Cases = append(s.Cases, ask(fmt.Sprint("c", i), fmt.Sprintf("When does the order %d arrive?", i)))
	}
	if got := reported(s); len(got) != alikeNamed+1 || got[len(got)-1] != "" && got[0] != "" {
		t.Errorf("%d lines of %d near-duplicates, want %d and one that counts the rest: %q", len(got), 39,
			alikeNamed, got)
	}
}

// TestLintReportsHowManyAreCompared: cases that are not compared are counted, skipped ones aside.
func TestLintReportsHowManyAreCompared(t *testing.T) {
	t.Parallel()
	l := linter{s: &callvet.Suite{}, asked: make([]asked, alikeCases-1)}
	for i := range 3 {
		l.remember(&callvet.Case{ID: fmt.Sprint(i), Input: []callvet.Turn{{Role: callvet.RoleUser, Content: "When?"}}})
		l.remember(&callvet.Case{ID: fmt.Sprint("skipped", i), Skip: "later"})
	}
	l.alike()
	if len(l.problems) != 1 || !l.problems[0].Warning ||
		!strings.Contains(l.problems[0].Message, "first 20000 of 20002 cases") {
		t.Errorf("told: %+v", l.problems)
	}
}
