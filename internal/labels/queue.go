// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labels

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/stats/judge"
)

// Strategy is the sampling method for things to label.
type Strategy string

// The strategies.
const (
	// AtRandom draws from all things: the labels may calibrate the judge for other runs.
	AtRandom Strategy = "random"
	// Neyman draws from judge-passes and judge-fails so that true success of this
	// run gets the narrowest interval.
	Neyman Strategy = "neyman"
	// Disagree first draws things on which judges, or a judge and callvet, disagree: for making a
	// judge, never for calibrating it.
	Disagree Strategy = "disagree"
)

// Queue chooses the next things to label.
type Queue struct {
	Strategy Strategy
	// Judge is the name or ID of the judge that stratifies the run by its verdicts; "" means the
	// only one. Neyman needs one.
	Judge string
	// N is how many things to label, Double the share of them, in [0,1], that another person has
	// already labelled.
	N      int
	Double float64
	By     string
	Role   Role
	// Unit is the kind of things to label; "" means Task.
	Unit Unit
	// Run is the name of the run in labels.
	Run string
	// Seed decides the order, which stays the same while labels are added.
	Seed uint64
}

// CalibrationItem is one attempt of a run that could be labelled, or a call or a turn of one.
type CalibrationItem struct {
	Key
	Fingerprint string
	Judged      []Verdict
	// Auto is the verdict of the source's own checks; nil: none.
	Auto *bool
}

// disputed reports whether two verdicts or labels on the item disagree.
func (it *CalibrationItem) disputed() bool {
	var pass, fail bool
	for _, v := range it.Judged {
		if passed, known := v.Passed(); known {
			pass, fail = pass || passed, fail || !passed
		}
	}
	if it.Auto != nil {
		pass, fail = pass || *it.Auto, fail || !*it.Auto
	}
	return pass && fail
}

// Next draws things to label: labels without a verdict, with stratum and frame, in an order that
// does not reveal the judge's verdicts. For tasks it draws one attempt each. Calls and turns are
// drawn from all of them, since a rate by call counts each; equal ones of equal outputs count as
// one. It returns fewer than N where there are not more. The error wraps callvet.ErrInvalid for
// an impossible Queue and callvet.ErrNotFound where the judge has no verdict.
func (q Queue) Next(run []CalibrationItem, done []Label) ([]Label, error) {
	q.Unit = cmp.Or(q.Unit, Task)
	if err := q.check(); err != nil {
		return nil, err
	}
	if q.Judge == "" {
		q.Judge = onlyJudge(run)
	}
	frame, stratum, err := q.frame(run)
	if err != nil {
		return nil, err
	}
	done, _ = Latest(done)
	mine, labelled, others := q.labelled(run, done)
	designed, kept := usedFor(done) // by any target: the maker of the judge saw the task
	var again, fresh []Label
	disputed := 0 // they are first in fresh
	for _, it := range q.shuffled(run) {
		t := drawnOf(it.Key, it.Fingerprint)
		if mine[t] || q.Role != Design && designed[it.TaskID] || q.Role == Design && kept[it.TaskID] {
			continue
		}
		l := Label{Key: it.Key, Fingerprint: it.Fingerprint, Run: q.Run, By: q.By, Role: q.Role, Judged: it.Judged}
		l.Unit = q.Unit
		if o, ok := others[l.Thing()]; ok {
			l.Stratum, l.Frame, l.Role, l.Draw = o.Stratum, o.Frame, o.Role, o.Draw
			again = append(again, l)
			mine[t] = true
			continue
		}
		if labelled[t] {
			continue
		}
		mine[t] = true
		l.Stratum, l.Frame = Random, &frame
		if q.Strategy == Neyman {
			l.Stratum = stratum[it.Key]
		}
		if q.Strategy == Disagree {
			l.Stratum = Disagreement
			if it.disputed() {
				disputed++
				fresh = slices.Insert(fresh, disputed-1, l)
				continue
			}
		}
		fresh = append(fresh, l)
	}
	twice := min(int(q.Double*float64(q.N)+0.5), len(again))
	out := again[:twice:twice]
	if fresh, err = q.allocate(fresh, done, frame, q.N-twice); err != nil {
		return nil, err
	}
	q.number(fresh, done)
	out = append(out, fresh...)
	slices.SortFunc(out, func(a, b Label) int { return cmp.Compare(q.rank(a.Key), q.rank(b.Key)) })
	return out, nil
}

