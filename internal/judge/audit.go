// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package judge

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
)

// An audit tests whether irrelevant changes affect a judge. Each sampled attempt is judged
// unchanged and with one change at a time. So it is compared with itself, and the quality of
// attempts and the noise of the judge are the same on both sides.

// Probe is a change of the evidence that should not change a judge's verdict.
type Probe string

// The probes. Position applies to judges that compare, and changes which of two attempts comes
// first.
const (
	Position Probe = "position"
	Length   Probe = "length"
	InAnswer Probe = "injection-answer"
	InCall   Probe = "injection-arguments"
	InResult Probe = "injection-result"
	InUser   Probe = "injection-user"
)

// Probes are the probes that apply to a judge. A judge of calls or turns does not see the answer.
// There are none for a judge of a whole target.
func (j *Judge) Probes() []Probe {
	switch j.Unit {
	case Call:
		return []Probe{InCall, InResult, InUser}
	case Turn:
		return []Probe{InResult, InUser}
	case Task, Rubric:
		return []Probe{Length, InAnswer, InResult, InUser}
	case Pair:
		return []Probe{Position, Length, InAnswer, InResult, InUser}
	case Target:
	}
	return nil
}

// DefaultPairs is the default number of sampled attempts: more than 95 of 100 audits of a noisy
// judge then detect a change that moves 30 of 100 verdicts one way.
const DefaultPairs = 120

// Candidate is an attempt, or a pair of them, that an audit may draw.
type Candidate struct {
	Key
	// Passed is callvet's own verdict; nil: none. The judge's verdict is not used: attempts sampled
	// by it would change by chance alone.
	Passed *bool
}

// Draw returns the positions of up to n candidates, in the order of the questions. It alternates
// between candidates that callvet passes and others, because only the latter can rise. It takes a
// second attempt at a task only when each task has one.
func Draw(cs []Candidate, n int, seed uint64) []int {
	type place struct {
		at, round int
		rank      uint64
	}
	all := make([]place, len(cs))
	for i := range cs {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d\x00%s", seed, cs[i].Key))
		all[i] = place{at: i, rank: binary.BigEndian.Uint64(sum[:8])}
	}
	slices.SortFunc(all, func(a, b place) int { return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.at, b.at)) })
	seen := map[string]int{}
	for i := range all {
		task := cs[all[i].at].Task
		all[i].round = seen[task]
		seen[task]++
	}
	slices.SortStableFunc(all, func(a, b place) int { return cmp.Compare(a.round, b.round) })
	var out []int
	for len(all) > 0 && len(out) < n {
		round := all[0].round
		var of [2][]int // not passed, passed
		for len(all) > 0 && all[0].round == round {
			k := 0
			if p := cs[all[0].at].Passed; p != nil && *p {
				k = 1
			}
			of[k] = append(of[k], all[0].at)
			all = all[1:]
		}
		for len(of[0])+len(of[1]) > 0 {
			for k := range of {
				if len(of[k]) > 0 {
					out, of[k] = append(out, of[k][0]), of[k][1:]
				}
			}
		}
	}
	return out[:min(n, len(out))]
}

// Probed are the questions about the n-th sampled attempt: unchanged, and with each change. It
// uses one of several calls, turns or dimensions, so that each attempt counts once. against is
// the other attempt of a Pair, else nil. none contains the reasons for missing questions, by
// probe; the empty probe is the unchanged attempt.
func (j *Judge) Probed(s Subject, against *Subject, n int) (qs []Question, none map[Probe]string) {
	none = map[Probe]string{}
	plain, why := j.plain(s, against)
	if why != "" {
		return nil, map[Probe]string{"": why}
	}
	if against == nil {
		plain = plain[n%len(plain):][:1]
	}
	qs = slices.Clip(plain)
	for _, p := range j.Probes() {
		if p == Position {
			continue // every pair has questions in both orders
		}
		changed, why := j.changed(s, against, p, n, plain)
		if why != "" {
			none[p] = why
			continue
		}
		qs = append(qs, changed...)
	}
	return qs, none
}

func (j *Judge) plain(s Subject, against *Subject) ([]Question, string) {
	if against == nil {
		return j.Questions(s)
	}
	return j.Pairs(s, *against), ""
}

// cutOut is a reason for a missing question.
const cutOut = "the change is in what is cut to keep the evidence short"

