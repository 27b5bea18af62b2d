// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
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

// Majority is the majority verdict of the judges of the same units. It counts as a judge, which may
// be calibrated like others. A unit has the verdict of more than half of all judges, and is
// unscored without one.
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
	// Rate is the share that Against won, in [0,1]; a tie counts half. Its interval treats the
	// attempts at a task as correlated.
	Rate stats.Interval `json:"rate"`
}

// JudgedLevel is the confidence of intervals about judges.
const JudgedLevel = 0.95

// MajorityVerdicts computes the majority of each unit with several judges, from the newest judging
// of each judge and model.
func (d *Judged) MajorityVerdicts() {
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

// majorityOf returns the name of a majority as a judge.
func majorityOf(unit judge.Unit) string { return "majority:" + string(unit) }

// majority computes the majority verdict of each unit, in the order of first appearance.
func (d *Judged) majority(unit judge.Unit, of []int) Majority {
	var names, ids []string
	verdicts := map[string][]judge.Verdict{}
	var things []judge.Key
	for n, at := range of {
		v := &d.Judgings[at]
		names, ids = append(names, v.Judge.Name+" by "+v.Judge.Model), append(ids, v.JudgeID)
		for i := range v.Verdicts {
			t := &v.Verdicts[i]
			k := t.Key.String()
			if verdicts[k] == nil {
				things = append(things, t.Key)
				verdicts[k] = slices.Repeat([]judge.Verdict{{Unscored: "a judge said nothing of it"}}, len(of))
			}
			// The majority proposes no alternative.
			verdicts[k][n] = judge.Verdict{Pass: t.Pass, Score: t.Score, Reason: t.Reason, Unscored: t.Unscored}
			if t.Scored() && t.Pass == nil {
				verdicts[k][n].Unscored = "a judge gives a score and no verdict"
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
		c := judge.Combine(verdicts[k.String()])
		if 2*c.Agreement*float64(c.Read) <= float64(len(of)) {
			c.Verdict = judge.Verdict{Unscored: fmt.Sprintf("no verdict has more than half of the %d judges", len(of))}
		}
		out.Verdicts = append(out.Verdicts, ThingVerdict{Key: k, Combined: c})
	}
	out.count()
	return out
}

// wins counts which target did better, by pair of targets.
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
		c.Rate = stats.NeffInterval(c.values, c.tasks, JudgedLevel, stats.DefaultRho0)
		v.Wins = append(v.Wins, c.Wins)
	}
}