// number sets the draw of labels for calibration.
func (q Queue) number(fresh, done []Label) {
	if q.Role != Calibrating {
		return
	}
	judge := ""
	if q.Strategy == Neyman {
		judge = q.Judge
	}
	order := fmt.Appendf(nil, "%s\x00%s\x00%s\x00%d", q.Run, q.Strategy, judge, q.Seed)
	if q.Unit.Part() {
		order = fmt.Appendf(order, "\x00%s", q.Unit)
	}
	sum := sha256.Sum256(order)
	id := hex.EncodeToString(sum[:8])
	of := map[Stratum]*Draw{}
	drawn := func(l *Label, last string) *Draw {
		d := of[l.Stratum]
		if d == nil {
			d = &Draw{ID: id, Seed: strconv.FormatUint(q.Seed, 10)}
			of[l.Stratum] = d
		}
		d.N, d.Last = d.N+1, max(d.Last, last)
		return d
	}
	seen := map[Key]bool{}
	for i := range done {
		if l := &done[i]; l.Draw != nil && l.Draw.ID == id && !seen[l.Key] {
			seen[l.Key] = true
			drawn(l, l.Draw.Last)
		}
	}
	for i := range fresh {
		fresh[i].Draw = drawn(&fresh[i], rankText(q.rank(fresh[i].Key)))
	}
}

// rankText is a rank as a text that sorts like the rank.
func rankText(rank uint64) string { return fmt.Sprintf("%016x", rank) }

// drawn is a sampling unit: a task of a target, or a call or a turn of an output.
type drawn struct {
	target, id string
	part       Thing
}

func drawnOf(k Key, fingerprint string) drawn {
	if k.Unit.Part() {
		return drawn{part: ThingOf(k, fingerprint)}
	}
	return drawn{target: k.Target, id: k.TaskID}
}

// labelled returns the things with a label, the things labelled by the same person, and the
// labels of other people.
func (q Queue) labelled(run []CalibrationItem, done []Label) (mine, all map[drawn]bool, others map[Thing]Label) {
	of := map[Thing][]drawn{} // equal outputs of several attempts or targets
	for i := range run {
		thing := ThingOf(run[i].Key, run[i].Fingerprint)
		of[thing] = append(of[thing], drawnOf(run[i].Key, run[i].Fingerprint))
	}
	mine, all, others = map[drawn]bool{}, map[drawn]bool{}, map[Thing]Label{}
	for _, l := range done {
		if l.Unit != q.Unit {
			continue
		}
		for _, t := range of[l.Thing()] {
			all[t] = true
			if Person(l.By) == Person(q.By) {
				mine[t] = true
			} else {
				others[l.Thing()] = l
			}
		}
	}
	return mine, all, others
}

// check refuses an impossible Queue.
func (q Queue) check() error {
	if q.N < 1 || !(q.Double >= 0 && q.Double <= 1) {
		return fmt.Errorf("draw %ss: %w: n is at least 1, the doubled share in [0,1]", q.Unit, callvet.ErrInvalid)
	}
	if known := []string{string(AtRandom), string(Neyman), string(Disagree)}; !slices.Contains(known,
		string(q.Strategy)) {
		err := fmt.Errorf("draw %ss: %w: strategy %q is not one of %v", q.Unit, callvet.ErrInvalid, q.Strategy, known)
		if near := callvet.Nearest(string(q.Strategy), known); near != "" {
			err = fmt.Errorf("%w: did you mean %s?", err, near)
		}
		return err
	}
	if q.Strategy == Disagree && q.Role != Design {
		return &callvet.Hinted{
			Err: fmt.Errorf("draw %ss: %w: those on which judges disagree are for the design of a judge, not for %s",
				q.Unit, callvet.ErrInvalid, q.Role),
			Hint: "--role design, or --strategy random",
		}
	}
	return nil
}

// onlyJudge is the ID of the judge of a run; "" where there is none, or several.
func onlyJudge(run []CalibrationItem) string {
	id := ""
	for _, it := range run {
		for _, v := range it.Judged {
			if id != "" && id != v.ID() {
				return ""
			}
			id = v.ID()
		}
	}
	return id
}

