// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/retrieve/learn"
)

// cases makes a question for each word "right:before>after"; several answers of one
// side are divided by commas.
func cases(words string) (qs []Question, before, after []Outcome) {
	side := func(right, chosen string) (o Outcome) {
		for c := range strings.SplitSeq(chosen, ",") {
			if c == "!" { // an error
				continue
			}
			o.Rights = append(o.Rights, c == right)
			o.Chosen = []string{c}
		}
		return o
	}
	for i, w := range strings.Fields(words) {
		right, rest, _ := strings.Cut(w, ":")
		b, a, _ := strings.Cut(rest, ">")
		id := fmt.Sprint(i)
		qs = append(qs, Question{
			Question: learn.Question{Case: id, Text: id, Right: []string{right}},
			Of:       &callvet.Case{ID: id}, Want: callvet.Selection{Tools: []string{right}},
		})
		before, after = append(before, side(right, b)), append(after, side(right, a))
	}
	return qs, before, after
}

func TestCompare(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		words    string
		verdict  panel.Change
		sentence string
		tools    string
	}{
		"theft": {
			"e:x>e e:e>e a:a>e a:a>e b:b>x", panel.ChangeUnclear,
			"not clear: 1 newly right and 3 newly wrong of 5 cases: -40.0 pp […], p 0.375; if that is the true difference, about 32 more cases would decide; 2 questions were taken from other tools",
			"e edited 2 +[0] -[] lost to [] took [2 3]; a 2 +[] -[2 3] lost to [e] took []; b 1 +[] -[4] lost to [x] took []",
		},
		"better": {
			strings.Repeat("e:x>e ", 9) + "a:a>a a:b>b", panel.ChangeBetter,
			"better: 9 newly right and 0 newly wrong of 11 cases: +81.8 pp […], p 0.002",
			"e edited 9 +[0 1 2 3 4 5 6 7 8] -[] lost to [] took []",
		},
		"worse": {
			strings.Repeat("a:a>e ", 9), panel.ChangeWorse,
			"worse: 0 newly right and 9 newly wrong of 9 cases: -100.0 pp […], p 0.002; 9 questions were taken from other tools", "e edited 0 +[] -[] lost to [] took [0 1 2 3 4 5 6 7 8]; a 9 +[] -[0 1 2 3 4 5 6 7 8] lost to [e] took []",
		},
		"nothing changed": {
			"a:a>a e:x>x", panel.ChangeUnclear, "not clear: no case of 2 changed",
			"e edited 1 +[] -[] lost to [] took []",
		},
		"errors": {
			"a:!>a e:x>!", panel.ChangeNone, "not comparable: no case was judged on both sides",
			"e edited 0 +[] -[] lost to [] took []",
		},
		"several attempts": {
			"e:x,x,e>e,e,e a:a,a,a>a,a,a e:e,x,e>e,e,e", panel.ChangeUnclear,
			"not clear: 1 newly right and 0 newly wrong of 3 cases: +33.3 pp […], p 0.500; if that is the true difference, about 5 more cases would decide", "e edited 2 +[0] -[] lost to [] took []",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			qs, before, after := cases(c.words)
			got := CompareOutcomes("x", FirstRight, qs, before, after, []string{"e"})
			// The interval is package panel's, and tested there.
			said := regexp.MustCompile(`\[[^]]*\]`).ReplaceAllString(got.Sentence, "[…]")
			if got.Verdict != c.verdict || said != c.sentence {
				t.Errorf("%s, %q\nwant %q", got.Verdict, got.Sentence, c.sentence)
			}
			var tools []string
			for _, e := range got.Tools {
				mark := ""
				if e.Edited {
					mark = " edited"
				}
				tools = append(tools, fmt.Sprintf("%s%s %d +%v -%v lost to %v took %v", e.Tool, mark, e.Cases, e.Right,
					e.Wrong, e.LostTo, e.Took))
			}
			if diff := cmp.Diff(c.tools, strings.Join(tools, "; ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The reported number of needed cases is right: with that many more cases that change alike, there
// is a verdict.
func TestNeededReports(t *testing.T) {
	t.Parallel()
	words := "e:x>e e:x>e e:x>e " + strings.Repeat("a:a>a ", 17)
	qs, before, after := cases(words)
	c := CompareOutcomes("x", FirstRight, qs, before, after, nil)
	if c.Verdict != panel.ChangeUnclear || c.Needed < 20 || c.Needed > 60 {
		t.Fatalf("%s: %d more", c.Sentence, c.Needed)
	}
	qs, before, after = cases(strings.Repeat(words, 1+(c.Needed+19)/20))
	if c := CompareOutcomes("x", FirstRight, qs, before, after, nil); c.Verdict != panel.ChangeBetter {
		t.Error(c.Sentence)
	}
}

// Among several models more cases are needed. That is also reported for one that alone would have
// enough.
func TestNeededNamesModels(t *testing.T) {
	t.Parallel()
	family := func(words string) []*Comparison {
		var out []*Comparison
		for range 3 {
			qs, before, after := cases(words)
			out = append(out, CompareOutcomes("m", ChosenRight, qs, before, after, nil))
		}
		return out
	}
	for _, words := range []string{
		"e:x>e e:x>e e:x>e " + strings.Repeat("a:a>a ", 17),
		strings.Repeat("e:x>e ", 5) + strings.Repeat("a:a>a ", 15),
	} {
		all := family(words)
		alone := all[0].Needed
		Family(all)
		c := all[0]
		if c.Verdict != panel.ChangeUnclear || c.Needed <= alone ||
			!strings.Contains(c.Sentence, "more cases would decide") {
			t.Fatalf("%s: %d more, %d alone", c.Sentence, c.Needed, alone)
		}
		all = family(strings.Repeat(words, 1+(c.Needed+19)/20))
		if Family(all); all[0].Verdict != panel.ChangeBetter {
			t.Error(all[0].Sentence)
		}
	}
}

func TestLowers(t *testing.T) {
	t.Parallel()
	at := func(change, mrr float64) *Comparison {
		c := &Comparison{MRR: &MeanDifference{}, main: panel.Difference{NewlyFailing: 2, NewlyPassing: 1}}
		c.main.Change.Point, c.MRR.Change.Point = change, mrr
		return c
	}
	for want, c := range map[string]*Comparison{
		"2 cases are newly wrong, 1 newly right":                 at(-0.1, 0.5),
		"as many first tools are right, and MRR falls by 0.0100": at(0, -0.01),
		"": at(0, 0),
	} {
		if got := c.Lowers(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if at(0.01, -0.5).Lowers() != "" {
		t.Error("more first tools are right")
	}
}

// Of n cases that all change one way the mid-p of McNemar's test is 2^-n: three models
// with 8, 5 and 5 such cases have 1/256, 1/32 and 1/32, and by Holm 3/256 and twice
// 2/32, which no longer shows a loss. What could not be compared is of no family.
func TestModelsAreOneFamily(t *testing.T) {
	t.Parallel()
	var models []*Comparison
	for _, words := range []string{
		strings.Repeat("a:a>x ", 8), strings.Repeat("a:x>a ", 5), "a:!>a",
		strings.Repeat("a:a>x ", 5),
	} {
		qs, before, after := cases(words)
		models = append(models, CompareOutcomes("m", ChosenRight, qs, before, after, nil))
	}
	if v := models[1].Verdict; v != panel.ChangeBetter {
		t.Fatalf("alone: %s", v)
	}
	Family(models)
	p := func(x float64) *float64 { return &x }
	for i, want := range []struct {
		p        *float64
		verdict  panel.Change
		sentence string
	}{
		{p(3. / 256), panel.ChangeWorse, ", p 0.004, 0.012 over 3 models (Holm)"},
		{p(2. / 32), panel.ChangeUnclear, ", p 0.031, 0.062 over 3 models (Holm)"},
		{nil, panel.ChangeNone, "no case was judged"},
		{
			p(2. / 32), panel.ChangeUnclear,
			"not clear, as one of several models: 0 newly right and 5 newly wrong of 5 cases",
		},
	} {
		got := models[i]
		if diff := cmp.Diff(want.p, got.Adjusted); diff != "" || got.Verdict != want.verdict ||
			!strings.Contains(got.Sentence, want.sentence) {
			t.Errorf("%s %q %s", got.Verdict, got.Sentence, diff)
		}
	}
	qs, was, is := cases(strings.Repeat("a:a>x ", 8))
	alone := []*Comparison{CompareOutcomes("m", ChosenRight, qs, was, is, nil)}
	if Family(alone); alone[0].Adjusted != nil {
		t.Error("one model is no family")
	}
}

// TestVerdictsOfFamilies: among several tools, and among several models, one is better or worse only
// where that holds among all of them.
func TestVerdictsOfFamilies(t *testing.T) {
	t.Parallel()
	// Six questions of one tool turn right, which alone is significant; nothing else changes.
	side := func(tools, rightFrom int) (qs []Question, out []Outcome) {
		for i := range 6 * tools {
			qs = append(qs,
				Question{Question: learn.Question{Case: fmt.Sprint("c", i), Right: []string{fmt.Sprint("t", i/6)}}})
			out = append(out, Outcome{Rights: []bool{i >= rightFrom}})
		}
		return qs, out
	}
	for _, tt := range []struct {
		tools int
		want  panel.Change
	}{{1, panel.ChangeBetter}, {4, panel.ChangeUnclear}} {
		qs, before := side(tt.tools, 6)
		_, after := side(tt.tools, 0)
		var edited []string
		for i := range tt.tools {
			edited = append(edited, fmt.Sprint("t", i))
		}
		c := CompareOutcomes("retriever", FirstRight, qs, before, after, edited)
		for i := range c.Tools {
			if e := &c.Tools[i]; e.Tool == "t0" && e.Own.Verdict != tt.want {
				t.Errorf("%d tools: %s, p %v", tt.tools, e.Own.Verdict, e.Own.P)
			}
		}
		models := []*Comparison{c}
		for range 3 {
			models = append(models, CompareOutcomes("model", FirstRight, qs, before, before, edited))
		}
		Family(models)
		if r := &c.Rates[0]; r.Verdict != c.Verdict || r.Verdict != panel.ChangeUnclear {
			t.Errorf("%d tools, one model of four: %s beside %s", tt.tools, r.Verdict, c.Verdict)
		}
	}
}
