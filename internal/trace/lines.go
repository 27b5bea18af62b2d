// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/callvet/callvet"
)

// Attempt writes an attempt: its steps in order, then its task record, which completes it. The
// raw form of turns, repairs, notes of the world and the requests are not written: the contract
// has no members for them.
func (w *Writer) Attempt(a *Attempt) error {
	steps, task := a.Lines()
	for i := range steps {
		if err := w.Step(&steps[i]); err != nil {
			return err
		}
	}
	return w.Task(&task)
}

// Named are the calls of an attempt that have a step line: calls without a tool's name are left
// out.
func (a *Attempt) Named(yield func(*Step) bool) {
	turn, at := 0, 0
	for i := range a.Trace.Turns {
		t := &a.Trace.Turns[i]
		for j := range t.Calls {
			if at++; t.Calls[j].Nameless() {
				continue // the task record contains it as its outcome
			}
			s := a.step(at-1, &t.Calls[j], turn, j)
			s.CallID = distinct(t.Calls[:j], s.CallID)
			if !yield(&s) {
				return
			}
		}
		if t.Role == callvet.RoleAssistant {
			turn++
		}
	}
}

// Records is how many lines the attempt has.
func (a *Attempt) Records() int64 {
	n := int64(1)
	for i := range a.Trace.Turns {
		for j := range a.Trace.Turns[i].Calls {
			if !a.Trace.Turns[i].Calls[j].Nameless() {
				n++
			}
		}
	}
	return n
}

// Lines splits an attempt into records. Calls without an id get "TASK#TURN#N", as in the
// contract's example. A step needs a tool: a call without a tool's name is in the conversation of
// the task record.
func (a *Attempt) Lines() ([]Step, Task) {
	t := &a.Trace
	var steps []Step
	turn, at := 0, 0
	task := a.Task()
	for i := range t.Turns {
		if !t.Turns[i].Role.Known() && len(t.Turns[i].Calls) == 0 {
			continue // the contract has no other roles, and it is not from the target
		}
		m := Message{Role: role(&t.Turns[i]), Reasoning: t.Turns[i].Reasoning, CallID: t.Turns[i].CallID}
		for j := range t.Turns[i].Calls {
			c := &t.Turns[i].Calls[j]
			s := a.step(at, c, turn, j)
			s.CallID = distinct(t.Turns[i].Calls[:j], s.CallID)
			at++
			m.CallIDs = append(m.CallIDs, s.CallID)
			if c.Nameless() {
				own := *c
				own.ID = s.CallID
				m.Unreadable = append(m.Unreadable, own)
				continue
			}
			steps = append(steps, s)
		}
		m.Content = content(&t.Turns[i], steps)
		task.Conversation = append(task.Conversation, m)
		if t.Turns[i].Role == callvet.RoleAssistant {
			turn++
		}
	}
	n := len(steps)
	task.Steps = &n
	return steps, task
}

// role is the role of a turn in the contract: a turn with calls is the assistant's.
func role(t *callvet.Turn) callvet.Role {
	if t.Role.Known() {
		return t.Role
	}
	return callvet.RoleAssistant
}

// content is the turn's text; nil where a tool's turn is the call's result.
func content(t *callvet.Turn, steps []Step) *string {
	if t.Role == callvet.RoleTool {
		for i := len(steps) - 1; i >= 0; i-- {
			if steps[i].CallID == t.CallID && resultText(steps[i].Result) == t.Content && t.CallID != "" {
				return nil
			}
		}
	}
	if t.Content == "" {
		return nil
	}
	return &t.Content
}