// frame counts the run by verdict, and returns the stratum of each attempt; without a judge all are
// unjudged.
func (q Queue) frame(run []CalibrationItem) (Frame, map[Key]Stratum, error) {
	var f Frame
	stratum := map[Key]Stratum{}
	ids := map[string]bool{}
	for _, it := range run {
		i := slices.IndexFunc(it.Judged, func(v Verdict) bool { return q.Judge != "" && v.Is(q.Judge) })
		pass, known := false, false
		if i >= 0 {
			ids[it.Judged[i].ID()] = true
			pass, known = it.Judged[i].Passed()
		}
		switch {
		case known && pass:
			f.JudgePass++
			stratum[it.Key] = JudgePass
		case known:
			f.JudgeFail++
			stratum[it.Key] = JudgeFail
		default:
			f.Unjudged++
		}
	}
	switch {
	case len(ids) > 1:
		return f, nil, fmt.Errorf("draw %ss: %w: %d judges are called %q; name one by its ID", q.Unit,
			callvet.ErrInvalid, len(ids), q.Judge)
	case q.Strategy == Neyman && f.JudgePass+f.JudgeFail == 0:
		return f, nil, &callvet.Hinted{
			Err: fmt.Errorf("draw %ss by verdict: %w: no %s has a verdict of judge %q", q.Unit, callvet.ErrNotFound,
				q.Unit, q.Judge),
			Hint: "--judge NAME, or --strategy random",
		}
	}
	return f, stratum, nil
}

// allocate chooses n sampling units: the first ones, or the best number of each verdict.
func (q Queue) allocate(fresh []Label, done []Label, f Frame, n int) ([]Label, error) {
	if q.Strategy != Neyman {
		return fresh[:min(n, len(fresh))], nil
	}
	if n < 1 {
		return nil, nil
	}
	p := float64(f.JudgePass) / float64(f.JudgePass+f.JudgeFail)
	a, b := q.guess(done)
	share, ok := judge.AllocateByVerdict(p, a, b, n)
	if !ok {
		return nil, fmt.Errorf("draw %ss by verdict: %w: no way to divide %d labels", q.Unit, callvet.ErrInvalid, n)
	}
	left := map[Stratum]int{JudgePass: share.Pass, JudgeFail: share.Fail}
	var out []Label
	for _, l := range fresh {
		if left[l.Stratum] > 0 {
			left[l.Stratum]--
			out = append(out, l)
		}
	}
	return out, nil
}

// guess is the share of true passes among judge-passes and judge-fails so far.
func (q Queue) guess(done []Label) (a, b float64) {
	var s judge.Strata
	for _, l := range done {
		i := slices.IndexFunc(l.Judged, func(v Verdict) bool { return v.Is(q.Judge) })
		if i < 0 || l.Pass == nil || l.Unit != q.Unit {
			continue
		}
		if pass, known := l.Judged[i].Passed(); known {
			addStratum(&s, pair{truth: *l.Pass, judged: pass})
		}
	}
	a, b = judge.GuessPass, judge.GuessFail
	if s.LabelledPass >= judge.MinStratum {
		a = float64(s.TruePassInPass) / float64(s.LabelledPass)
	}
	if s.LabelledFail >= judge.MinStratum {
		b = float64(s.TruePassInFail) / float64(s.LabelledFail)
	}
	return a, b
}

// shuffled is a random order of attempts that is the same every time: a person who was
// interrupted continues at the same place of the sample.
func (q Queue) shuffled(run []CalibrationItem) []CalibrationItem {
	run = slices.Clone(run)
	rank := make(map[Key]uint64, len(run))
	for i := range run {
		rank[run[i].Key] = q.rank(run[i].Key)
	}
	slices.SortFunc(run, func(a, b CalibrationItem) int {
		return cmp.Or(cmp.Compare(rank[a.Key], rank[b.Key]), a.Compare(b.Key))
	})
	return run
}

func (q Queue) rank(k Key) uint64 { return rankOf(q.Seed, k) }

// rankOf is the rank of an attempt, or of a call or a turn, in the order of a seed.
func rankOf(seed uint64, k Key) uint64 {
	text := fmt.Appendf(nil, "%d\x00%s\x00%s\x00%d", seed, k.Target, k.TaskID, k.Attempt)
	if k.Unit.Part() {
		text = fmt.Appendf(text, "\x00%s\x00%d", k.CallID, k.Turn)
	}
	sum := sha256.Sum256(text)
	return binary.BigEndian.Uint64(sum[:8])
}

// usedFor are the tasks labelled for the design of a judge, and the tasks labelled for anything
// else.
func usedFor(ls []Label) (design, other map[string]bool) {
	design, other = map[string]bool{}, map[string]bool{}
	for i := range ls {
		if ofDesign(&ls[i]) {
			design[ls[i].TaskID] = true
		} else {
			other[ls[i].TaskID] = true
		}
	}
	return design, other
}

// ofDesign reports whether a label is for the design of the judge: it is for neither estimates nor
// checks.
func ofDesign(l *Label) bool {
	return l.Role == Design || l.Stratum == Disagreement
}