// changed are the questions with one change, in the order of the unchanged questions.
func (j *Judge) changed(s Subject, against *Subject, p Probe, n int, plain []Question) ([]Question, string) {
	out := make([]Question, len(plain))
	for i := range plain {
		with, put, why := j.change(s, p, n, &plain[i])
		if why != "" {
			return nil, why
		}
		other := against
		if against != nil && p == InUser { // both attempts have the same user
			o, _, why := j.change(*against, p, n, &plain[i])
			if why != "" {
				return nil, why
			}
			other = &o
		}
		qs, why := j.plain(with, other)
		if why != "" {
			return nil, why
		}
		at := slices.IndexFunc(qs, func(q Question) bool { return q.Key.String() == plain[i].Key.String() })
		if at < 0 {
			return nil, "the change makes another question of it"
		}
		out[i] = qs[at]
		if !strings.Contains(out[i].Evidence, clean(put)) {
			return nil, cutOut
		}
		out[i].Key.Probe = p
	}
	return out, ""
}

// change makes one change of a question's evidence; put is the text that the evidence must then
// contain. It does not modify the subject.
func (j *Judge) change(s Subject, p Probe, n int, q *Question) (_ Subject, put, why string) {
	at := *s.Attempt
	at.Trace.Turns = slices.Clone(at.Trace.Turns)
	s.Attempt = &at
	all := injections()
	inject := strings.ReplaceAll(all[n%len(all)], "VERDICT", j.best(q))
	switch p {
	case InCall:
		put = s.intoCall(q, inject)
	case Length:
		put, why = s.rewrite(func(text string) string { return padded(text, n) })
	case InAnswer:
		_, why = s.rewrite(func(text string) string { return strings.TrimSpace(text + "\n\n" + inject) })
		put = inject
	case InResult:
		shown := at.Trace.Turns
		if j.Unit == Call || j.Unit == Turn {
			shown = shown[:q.turn]
		}
		put, why = intoResult(shown, inject)
	case InUser:
		put, why = inject, s.intoUser(inject)
	case Position:
	}
	return s, put, why
}

// rewrite changes the last text of the target: its answer, or the text with its calls.
func (s Subject) rewrite(f func(string) string) (put, why string) {
	t := &s.Attempt.Trace
	if old := t.Answer; old != "" {
		t.Answer = f(old)
		for i := range t.Turns {
			if t.Turns[i].Role == callvet.RoleAssistant && t.Turns[i].Content == old {
				t.Turns[i].Content = t.Answer
			}
		}
		return t.Answer, ""
	}
	for i := len(t.Turns) - 1; i >= 0; i-- {
		if t.Turns[i].Role == callvet.RoleAssistant {
			t.Turns[i].Content = f(t.Turns[i].Content)
			return t.Turns[i].Content, ""
		}
	}
	return "", "the attempt has no answer and no turn of the target"
}

// intoCall adds a text to the arguments of the judged call.
func (s Subject) intoCall(q *Question, text string) (put string) {
	t := &s.Attempt.Trace.Turns[q.turn]
	t.Calls = slices.Clone(t.Calls)
	c := &t.Calls[q.call]
	if len(c.Args) > 0 {
		c.Args, put = withNote(c.Args, text)
		return put
	}
	b, put := withNote([]byte(c.ArgsRaw), text)
	c.ArgsRaw = string(b)
	return put
}

// intoResult adds a text to the last result of a call in these turns, which it writes to.
func intoResult(turns []callvet.Turn, text string) (put, why string) {
	for i := len(turns) - 1; i >= 0; i-- {
		for k := len(turns[i].Calls) - 1; k >= 0; k-- {
			c := turns[i].Calls[k]
			if c.Error != "" {
				continue
			}
			if c.Result != nil {
				turns[i].Calls = slices.Clone(turns[i].Calls)
				turns[i].Calls[k].Result, put = withNote(c.Result, text)
				return put, ""
			}
			at := slices.IndexFunc(turns[i:],
				func(t callvet.Turn) bool { return t.Role == callvet.RoleTool && t.CallID == c.ID && c.ID != "" })
			if at >= 0 && turns[i+at].Content != "" {
				b, said := withNote([]byte(turns[i+at].Content), text)
				turns[i+at].Content = string(b)
				return said, ""
			}
		}
	}
	return "", "no result of a call is shown"
}

// withNote adds a text to a result; JSON stays JSON. put is the text in its encoded form.
func withNote(result []byte, text string) (out []byte, put string) {
	result = bytes.TrimSpace(result)
	if !json.Valid(result) {
		return append(append(slices.Clone(result), '\n'), text...), text
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic(err) // a text always encodes
	}
	quoted := strings.TrimSpace(b.String())
	put = quoted[1 : len(quoted)-1]
	last := len(result) - 1
	comma := ","
	if last > 0 && len(bytes.TrimSpace(result[1:last])) == 0 {
		comma = ""
	}
	switch result[0] {
	case '{':
		return fmt.Appendf(nil, `%s%s"note":%s}`, result[:last], comma, quoted), put
	case '[':
		return fmt.Appendf(nil, `%s%s%s]`, result[:last], comma, quoted), put
	case '"':
		return fmt.Appendf(nil, `%s\n%s"`, result[:last], put), put
	}
	return fmt.Appendf(nil, `{"result":%s,"note":%s}`, result, quoted), put
}

