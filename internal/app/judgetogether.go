// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/callvet/callvet/internal/judge"
	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/stats"
)

// JudgeAgreement is the agreement of two judges on things with readable verdicts of both, by their
// positions among the judgings.
type JudgeAgreement struct {
	A int `json:"a"`
	B int `json:"b"`
	labels.JudgesBetween
}

// Coefficients are kappa and AC1 in words.
func (g *JudgeAgreement) Coefficients() string {
	say := func(name string, iv stats.Interval) string {
		switch {
		case math.IsNaN(iv.Point): // all say one thing
			return name + " is not defined"
		case iv.SE > 0:
			return fmt.Sprintf("%s %.2f (%.2f to %.2f)", name, iv.Point, iv.Lower, iv.Upper)
		}
		return fmt.Sprintf("%s %.2f without an interval", name, iv.Point)
	}
	return say("kappa", g.Kappa) + ", " + say("AC1", g.AC1)
}

// Majority is what the judges of the same things say together. It is a judge of its own, which
// may be calibrated as any other. A thing has the verdict that more than half of all of them give,
// and is unscored where none has so many.
type Majority struct {
	// Of are the positions of the judgings: the newest by each judge and model.
	Of []int `json:"of"`
	JudgingView
}

// Wins is how often one of two targets did better, by a judge that compares.
type Wins struct {
	Target  string `json:"target"`
	Against string `json:"against"`
	// Won counts the tasks × attempts at which Target did better, Lost those at which Against
	// did.
	Won  int `json:"won"`
	Lost int `json:"lost"`
	Ties int `json:"ties"`
	// Rate is the share that Against won, a tie being half of it, in [0,1]. Its interval takes
	// the attempts at a task for alike.
	Rate stats.Interval `json:"rate"`
}

// judgedLevel is the confidence of intervals about judges.
const judgedLevel = 0.95

// together compares judgings with one another, and takes a majority of them.
func (d *Judged) together() {
	for i := range d.Judgings {
		for k := i + 1; k < len(d.Judgings); k++ {
			if b := between(&d.Judgings[i], &d.Judgings[k]); b.N > 0 {
				d.Agreement = append(d.Agreement, JudgeAgreement{i, k, b})
			}
		}
	}
	d.majorities()
}

// majorities takes the majority of each unit that several judge: of each judge and model the newest
// judging.
func (d *Judged) majorities() {
	by := map[judge.Unit][]int{}
	for i := range d.Judgings {
		v := &d.Judgings[i]
		if v.Unit == judge.Pair || v.Unit == judge.Target {
			continue
		}
		of := by[v.Unit]
		at := slices.IndexFunc(of, func(k int) bool {
			o := &d.Judgings[k].Judge
			return o.Name == v.Judge.Name && o.Model == v.Judge.Model
		})
		if at >= 0 {
			of[at] = i
		} else {
			by[v.Unit] = append(of, i)
		}
	}
	for _, unit := range []judge.Unit{judge.Task, judge.Rubric, judge.Call, judge.Turn} {
		if len(by[unit]) > 1 {
			d.Majorities = append(d.Majorities, d.majority(unit, by[unit]))
		}
	}
}

// majorityOf is the name of the judge that a majority is.
func majorityOf(unit judge.Unit) string { return "majority:" + string(unit) }

// between compares two judgings on what both can be read of.
func between(a, b *JudgingView) labels.JudgesBetween {
	words := map[string]int{}
	word := func(t *ThingVerdict) int {
		w := t.Word
		if t.Pass != nil {
			w = map[bool]string{true: "pass", false: "fail"}[*t.Pass]
		}
		if _, known := words[w]; !known {
			words[w] = len(words)
		}
		return words[w]
	}
	by := map[string]*ThingVerdict{}
	for i := range a.Verdicts {
		by[a.Verdicts[i].Key.String()] = &a.Verdicts[i]
	}
	var both []labels.Twice
	for i := range b.Verdicts {
		t := &b.Verdicts[i]
		if o := by[t.Key.String()]; o != nil && o.Scored() && t.Scored() {
			both = append(both, labels.Twice{Task: t.Task, A: word(o), B: word(t)})
		}
	}
	return labels.BetweenJudges(both, max(2, len(words)), judgedLevel)
}