// resultText is a JSON string's text, any other JSON unchanged.
func resultText(raw json.RawMessage) string {
	var s string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

func (a *Attempt) step(n int, c *callvet.Call, turn, j int) Step {
	t := &a.Trace
	s := Step{
		TaskID: t.CaseID, Attempt: t.Repeat, Target: t.Target, TurnID: turn, CallID: c.ID, Tool: c.Tool,
		ToolVersion: c.Version,
		Args:        c.Args, Parsed: c.Parsed, ArgsRaw: c.ArgsRaw, Result: c.Result, Status: c.Status, Env: c.Env, Guard: c.Guard,
		StartMS: start(c.StartMS), QueueMS: positive(c.QueueMS), ExecMS: positive(c.ExecMS), Tags: a.Tags,
		Fields: a.Fields,
	}
	if s.CallID == "" {
		s.CallID = t.CaseID + "#" + strconv.Itoa(turn) + "#" + strconv.Itoa(j+1)
	}
	if c.Error != "" {
		s.Error = AppendQuoted(nil, c.Error)
	}
	note, ok := a.Steps[n]
	if !ok {
		return s
	}
	s.Gold, s.AcceptMS = note.Gold, note.AcceptMS
	if note.TurnID >= 0 {
		s.TurnID = note.TurnID
	}
	if note.Tags != nil {
		s.Tags = note.Tags
	}
	if note.Fields != nil {
		s.Fields = note.Fields
	}
	return s
}

// distinct makes the id of a call unique in its turn. Two steps of a turn with one id would be
// two lines of one call.
func distinct(before []callvet.Call, id string) string {
	again := 0
	for i := range before {
		if before[i].ID == id {
			again++
		}
	}
	if again == 0 {
		return id
	}
	return id + "#" + strconv.Itoa(again+1)
}

func start(ms *float64) *float64 {
	if ms == nil || !(*ms >= 0) || *ms > maxMS {
		return nil
	}
	return ms
}

// positive is a possible duration of an attempt; nil for an impossible one, which counts as
// unknown.
func positive(f float64) *float64 {
	if !(f > 0) || f > maxMS {
		return nil
	}
	return &f
}

// maxMS is the longest time of the contract: a year.
const maxMS = 31622400000

// Task is the attempt's record without its conversation.
func (a *Attempt) Task() Task {
	t := &a.Trace
	task := Task{
		TaskID: t.CaseID, Attempt: t.Repeat, Target: t.Target, Model: t.Model, Goal: a.Goal, AsOf: a.AsOf,
		Outcome:      t.Outcome,
		FinishReason: t.FinishReason, Reason: t.Reason, Notes: t.Notes, End: t.End,
		Tags: a.Tags, Fields: a.Fields, WallMS: positive(t.WallMS), Started: t.Started, Fault: t.Fault,
		Pass: a.Pass, Reward: a.Reward, Judged: a.Judged, Labels: a.Labels, Gold: a.Gold, Safety: a.Safety,
		UserCalls: a.UserCalls, Foreign: a.Foreign, CostUSD: t.Usage.CostUSD,
		Asks: a.Asks, Expects: a.Expects, Scored: a.Scored, Requests: max(t.Attempts, 0), ToolChoice: t.ToolChoice,
		Omitted:      t.Omitted,
		FirstTokenMS: positive(t.FirstTokenMS), Cached: t.Cached, Unbilled: a.Unbilled, Floor: a.Floor,
		Repeatable: a.Repeatable, Skipped: a.Skipped, Decision: t.Decision,
	}
	if a.Scored != nil {
		task.Format = t.Format
	}
	if t.Answer != "" {
		task.Answer = &t.Answer
	}
	if u := t.Usage; u.Known &&
		min(u.InputTokens, u.OutputTokens, u.ReasoningTokens, u.CachedTokens, u.CacheWriteTokens) >= 0 {
		task.Usage = &Usage{&u.InputTokens, &u.OutputTokens, u.ReasoningTokens, u.CachedTokens, u.CacheWriteTokens}
	}
	for i := range a.Input {
		m := Message{Role: a.Input[i].Role, CallID: a.Input[i].CallID, Reasoning: a.Input[i].Reasoning}
		if a.Input[i].Content != "" {
			m.Content = &a.Input[i].Content
		}
		task.Input = append(task.Input, m)
	}
	return task
}

// join makes an attempt from its lines: the inverse of Lines. Steps are in the order of the file,
// unless the task record has an order.
func join(steps []Step, task *Task) Attempt {
	var a Attempt
	if task != nil {
		a = task.attempt()
	} else if len(steps) > 0 {
		a.Trace = callvet.Trace{CaseID: steps[0].TaskID, Repeat: steps[0].Attempt, Target: steps[0].Target}
	}
	turns, order := conversation(steps, task)
	a.Trace.Turns, a.Order = turns, order
	for pos, i := range order {
		if i < 0 {
			continue
		}
		s := &steps[i]
		n := StepNote{Gold: s.Gold, AcceptMS: s.AcceptMS, Tags: s.Tags, Fields: s.Fields, TurnID: s.TurnID}
		if n.Gold == nil && n.AcceptMS == nil && n.Tags == nil && n.Fields == nil && n.TurnID < 0 {
			continue
		}
		if a.Steps == nil {
			a.Steps = map[int]StepNote{}
		}
		a.Steps[pos] = n
	}
	why := callvet.Reason("")
	if task != nil && task.Outcome == callvet.OutcomeUnparseable {
		why = cmp.Or(task.Reason, callvet.ReasonCall)
	}
	if len(order) == 0 && task.callless() {
		a.Trace.Fault = Unknown("the lines of its steps are missing")
	}
	a.Trace.Classify(why)
	if task != nil && task.Outcome != "" {
		a.Trace.Outcome = task.Outcome
	}
	if task != nil && task.Format != "" {
		a.Trace.Format = task.Format
	}
	return a
}

// callless reports whether the record has no outcome, and counts calls that are missing.
func (t *Task) callless() bool {
	if t == nil || t.Outcome != "" || t.Fault != nil {
		return false
	}
	return t.Steps != nil && *t.Steps > 0 ||
		slices.ContainsFunc(t.Conversation, func(m Message) bool { return len(m.CallIDs) > 0 })
}

// conversation returns the turns, and the steps in the order of the calls; -1 is a call without a
// tool's name, which has no step.
func conversation(steps []Step, task *Task) (turns []callvet.Turn, order []int) {
	at := map[string][]int{} // ids may repeat: then they are used in order
	for i := range steps {
		if id := steps[i].CallID; id != "" {
			at[id] = append(at[id], i)
		}
	}
	last := map[string]int{}
	used := make([]bool, len(steps))
	if task != nil {
		for _, m := range task.Conversation {
			t := callvet.Turn{Role: m.Role, Reasoning: m.Reasoning, CallID: m.CallID}
			if m.Content != nil {
				t.Content = *m.Content
			}
			for _, id := range m.CallIDs {
				if k := slices.IndexFunc(m.Unreadable, func(c callvet.Call) bool { return c.ID == id }); k >= 0 {
					t.Calls, order = append(t.Calls, m.Unreadable[k]), append(order, -1)
					m.Unreadable = slices.Delete(slices.Clone(m.Unreadable), k, k+1)
				} else if left := at[id]; len(left) > 0 {
					i := left[0]
					at[id], last[id], used[i], order = left[1:], i, true, append(order, i)
					t.Calls = append(t.Calls, steps[i].call())
				}
			}
			for _, c := range m.Unreadable {
				t.Calls, order = append(t.Calls, c), append(order, -1)
			}
			if i, ok := last[m.CallID]; ok && m.Role == callvet.RoleTool {
				t.Tool = steps[i].Tool
				if m.Content == nil {
					t.Content = resultText(steps[i].Result)
				}
			}
			turns = append(turns, t)
		}
	}
	return rest(turns, order, steps, used, task)
}

// rest adds the steps that no recorded turn has: steps with one turn id share an assistant turn,
// with the results after it.
func rest(turns []callvet.Turn, order []int, steps []Step, used []bool, task *Task) ([]callvet.Turn, []int) {
	for i := 0; i < len(steps); {
		if used[i] {
			i++
			continue
		}
		say := callvet.Turn{Role: callvet.RoleAssistant}
		var results []callvet.Turn
		for from := i; i < len(steps) && !used[i] &&
			(i == from || steps[i].TurnID == steps[from].TurnID && steps[i].TurnID >= 0); i++ {
			say.Calls = append(say.Calls, steps[i].call())
			order = append(order, i)
			if r := steps[i].Result; r != nil {
				results = append(results,
					callvet.Turn{
						Role: callvet.RoleTool, CallID: steps[i].CallID, Tool: steps[i].Tool,
						Content: resultText(r),
					})
			}
		}
		turns = append(append(turns, say), results...)
	}
	if task != nil && len(task.Conversation) == 0 && task.Answer != nil && *task.Answer != "" {
		turns = append(turns, callvet.Turn{Role: callvet.RoleAssistant, Content: *task.Answer})
	}
	return turns, order
}

func (s *Step) call() callvet.Call {
	c := callvet.Call{
		ID: s.CallID, Tool: s.Tool, Version: s.ToolVersion, Args: s.Args, ArgsRaw: s.ArgsRaw, Status: s.Status,
		Result: s.Result,
		Error:  resultText(s.Error), Env: s.Env, Guard: s.Guard, StartMS: s.StartMS,
	}
	if raw := []byte(c.ArgsRaw); bytes.Equal(s.Args, raw) || callvet.Elided(raw) {
		c.ArgsRaw = ""
	}
	if s.QueueMS != nil {
		c.QueueMS = *s.QueueMS
	}
	if s.ExecMS != nil {
		c.ExecMS = *s.ExecMS
	}
	return c
}

func (t *Task) attempt() Attempt {
	a := Attempt{
		Pass: t.Pass, Reward: t.Reward, Gold: t.Gold, Judged: t.Judged, Labels: t.Labels, Safety: t.Safety,
		Goal: t.Goal, AsOf: t.AsOf,
		Tags: t.Tags, Fields: t.Fields, UserCalls: t.UserCalls, Foreign: t.Foreign, Asks: t.Asks, Expects: t.Expects,
		Scored: t.Scored, Unbilled: t.Unbilled, Floor: t.Floor, Repeatable: t.Repeatable, Skipped: t.Skipped,
	}
	a.Trace = callvet.Trace{
		CaseID: t.TaskID, Repeat: t.Attempt, Target: t.Target, Model: t.Model, Outcome: t.Outcome, End: t.End,
		Started: t.Started, Fault: t.Fault,
		Attempts: t.Requests, Cached: t.Cached, Decision: t.Decision,
	}
	a.Trace.ToolChoice, a.Trace.Omitted = t.ToolChoice, t.Omitted
	a.Trace.FinishReason, a.Trace.Reason, a.Trace.Notes = t.FinishReason, t.Reason, t.Notes
	if t.FirstTokenMS != nil {
		a.Trace.FirstTokenMS = *t.FirstTokenMS
	}
	if t.Answer != nil {
		a.Trace.Answer = *t.Answer
	}
	if t.WallMS != nil {
		a.Trace.WallMS = *t.WallMS
	}
	if u := t.Usage; u != nil {
		a.Trace.Usage = callvet.Usage{
			ReasoningTokens: u.Reasoning, CachedTokens: u.Cached, CacheWriteTokens: u.Written,
			Known: u.Input != nil || u.Output != nil || u.Reasoning > 0 || u.Cached > 0 || u.Written > 0,
		}
		if u.Input != nil {
			a.Trace.Usage.InputTokens = *u.Input
		}
		if u.Output != nil {
			a.Trace.Usage.OutputTokens = *u.Output
		}
	}
	a.Trace.Usage.CostUSD = t.CostUSD
	for _, m := range t.Input {
		turn := callvet.Turn{Role: m.Role, Reasoning: m.Reasoning, CallID: m.CallID}
		if m.Content != nil {
			turn.Content = *m.Content
		}
		a.Input = append(a.Input, turn)
	}
	return a
}

// Name is "TASK", or "TASK (attempt N of TARGET)" where these are known.
func (a *Attempt) Name() string {
	t := &a.Trace
	if t.Repeat == 0 && t.Target == "" {
		return t.CaseID
	}
	return fmt.Sprintf("%s (attempt %d of %s)", t.CaseID, t.Repeat+1, t.Target)
}
