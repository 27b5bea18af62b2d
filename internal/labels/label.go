// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labels

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Version of the file forms of this package.
const Version = 1

// FileVersion is the version of written labels files. Lines of version 1 have no fingerprint:
// their labels are treated as made elsewhere.
const FileVersion = 2

// Unit is the kind of a labelled thing.
type Unit string

// The units.
const (
	Task Unit = "task"
	Call Unit = "call"
	// Turn is one turn of the target, with or without calls.
	Turn Unit = "turn"
)

// Units are all of them.
func Units() []Unit { return []Unit{Task, Turn, Call} }

// Part reports whether an attempt may have several such things, which are then correlated.
func (u Unit) Part() bool { return u == Call || u == Turn }

// Role is the permitted use of a label: calibration labels are for estimates, the others for
// checks.
type Role string

// The roles. The empty role of a file is Calibration.
const (
	Calibrating Role = "calibration"
	Validation  Role = "validation"
	Test        Role = "test"
	// Design labels are used while a judge is made. Their things are used for no estimates and no
	// checks, because the judge was made to be right there.
	Design Role = "design"
)

// Stratum is how the task was sampled.
type Stratum string

// The strata. The empty stratum of a file means that it is not recorded.
const (
	Random    Stratum = "random"
	JudgePass Stratum = "judge_pass"
	JudgeFail Stratum = "judge_fail"
	// Disagreement: first the things on which judges, or a judge and callvet, disagree.
	Disagreement Stratum = "disagreement"
)

// Frame counts the population of a sample, by the judge's verdict.
type Frame struct {
	JudgePass int `json:"judge_pass" form:"min=0"`
	JudgeFail int `json:"judge_fail" form:"min=0"`
	Unjudged  int `json:"unjudged,omitempty" form:"min=0"`
}

// Equal reports whether two samples have the same counts; nil, which is not recorded, equals only
// nil.
func (f *Frame) Equal(o *Frame) bool { return equal(f, o) }

// N is how many things were counted.
func (f *Frame) N() int { return f.JudgePass + f.JudgeFail + f.Unjudged }

// Draw is a sample of outputs of one stratum: the first N in a random order. A draw that continues
// an earlier one has the same ID and a larger N.
type Draw struct {
	ID string `json:"id" form:"required full"`
	// Seed determines the order, and Last is the rank of the last drawn output in it.
	Seed string `json:"seed" form:"required"`
	Last string `json:"last" form:"required"`
	N    int    `json:"n" form:"required min=1"`
}

func (f *Frame) valid() bool { return f == nil || min(f.JudgePass, f.JudgeFail, f.Unjudged) >= 0 }

// Key names a labelled or judged thing.
type Key struct {
	Target  string `json:"target,omitempty"`
	TaskID  string `json:"task_id" form:"required full"`
	Attempt int    `json:"attempt,omitempty" form:"min=0"`
	Unit    Unit   `json:"unit,omitempty" form:"words=task|turn|call"`
	CallID  string `json:"call_id,omitempty"`
	// Turn counts the turns of the target, from 1.
	Turn int `json:"turn,omitempty" form:"min=0"`
}

// Compare orders keys by target, task, attempt, unit, call and turn.
func (k Key) Compare(o Key) int {
	return cmp.Or(cmp.Compare(k.Target, o.Target), cmp.Compare(k.TaskID, o.TaskID), cmp.Compare(k.Attempt, o.Attempt),
		cmp.Compare(k.Unit, o.Unit), cmp.Compare(k.CallID, o.CallID), cmp.Compare(k.Turn, o.Turn))
}

// String names the thing for a person.
func (k Key) String() string {
	s := k.TaskID
	if k.CallID != "" {
		s += " call " + k.CallID
	}
	if k.Turn > 0 {
		s += fmt.Sprintf(" turn %d", k.Turn)
	}
	if k.Attempt > 0 {
		s += fmt.Sprintf(" attempt %d", k.Attempt)
	}
	if k.Target != "" {
		s += " of " + k.Target
	}
	return s
}