// majority takes the majority verdict of each thing, in the order of first appearance.
func (d *Judged) majority(unit judge.Unit, of []int) Majority {
	var names, ids []string
	said := map[string][]judge.Verdict{}
	var things []judge.Key
	for n, at := range of {
		v := &d.Judgings[at]
		names, ids = append(names, v.Judge.Name+" by "+v.Judge.Model), append(ids, v.JudgeID)
		for i := range v.Verdicts {
			t := &v.Verdicts[i]
			k := t.Key.String()
			if said[k] == nil {
				things = append(things, t.Key)
				said[k] = slices.Repeat([]judge.Verdict{{Unscored: "a judge said nothing of it"}}, len(of))
			}
			// What they would have done instead is not voted on.
			said[k][n] = judge.Verdict{Pass: t.Pass, Score: t.Score, Reason: t.Reason, Unscored: t.Unscored}
			if t.Scored() && t.Pass == nil {
				said[k][n].Unscored = "a judge gives a score and no verdict"
			}
		}
	}
	slices.Sort(ids)
	sum := sha256.Sum256([]byte(strings.Join(ids, "\n")))
	first := &d.Judgings[of[0]]
	out := Majority{Of: of, JudgingView: JudgingView{
		About: first.About, Unit: unit, Samples: len(of), Words: map[string]int{}, Whys: map[string]int{},
		Judge: labels.Judge{
			Name: majorityOf(unit), Model: strings.Join(names, ", "),
			PromptHash: hex.EncodeToString(sum[:8]),
		},
	}}
	for _, at := range of {
		if v := &d.Judgings[at]; v.Created.After(out.Created) {
			out.Created = v.Created
		}
	}
	out.JudgeID, out.Questions, out.Answered = out.Judge.ID(), len(things), len(things)
	for _, k := range things {
		c := judge.Combine(said[k.String()])
		if 2*c.Agreement*float64(c.Read) <= float64(len(of)) {
			c.Verdict = judge.Verdict{Unscored: fmt.Sprintf("no verdict has more than half of the %d judges", len(of))}
		}
		out.Verdicts = append(out.Verdicts, ThingVerdict{Key: k, Combined: c})
	}
	out.count()
	return out
}

// wins counts who did better, by pair of targets.
func (v *JudgingView) wins() {
	if v.Unit != judge.Pair {
		return
	}
	type pair struct{ a, b string }
	type count struct {
		Wins
		values []float64
		tasks  []int
	}
	by := map[pair]*count{}
	tasks := map[string]int{}
	var order []pair
	for i := range v.Verdicts {
		t := &v.Verdicts[i]
		k := pair{t.Target, t.Against}
		if by[k] == nil {
			by[k] = &count{Wins: Wins{Target: k.a, Against: k.b}}
			order = append(order, k)
		}
		if _, known := tasks[t.Task]; !known {
			tasks[t.Task] = len(tasks)
		}
		c, x := by[k], 0.0
		switch {
		case !t.Scored():
			continue
		case t.Word == "a":
			c.Won++
		case t.Word == "b":
			c.Lost, x = c.Lost+1, 1
		default:
			c.Ties, x = c.Ties+1, 0.5
		}
		c.values, c.tasks = append(c.values, x), append(c.tasks, tasks[t.Task])
	}
	for _, k := range order {
		c := by[k]
		c.Rate = stats.NeffInterval(c.values, c.tasks, judgedLevel, stats.DefaultRho0)
		v.Wins = append(v.Wins, c.Wins)
	}
}
