// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package judge

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/trace"
)

// Key identifies the subject of a question. Attempts count from 0.
type Key struct {
	Target  string `json:"target,omitempty"`
	Task    string `json:"task,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
	// Output is the fingerprint of the attempt's output; "": unknown.
	Output string `json:"output,omitempty"`
	// CallID is the id of a Call. Turn is the number of the target's turn, from 1, and CallIDs
	// are its calls.
	CallID  string   `json:"call_id,omitempty"`
	Turn    int      `json:"turn,omitempty"`
	CallIDs []string `json:"call_ids,omitempty"`
	// Tools are the tools called in a Turn, in the order of CallIDs.
	Tools []string `json:"tools,omitempty"`
	// Dimension is the position in the rubric, from 1, and Part its name. Against is the other
	// target of a Pair; Swapped: it was shown first.
	Dimension int    `json:"dimension,omitempty"`
	Part      string `json:"part,omitempty"`
	Against   string `json:"against,omitempty"`
	Swapped   bool   `json:"swapped,omitempty"`
	// Probe is the change that an audit made; "": none.
	Probe Probe `json:"probe,omitempty"`
}

// String is a name of the question's subject that is unique within the attempt.
func (k Key) String() string {
	s := k.Task
	if k.Turn > 0 {
		s += fmt.Sprintf(" turn %d", k.Turn)
	}
	if k.CallID != "" {
		s += " call " + k.CallID
	}
	if k.Dimension > 0 {
		s += fmt.Sprintf(" dimension %d", k.Dimension)
	}
	if k.Attempt > 0 {
		s += fmt.Sprintf(" attempt %d", k.Attempt)
	}
	if k.Target != "" {
		s += " of " + k.Target
	}
	if k.Against != "" {
		s += " against " + k.Against
	}
	if k.Swapped {
		s += " swapped"
	}
	if k.Probe != "" {
		s += " probe " + string(k.Probe)
	}
	return strings.TrimSpace(s)
}

// Did are the facts of a question that are hidden from the judge and used to score its answer.
type Did struct {
	// Tools are the tools called in the turn.
	Tools []string `json:"tools,omitempty"`
	// Max is the greatest score of a rubric's dimension, Threshold the least share of it that
	// passes; nil: the threshold of the judge.
	Max       float64  `json:"max,omitempty"`
	Threshold *float64 `json:"threshold,omitempty"`
}

// Question is one question for a judge.
type Question struct {
	Key      Key
	Evidence string
	Did      Did
	// turn and call are the positions of a Turn or a Call in the trace.
	turn, call int
}

// Acted is the turn of the target that a question on a Turn or a Call is about.
func (q *Question) Acted(s Subject) *callvet.Turn { return &s.Attempt.Trace.Turns[q.turn] }

// Subject is an attempt with the data for its judge.
type Subject struct {
	Attempt *trace.Attempt
	// Output is the fingerprint of the attempt before redaction.
	Output string
	// Tools are the tools of the target; nil: unknown.
	Tools []callvet.Tool
	// Expect are the expectations of its case; nil: unknown. A judge sees their rubric and
	// reference data, and the rest only with ShowGold.
	Expect *callvet.Expect
}

// Made reports whether there is something to judge: the attempt ended by itself.
func (s Subject) Made() bool {
	t := &s.Attempt.Trace
	return t.Outcome != callvet.OutcomeError && t.Outcome != callvet.OutcomeNotRun && t.Fault == nil
}

// Questions are the questions about one attempt; none is the reason if there are none.
func (j *Judge) Questions(s Subject) (qs []Question, none string) {
	at := s.Attempt
	if !s.Made() {
		return nil, "the attempt did not run, or failed on the way"
	}
	key := Key{Target: at.Trace.Target, Task: at.Trace.CaseID, Attempt: at.Trace.Repeat, Output: s.Output}
	switch j.Unit {
	case Task:
		e := evidence{head: "One attempt of an assistant at a task."}
		s.conversation(&e)
		j.gold(&e, s.Expect)
		return []Question{{Key: key, Evidence: e.render(j.MaxEvidence)}}, ""
	case Rubric:
		return j.rubric(s, key)
	case Call:
		return j.calls(s, key)
	case Turn:
		return j.turns(s, key)
	}
	return nil, "the judge compares several attempts"
}

func (j *Judge) rubric(s Subject, key Key) (qs []Question, none string) {
	if s.Expect == nil || len(s.Expect.Rubric) == 0 {
		return nil, "the case has no rubric"
	}
	for i, d := range s.Expect.Rubric {
		if !(d.MaxScore > 0) {
			continue // lint refuses it
		}
		e := evidence{head: fmt.Sprintf("One dimension of an assistant's answer. The greatest score is %g.",
			d.MaxScore)}
		e.must("The dimension", d.Dimension)
		e.must("Its criteria", d.Criteria)
		if len(s.Expect.ReferenceData) > 0 {
			e.must("Reference data, which are true", string(s.Expect.ReferenceData))
		}
		s.conversation(&e)
		j.gold(&e, s.Expect)
		k := key
		k.Dimension, k.Part = i+1, d.Dimension
		qs = append(qs,
			Question{Key: k, Evidence: e.render(j.MaxEvidence), Did: Did{Max: d.MaxScore, Threshold: d.Threshold}})
	}
	return qs, ""
}

func (j *Judge) calls(s Subject, key Key) (qs []Question, none string) {
	n, turn := 0, 0
	for t := range s.Attempt.Trace.Turns {
		calls := s.Attempt.Trace.Turns[t].Calls
		for i := range calls {
			c := &calls[i]
			n++
			if c.Args == nil && c.ArgsRaw == "" {
				continue // not recorded, which is different from an empty object
			}
			e := evidence{head: fmt.Sprintf("The arguments of call %d of an assistant.", n)}
			e.must("The tool", toolText(s.tool(c), c.Tool))
			e.must("The arguments that were emitted", args(c))
			if said := result(s.Attempt.Trace.Turns[t:], c); j.Own && said != "" {
				e.must("Its result", said)
			}
			s.before(&e, t)
			k := key
			k.CallID = callID(key.Task, c, turn, i)
			qs = append(qs, Question{Key: k, Evidence: e.render(j.MaxEvidence), turn: t, call: i})
		}
		if s.Attempt.Trace.Turns[t].Role == callvet.RoleAssistant {
			turn++
		}
	}
	if n == 0 {
		return nil, "the attempt has no call"
	}
	if len(qs) == 0 {
		none = "the arguments of its calls are not recorded"
	}
	return qs, none
}

// Calls are the calls of an attempt with the ids that questions about them have.
func Calls(at *trace.Attempt) iter.Seq2[*callvet.Call, string] {
	return func(yield func(*callvet.Call, string) bool) {
		turn := 0
		for t := range at.Trace.Turns {
			calls := at.Trace.Turns[t].Calls
			for i := range calls {
				if !yield(&calls[i], callID(at.Trace.CaseID, &calls[i], turn, i)) {
					return
				}
			}
			if at.Trace.Turns[t].Role == callvet.RoleAssistant {
				turn++
			}
		}
	}
}

// callID is the id of a call. A call without an id gets one as in trace files, from its turn
// (from 0) and its place in the turn (from 1).
func callID(task string, c *callvet.Call, turn, place int) string {
	if c.ID != "" {
		return c.ID
	}
	return fmt.Sprintf("%s#%d#%d", task, turn, place+1)
}

// turns makes a question about each turn of the target, with the conversation before it; a user's
// judge also sees the turn.
func (j *Judge) turns(s Subject, key Key) (qs []Question, none string) {
	if len(s.Tools) == 0 && !j.Own {
		return nil, "the catalogue of tools is not known"
	}
	n := 0
	for i := range s.Attempt.Trace.Turns {
		t := &s.Attempt.Trace.Turns[i]
		if t.Role != callvet.RoleAssistant {
			continue
		}
		acted := n
		n++
		e := evidence{head: "A conversation up to where the assistant acts, and the tools that it has."}
		if len(s.Tools) > 0 {
			e.must("The tool catalog", catalogText(s.Tools))
		}
		s.before(&e, i)
		if j.Own {
			e.head = "A conversation up to a turn of the assistant, and that turn, which is to be judged."
			e.turn(s.Attempt.Trace.Turns[i:])
		}
		k := key
		k.Turn = n
		q := Question{Key: k, turn: i}
		for c := range t.Calls {
			q.Did.Tools = append(q.Did.Tools, t.Calls[c].Tool)
			q.Key.CallIDs = append(q.Key.CallIDs, callID(key.Task, &t.Calls[c], acted, c))
		}
		q.Key.Tools = q.Did.Tools
		q.Evidence = e.render(j.MaxEvidence)
		qs = append(qs, q)
	}
	if len(qs) == 0 {
		none = "the attempt has no turn of the target"
	}
	return qs, none
}

// Pairs are the two questions on two attempts at one task, one for each order. Their targets are
// not named to the judge.
func (j *Judge) Pairs(a, b Subject) []Question {
	key := Key{
		Target: a.Attempt.Trace.Target, Against: b.Attempt.Trace.Target, Task: a.Attempt.Trace.CaseID,
		Attempt: a.Attempt.Trace.Repeat,
	}
	out := make([]Question, 2)
	for i, order := range [2][2]Subject{{a, b}, {b, a}} {
		e := evidence{head: "Two attempts of assistants at one task."}
		order[0].opening(&e)
		for k, name := range []string{"A", "B"} {
			order[k].did(&e, "Assistant "+name+", ")
		}
		j.gold(&e, a.Expect)
		q := key
		q.Swapped = i == 1
		out[i] = Question{Key: q, Evidence: e.render(j.MaxEvidence)}
	}
	return out
}

// Overall is the question on all attempts of a target, in a few words each.
func (j *Judge) Overall(target string, all []Digest) Question {
	e := evidence{head: fmt.Sprintf("What an assistant did at %d tasks.", len(all))}
	for i := range all {
		e.add(fmt.Sprintf("Task %d", i+1), all[i].text)
	}
	return Question{Key: Key{Target: target}, Evidence: e.render(j.MaxEvidence)}
}

// Digest is an attempt in a few words.
type Digest struct{ text string }

// DigestOf makes the digest of an attempt.
func DigestOf(s Subject) Digest {
	var b strings.Builder
	goal, _ := shorten(s.goal(), 240)
	fmt.Fprintf(&b, "asked: %s\n", goal)
	calls := s.Attempt.Trace.Calls()
	for i := range calls[:min(len(calls), 8)] {
		text, _ := shorten(args(&calls[i]), 160)
		fmt.Fprintf(&b, "called: %s %s %s\n", calls[i].Tool, text, calls[i].Status)
	}
	if len(calls) > 8 {
		fmt.Fprintf(&b, "and %d more calls\n", len(calls)-8)
	}
	answer, _ := shorten(s.Attempt.Trace.Answer, 240)
	fmt.Fprintf(&b, "answered: %s", answer)
	return Digest{b.String()}
}

// gold adds the expectations, if the judge may see them.
func (j *Judge) gold(e *evidence, x *callvet.Expect) {
	if !j.ShowGold || x == nil {
		return
	}
	shown := *x
	shown.Rubric, shown.ReferenceData, shown.Unsupported = nil, nil, nil
	b, err := json.Marshal(&shown)
	if err == nil && string(b) != "{}" {
		e.must("What the author of the task expects", string(b))
	}
}

// goal is the user's goal: the goal of the trace, or the last user turn.
func (s Subject) goal() string {
	if s.Attempt.Goal != "" {
		return s.Attempt.Goal
	}
	return callvet.Question(s.Attempt.Input)
}

// opening adds the turns before the target's first one.
func (s Subject) opening(e *evidence) {
	if s.Attempt.Goal != "" {
		e.must("The goal of the user", s.Attempt.Goal)
	}
	s.talk(e, s.Attempt.Input)
}

// conversation adds the whole attempt, with its final answer.
func (s Subject) conversation(e *evidence) {
	s.opening(e)
	s.did(e, "")
}

// did adds the target's turns and calls. who begins the titles.
func (s Subject) did(e *evidence, who string) {
	t := &s.Attempt.Trace
	n := 0
	for i := range t.Turns {
		turn := &t.Turns[i]
		if turn.Role == callvet.RoleAssistant && turn.Content != "" && turn.Content != t.Answer {
			e.add(who+"said", turn.Content)
		}
		if turn.Role == callvet.RoleUser {
			e.add(who+"was told by the user", turn.Content)
		}
		for c := range turn.Calls {
			n++
			e.call(fmt.Sprintf("%scall %d", who, n), &turn.Calls[c], result(t.Turns[i:], &turn.Calls[c]))
		}
	}
	if n == 0 {
		e.head += " " + strings.TrimSuffix(strings.TrimSpace(who), ",") + " No tool was called."
		e.head = strings.Join(strings.Fields(e.head), " ")
	}
	if d := t.Decision; d != nil {
		if b, err := json.Marshal(d); err == nil {
			e.must(who+"selected", string(b))
		}
	}
	if t.Answer == "" {
		why := "(there is no text)"
		if t.End == callvet.EndCalled {
			why = "(none: the attempt was to end with its calls, which nobody answered)"
		}
		e.must(who+"final answer", why)
		return
	}
	e.must(who+"final answer", t.Answer)
}

// talk adds turns of a conversation.
func (s Subject) talk(e *evidence, turns []callvet.Turn) {
	last := -1
	for i := range turns {
		if turns[i].Role == callvet.RoleUser {
			last = i
		}
	}
	for i := range turns {
		t := &turns[i]
		switch t.Role {
		case callvet.RoleSystem:
			e.add("The assistant was instructed", t.Content)
		case callvet.RoleUser:
			p := part{title: "The user said", text: t.Content}
			if i == last {
				p.kind = kept
			}
			e.parts = append(e.parts, p)
		case callvet.RoleAssistant:
			if t.Content != "" {
				e.add("The assistant said", t.Content)
			}
			for c := range t.Calls {
				e.call("The assistant called", &t.Calls[c], result(turns[i:], &t.Calls[c]))
			}
		case callvet.RoleTool: // added with its call
		}
	}
}

// before adds the conversation before a turn of the target.
func (s Subject) before(e *evidence, turn int) {
	s.talk(e, s.Attempt.Input)
	if len(s.Attempt.Input) == 0 && s.Attempt.Goal != "" {
		e.must("The goal of the user", s.Attempt.Goal)
	}
	s.talk(e, s.Attempt.Trace.Turns[:turn])
}

// turn adds the first of the turns, with the results of its calls.
func (e *evidence) turn(turns []callvet.Turn) {
	t := &turns[0]
	if t.Content != "" || len(t.Calls) == 0 {
		e.must("The turn: the assistant said", t.Content)
	}
	for c := range t.Calls {
		e.call(fmt.Sprintf("The turn: call %d", c+1), &t.Calls[c], result(turns, &t.Calls[c]))
		e.parts[len(e.parts)-1].kind = kept
	}
}

// result is the result of a call, also if only a later turn has it.
func result(turns []callvet.Turn, c *callvet.Call) string {
	switch {
	case c.Error != "":
		return "error: " + c.Error
	case c.Result != nil:
		return string(c.Result)
	}
	at := slices.IndexFunc(turns,
		func(t callvet.Turn) bool { return t.Role == callvet.RoleTool && t.CallID == c.ID && c.ID != "" })
	if at >= 0 {
		return turns[at].Content
	}
	return ""
}

func args(c *callvet.Call) string {
	switch {
	case len(c.Args) > 0:
		return string(c.Args)
	case c.ArgsRaw != "":
		return c.ArgsRaw
	}
	return "(arguments not recorded)"
}

// tool is the called tool, in the version of the call; where the catalogue does not have this
// version, the first tool of the name.
func (s Subject) tool(c *callvet.Call) (found *callvet.Tool) {
	name, version := base(c.Tool), c.Version
	if _, own := callvet.SplitTool(c.Tool); own != "" {
		version = own
	}
	for i := range s.Tools {
		t := &s.Tools[i]
		own := t.Version
		if _, said := callvet.SplitTool(t.Name); said != "" {
			own = said
		}
		switch {
		case !callvet.SameName(base(t.Name), name):
		case strings.TrimPrefix(own, "v") == strings.TrimPrefix(version, "v"):
			return t
		case found == nil:
			found = t
		}
	}
	return found
}

// base is the name of a tool without its version: for a judge, all versions are one tool.
func base(name string) string {
	name, _ = callvet.SplitTool(strings.TrimSpace(name))
	return name
}

func toolText(t *callvet.Tool, name string) string {
	if t == nil {
		return name + "\n(its schema is not known)"
	}
	return base(t.Name) + "\n" + t.Description + "\n" + string(t.Parameters)
}

// catalogText is one line for each tool: its name, and the start of its description. It contains
// only the last of several versions.
func catalogText(tools []callvet.Tool) string {
	var b strings.Builder
	for i := range tools {
		same := func(t callvet.Tool) bool { return base(t.Name) == base(tools[i].Name) }
		if slices.ContainsFunc(tools[i+1:], same) {
			continue
		}
		line, _, _ := strings.Cut(strings.TrimSpace(tools[i].Description), "\n")
		line, _ = shorten(line, 160)
		fmt.Fprintf(&b, "%s: %s\n", base(tools[i].Name), strings.ReplaceAll(line, "\n", " "))
	}
	return strings.TrimSpace(b.String())
}