// Label is one verdict of one person: a line of a labels file.
type Label struct {
	// Version is the version of the line, FileVersion when written; 0 after reading.
	Version int `json:"version,omitempty" form:"min=1 max=2"`
	Key
	// Fingerprint is the fingerprint of the labelled output (see the function); "" if unknown.
	Fingerprint string `json:"fingerprint,omitempty"`
	// Run names the run, or the trace file, with the output when it was labelled.
	Run string `json:"run,omitempty"`
	// Stamped is set when the fingerprint was added after the label was made.
	Stamped *Stamp `json:"stamped,omitempty"`
	// By is the labeller; "" if unknown.
	By   string `json:"by,omitempty"`
	Role Role   `json:"role,omitempty" form:"words=calibration|validation|test|design"`
	// Pass, Rating or both are set; neither is of an Opinion. A rating is a category on any scale.
	Pass   *bool     `json:"pass,omitempty"`
	Rating *float64  `json:"rating,omitempty"`
	Note   string    `json:"note,omitempty"`
	At     time.Time `json:"at,omitzero"`
	// Stratum and Frame are its sampling method, and the size of the population.
	Stratum Stratum `json:"stratum,omitempty" form:"words=random|judge_pass|judge_fail|disagreement"`
	Frame   *Frame  `json:"frame,omitempty"`
	// Draw is its sample; nil if not recorded.
	Draw *Draw `json:"draw,omitempty"`
	// Judged are the verdicts of judges on the same thing.
	Judged []Verdict `json:"judged,omitempty"`
	// Line is its line in the file; 0 if it is not from a file.
	Line int `json:"-"`
}

// Stamp is the person who adopted a label for an output, and the time.
type Stamp struct {
	By string    `json:"by,omitempty"`
	At time.Time `json:"at,omitzero"`
}

// Thing is the subject of a label: an output, or a part of it. Labels on equal outputs have the
// same thing, in any run; without a fingerprint only the key identifies it.
type Thing struct {
	Key
	Fingerprint string
}

// ThingOf is the thing of a key; fingerprint identifies the output, "" if unknown.
func ThingOf(k Key, fingerprint string) Thing {
	if k.Unit == "" {
		k.Unit = Task
	}
	if fingerprint != "" {
		k.Target, k.Attempt = "", 0
	}
	return Thing{k, fingerprint}
}

// Compare orders things by their keys, then by their fingerprints.
func (t Thing) Compare(o Thing) int {
	return cmp.Or(t.Key.Compare(o.Key), cmp.Compare(t.Fingerprint, o.Fingerprint))
}

// Thing is the subject of the label.
func (l *Label) Thing() Thing { return ThingOf(l.Key, l.Fingerprint) }

// Person is a labeller's name in the form for comparisons: different spellings are one person.
func Person(name string) string {
	shown := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) ||
			unicode.Is(unicode.Variation_Selector, r) {
			return -1
		}
		return r
	}, norm.NFKC.String(name))
	return strings.TrimSpace(norm.NFKC.String(shown))
}

// Repeats counts repeated labels.
type Repeats struct {
	// Same repeat an earlier label, Changed differ from one: the later one counts.
	Same    int `json:"same"`
	Changed int `json:"changed"`
}

// Latest keeps each labeller's last label on each thing, by time if both have a time, else by
// position. Things keep the order of their first label. Judges' verdicts of an earlier label are
// kept if the later has none.
func Latest(all []Label) ([]Label, Repeats) {
	type who struct {
		thing Thing
		by    string
	}
	at, out, n := map[who]int{}, make([]Label, 0, len(all)), Repeats{}
	for _, l := range all {
		w := who{l.Thing(), Person(l.By)}
		i, seen := at[w]
		if !seen {
			at[w] = len(out)
			out = append(out, l)
			continue
		}
		old := out[i]
		if equal(old.Pass, l.Pass) && equal(old.Rating, l.Rating) {
			n.Same++
		} else {
			n.Changed++
		}
		if !old.At.IsZero() && !l.At.IsZero() && l.At.Before(old.At) {
			old, l = l, old
		}
		if l.Judged == nil {
			l.Judged = old.Judged
		}
		if l.Stratum == "" {
			l.Stratum, l.Frame, l.Draw = old.Stratum, old.Frame, old.Draw
		}
		out[i] = l
	}
	return out, n
}