// intoUser adds a text to the last user turn, or to the goal if there is no user turn.
func (s Subject) intoUser(text string) (why string) {
	at := s.Attempt
	for i := len(at.Input) - 1; i >= 0; i-- {
		if at.Input[i].Role == callvet.RoleUser {
			at.Input = slices.Clone(at.Input)
			at.Input[i].Content += "\n\n" + text
			return ""
		}
	}
	if at.Goal != "" {
		at.Goal += "\n\n" + text
		return ""
	}
	return "no text of a user is known"
}

// Moved counts the results of the attempts that were judged with a change.
type Moved struct {
	Probe Probe `json:"probe"`
	// Rose were judged better with the change, Fell worse. For Position the change is the first
	// place: Rose won only from there, or lost at most a tie.
	Rose int `json:"rose"`
	Fell int `json:"fell"`
	Same int `json:"same"`
	// UnscoredPlain have no verdict without the change, UnscoredChanged none with the change (for
	// Position: in the other order), UnscoredBoth none at all. None of them rose or fell.
	UnscoredPlain   int `json:"unscored_plain"`
	UnscoredChanged int `json:"unscored_changed"`
	UnscoredBoth    int `json:"unscored_both"`
	// Unanswered are not judged yet, or ended in an error.
	Unanswered int `json:"unanswered"`
}

// Compare counts the answers to questions of Probed, for each probe of the judge. said returns the
// answer to a question; false if there is none.
func (j *Judge) Compare(qs []Question, answerTo func(Key) (Combined, bool)) []Moved {
	probes := j.Probes()
	out := make([]Moved, len(probes))
	by := map[Probe]map[string][]Key{} // both orders of a comparison count as one
	for i := range qs {
		thing := qs[i].Key
		thing.Probe, thing.Swapped = "", false
		p, name := qs[i].Key.Probe, thing.String()
		if by[p] == nil {
			by[p] = map[string][]Key{}
		}
		by[p][name] = append(by[p][name], qs[i].Key)
	}
	for i, p := range probes {
		out[i].Probe = p
		if p == Position {
			for _, ks := range by[""] {
				out[i].position(ks, answerTo)
			}
			continue
		}
		for name, ks := range by[p] {
			plain, ok := answer(by[""][name], answerTo)
			changed, also := answer(ks, answerTo)
			if !ok || !also {
				out[i].Unanswered++
				continue
			}
			out[i].add(&plain, &changed, worth(&plain), worth(&changed))
		}
	}
	return out
}

// answer combines the answers to one question, of both orders of a comparison.
func answer(ks []Key, answerTo func(Key) (Combined, bool)) (Combined, bool) {
	c, ok := answerTo(ks[0])
	if !ok || len(ks) == 1 {
		return c, ok
	}
	swapped, ok := answerTo(ks[1])
	return BothOrders(c, swapped), ok
}

// position counts one pair: the wins of the first place in both orders.
func (m *Moved) position(ks []Key, answerTo func(Key) (Combined, bool)) {
	if len(ks) != 2 {
		return
	}
	straight, ok := answerTo(ks[0])
	swapped, also := answerTo(ks[1])
	if !ok || !also {
		m.Unanswered++
		return
	}
	// The wins of the second place measure the pair without the effect of the first.
	m.add(&straight, &swapped, 0, worth(&straight)+worth(&swapped)-1)
}

// add counts one attempt by its score before and after the change.
func (m *Moved) add(plain, changed *Combined, before, after float64) {
	switch {
	case !plain.Scored() && !changed.Scored():
		m.UnscoredBoth++
	case !plain.Scored():
		m.UnscoredPlain++
	case !changed.Scored():
		m.UnscoredChanged++
	case after-before > 1e-9:
		m.Rose++
	case before-after > 1e-9:
		m.Fell++
	default:
		m.Same++
	}
}

// worth is a verdict as a number: for a pass or a fail, for the winner, or else its score.
func worth(c *Combined) float64 {
	switch {
	case c.Pass != nil && *c.Pass, c.Word == "a":
		return 1
	case c.Word == "tie":
		return 0.5
	case c.Pass == nil && c.Word == "" && c.Score != nil:
		return *c.Score
	}
	return 0
}
