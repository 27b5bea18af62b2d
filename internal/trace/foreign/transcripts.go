// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package foreign

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/value"
)

// Format is one form of JSON value.
type Format struct {
	Name string
	// Is reports whether a value is of the form: the object itself, or the first
	// element of an array of them.
	Is func(v value.Value) bool
	// Read adds the attempts of the value.
	Read func(v value.Value, s *trace.Sink)
}

// Formats are all forms. Forms with a distinctive member come before forms that share their
// members with others.
func Formats() []Format {
	return []Format{
		{"inspect", isInspect, readInspect},
		{
			"atif", func(v value.Value) bool { return strings.HasPrefix(message.Str(v, "schema_version"), "ATIF") },
			readATIF,
		},
		{"adk-evalset", func(v value.Value) bool { return has(v, "eval_cases") || has(v, "evalCases") }, readEvalSet},
		{"adk-session", func(v value.Value) bool {
			return has(v, "events") &&
				(has(v, "app_name") || has(v, "appName"))
		}, readSession},
		{"langfuse", isLangfuse, readLangfuse},
		{"gemini-cli", isGeminiSession, readGeminiSession},
		{"langgraph-state", isGraphState, readGraphState},
		{"vscode-copilot", isCopilot, readCopilot},
		{"request-log", isRequestLog, readRequestLog},
		{"agentdojo", func(v value.Value) bool { return has(v, "user_task_id") && has(v, "messages") }, readAgentDojo},
		{"tau", func(v value.Value) bool { return has(v, "traj") && has(v, "task_id") }, readTau},
		{"tau2", isTau2, readTau2},
		{"openai-chat", func(v value.Value) bool { return kind(v, "choices") == value.Array }, readChat},
		{"openai-responses", isResponses, readResponses},
		{"batch", isBatch, readBatch},
		{"gemini", func(v value.Value) bool {
			return kind(geminiBody(v), "candidates") == value.Array || has(geminiBody(v), "promptFeedback")
		}, readGemini},
		{"bedrock-converse", func(v value.Value) bool {
			out, _ := v.Get("output")
			return kind(out, "message") == value.Object && has(v, "stopReason")
		}, readConverse},
		{"anthropic", isAnthropic, readAnthropic},
		{"messages", isMessages, readMessages},
	}
}

func has(v value.Value, key string) bool {
	_, ok := v.Get(key)
	return ok
}

func kind(v value.Value, key string) value.Kind {
	m, _ := v.Get(key)
	return m.Kind()
}

// turns reads a list of messages.
func turns(list value.Value) []callvet.Turn {
	list = message.GrownMessages(list)
	var out []callvet.Turn
	for m, ok := list.First(); ok; {
		next, more := list.Next(m)
		if more && pieceOf(m, next) {
			out = append(out, message.PieceTurns(m)...)
		} else {
			out = append(out, message.Turns(m)...)
		}
		m, ok = next, more
	}
	return out
}

// pieceOf reports whether two neighbors are pieces of one message of a model: some clients of
// Anthropic's write one for each block. Each piece repeats the finish reason of the message.
func pieceOf(m, next value.Value) bool {
	id := message.Str(m, "id")
	return id != "" && id == message.Str(next, "id") && message.Str(m, "role") == "assistant" &&
		message.Str(m, "type") == "message"
}

// name is the id of a value, or an id from its position in the source.
func name(v value.Value, s *trace.Sink, keys ...string) string {
	for _, k := range keys {
		m, _ := v.Get(k)
		if id := message.ID(m); id != "" {
			return id
		}
	}
	return "task-" + strconv.FormatInt(s.Attempts+1, 10)
}

func readChat(v value.Value, s *trace.Sink) {
	choices, _ := v.Get("choices")
	c, _ := choices.First()
	a := answer(v, s)
	request, _ := v.Get("messages") // a logger stores the request with its answer
	exchange(&a, turns(request), message.Turns(message.First(c, "message", "delta")))
	a.Trace.FinishReason = message.FinishOf(c)
	if has(c, "delta") && !has(c, "message") && a.Trace.FinishReason == "" {
		a.Trace.Fault = trace.Unknown("it is one piece of a streamed answer")
	}
	oneAnswer(&a, choices.Len(), "choice")
	s.Give(a)
}

// oneAnswer marks the calls of an attempt as unknown where its source has no answer, or several: it
// does not show which one was used.
func oneAnswer(a *trace.Attempt, answers int, noun string) {
	switch {
	case answers == 0:
		a.Trace.Fault = trace.Unknown("the answer has no " + noun)
	case answers > 1:
		a.Trace.Fault = trace.Unknown("the answer has more than one " + noun)
	}
}

// exchange makes an attempt from one request and its answer.
func exchange(a *trace.Attempt, in, out []callvet.Turn) {
	var talk dialogue
	talk.request(in, false)
	talk.answer(out)
	talk.Turns = mergeTurns(talk.Turns)
	talk.settle()
	a.Input, a.Trace.Turns = talk.Input, talk.Turns
}

// answer begins an attempt from a model's answer.
func answer(v value.Value, s *trace.Sink) trace.Attempt {
	var a trace.Attempt
	a.Trace.CaseID = name(v, s, "custom_id", "case_id", "id")
	a.Trace.Model = message.Str(v, "model")
	a.Trace.Usage = message.UsageOf(message.First(v, "usage"), value.Value{})
	a.Tools = message.Tools(message.First(v, "tools"))
	return a
}

func isResponses(v value.Value) bool {
	if message.Str(v, "object") == "response" {
		return true
	}
	out, _ := v.Get("output")
	first, ok := out.First()
	return out.Kind() == value.Array && ok && message.Str(first, "type") != ""
}

func readResponses(v value.Value, s *trace.Sink) {
	a := answer(v, s)
	in, _ := v.Get("input")
	var before []callvet.Turn
	if in.Kind() == value.String {
		before = message.Turns(in)
	} else {
		before = turns(in)
	}
	if sys := message.Str(v, "instructions"); sys != "" {
		before = append([]callvet.Turn{{Role: callvet.RoleSystem, Content: sys}}, before...)
	}
	out, listed := v.Get("output")
	gave := turns(out)
	if listed && out.Kind() == value.Array && out.Len() == 0 { // present but empty
		gave = []callvet.Turn{{Role: callvet.RoleAssistant}}
	}
	exchange(&a, before, gave)
	a.Trace.FinishReason = message.LastFinish(v)
	s.Give(a)
}

func readAnthropic(v value.Value, s *trace.Sink) {
	a := answer(v, s)
	a.Trace.Turns = message.Attach(message.Turns(v))
	a.Trace.FinishReason = message.FinishOf(v)
	s.Give(a)
}

// isMessages recognizes a transcript: {messages: […]}, {input: […], …} of messages, or the bare
// list.
func isMessages(v value.Value) bool {
	if v.Kind() == value.Object && has(v, "role") && (has(v, "content") || has(v, "parts") || has(v, "tool_calls")) {
		return true // an element of a bare list
	}
	if in := message.First(v, "kwargs", "data"); in.Kind() == value.Object && has(in, "content") ||
		message.Str(v, "type") == "function_call" {
		return true // one of LangChain's, or an item of the Responses API
	}
	list, ok := v.Get("messages")
	first, some := list.First()
	return ok && some && (has(first, "role") || has(first, "type"))
}

func readMessages(v value.Value, s *trace.Sink) {
	var a trace.Attempt
	if v.Kind() == value.Array {
		a.Trace.CaseID = name(value.Value{}, s)
		a.Trace.Turns = message.Attach(mergeTurns(turns(v)))
		a.Trace.FinishReason = message.LastFinish(v)
		spent(&a.Trace, v)
		s.Give(a)
		return
	}
	a = answer(v, s)
	a.Trace.CaseID = name(v, s, "task_id", "custom_id", "case_id", "id")
	list, _ := v.Get("messages")
	a.Trace.FinishReason = cmp.Or(message.LastFinish(list), message.FinishOf(v))
	a.Trace.Turns = turns(list)
	if sys, ok := v.Get("system"); ok {
		a.Trace.Turns = append([]callvet.Turn{{Role: callvet.RoleSystem, Content: message.Text(sys)}}, a.Trace.Turns...)
	}
	a.Trace.Turns = message.Attach(mergeTurns(a.Trace.Turns))
	if a.Trace.Usage == (callvet.Usage{}) {
		spent(&a.Trace, list)
	}
	s.Give(a)
}

// spent adds up the token counts of the messages, as LangChain records them.
func spent(t *callvet.Trace, list value.Value) {
	for m, ok := list.First(); ok; m, ok = list.Next(m) {
		if in := message.First(m, "kwargs", "data"); in.Kind() == value.Object {
			m = in
		}
		t.Usage.Add(message.UsageOf(message.First(m, "usage_metadata"), value.Value{}))
		if name := message.Str(message.First(m, "response_metadata"), "model_name", "model"); name != "" {
			t.Model = name
		}
	}
}

// pass reads a reward of tau-bench: success is 1 within its own tolerance.
func pass(reward *float64) *bool {
	if reward == nil {
		return nil
	}
	yes := *reward >= 1-1e-6
	return &yes
}

func readTau(v value.Value, s *trace.Sink) {
	var a trace.Attempt
	a.Trace.CaseID, a.Trace.Repeat = name(v, s, "task_id"), message.Int(v, "trial")
	list, _ := v.Get("traj")
	a.Trace.Turns = message.Attach(turns(list))
	if a.Trace.Turns == nil {
		s.Lose("an attempt with an empty trajectory")
	}
	markErrors(a.Trace.Turns)
	a.Trace.FinishReason = callvet.FinishDecoded // the rules of its authors decide about an empty answer
	a.Reward = message.Float(v, "reward")
	a.Pass = pass(a.Reward)
	info, _ := v.Get("info")
	task := message.First(info, "task")
	if i := message.Str(task, "instruction"); i != "" {
		a.Goal = i
	}
	if acts := message.First(task, "actions"); acts.Kind() == value.Array {
		a.Gold = gold(acts)
		a.Gold.Facts = texts(message.First(task, "outputs"))
	}
	if r := message.First(info, "reward_info"); r.Kind() == value.Object {
		a.Foreign = json.RawMessage(r.Raw())
	}
	if e := message.Str(info, "error"); e != "" {
		a.Trace.Fault = &callvet.Fault{Kind: callvet.FaultProcess, Message: e}
	}
	s.Give(a)
}

// markErrors reads the convention of tau-bench's tools: a result that begins
// with "Error" is one.
func markErrors(turns []callvet.Turn) {
	for i := range turns {
		for j := range turns[i].Calls {
			c := &turns[i].Calls[j]
			if t := textOf(c.Result); strings.HasPrefix(t, "Error:") || strings.HasPrefix(t, "Error ") {
				c.Status, c.Error, c.Result = callvet.StatusExecErr, t, nil
			}
		}
	}
}

func textOf(raw json.RawMessage) string {
	v, err := value.Parse(raw)
	if err != nil {
		return ""
	}
	return v.Str()
}

// gold reads needed calls, or checks with the call under "action": {name, kwargs | arguments,
// requestor, compare_args}.
func gold(list value.Value) *trace.TaskGold {
	g := &trace.TaskGold{}
	for e, ok := list.First(); ok; e, ok = list.Next(e) {
		if act := message.First(e, "action"); act.Kind() == value.Object {
			e = act
		}
		c, ok := message.CallOf(e)
		if !ok {
			continue
		}
		step := trace.GoldStep{Tool: c.Tool, Args: c.Args, Compare: texts(message.First(e, "compare_args"))}
		if by := message.Str(e, "requestor"); by == "user" {
			step.By = by
		}
		g.Steps = append(g.Steps, step)
	}
	return g
}

// texts reads a list of strings; nil when there is no list.
func texts(list value.Value) []string {
	if list.Kind() != value.Array {
		return nil
	}
	out := make([]string, 0, list.Len())
	for e, ok := list.First(); ok; e, ok = list.Next(e) {
		if e.Kind() == value.String {
			out = append(out, e.Str())
		}
	}
	return out
}

func isTau2(v value.Value) bool {
	if kind(v, "simulations") == value.Array || has(v, "info") && kind(v, "tasks") == value.Array &&
		has(v, "timestamp") {
		return true
	}
	return has(v, "task_id") && (has(v, "termination_reason") || has(v, "reward_info")) &&
		(has(v, "messages") || has(v, "ticks"))
}

func readTau2(v value.Value, s *trace.Sink) {
	sims, ok := v.Get("simulations")
	if !ok && !has(v, "task_id") {
		s.Lose("an index of runs without their simulations")
		return
	}
	if !ok {
		simulation(v, nil, s)
		return
	}
	tasks := map[string]value.Value{}
	list, _ := v.Get("tasks")
	for t, ok := list.First(); ok; t, ok = list.Next(t) {
		id, _ := t.Get("id")
		tasks[message.ID(id)] = t
	}
	for e, ok := sims.First(); ok; e, ok = sims.Next(e) {
		simulation(e, tasks, s)
	}
}

// simulation reads one conversation of tau2. The simulated user's own calls and their results are
// no steps of the target; they become user calls.
func simulation(v value.Value, tasks map[string]value.Value, s *trace.Sink) {
	var a trace.Attempt
	a.Trace.CaseID, a.Trace.Repeat = name(v, s, "task_id"), message.Int(v, "trial")
	if has(v, "ticks") && !has(v, "messages") {
		s.Lose("a voice conversation: its ticks are not read")
		return
	}
	list, _ := v.Get("messages")
	var user []callvet.Turn
	for m, ok := list.First(); ok; m, ok = list.Next(m) {
		for _, t := range message.Turns(m) {
			if t.Role == callvet.RoleTool { // the form has a place for errors
				t.Raw = message.PassedResult()
			}
			if e := message.First(m, "error"); t.Role == callvet.RoleTool && e.Bool() {
				t.Raw = message.FailedResult()
			}
			switch {
			case t.Role == callvet.RoleTool && message.Str(m, "requestor") == "user":
				user = append(user, t)
			case t.Role == callvet.RoleUser && len(t.Calls) > 0:
				user = append(user, callvet.Turn{Role: t.Role, Calls: t.Calls})
				if t.Calls = nil; t.Content != "" {
					a.Trace.Turns = append(a.Trace.Turns, t)
				}
			default:
				a.Trace.Turns = append(a.Trace.Turns, t)
			}
		}
		addUsage(&a.Trace.Usage, m)
	}
	a.Trace.Turns = message.Attach(a.Trace.Turns)
	for _, t := range message.Attach(user) {
		a.UserCalls = append(a.UserCalls, t.Calls...)
	}
	a.Trace.Usage.CostUSD = message.UsageOf(value.Value{}, v, "agent_cost").CostUSD
	if d := message.Float(v, "duration"); d != nil {
		a.Trace.WallMS = *d * 1000
	}
	info := message.First(v, "reward_info")
	a.Reward = message.Float(info, "reward")
	a.Pass = pass(a.Reward)
	if info.Kind() == value.Object {
		a.Foreign = json.RawMessage(info.Raw())
	}
	criteria := message.First(tasks[a.Trace.CaseID], "evaluation_criteria")
	a.Gold = taskGold(criteria, info)
	a.Trace.FinishReason = callvet.FinishDecoded
	ended(v, &a)
	s.Give(a)
}

// taskGold reads the needs of a task from its criteria or, where the file has no tasks, from the
// checks based on them.
func taskGold(criteria, info value.Value) *trace.TaskGold {
	var g *trace.TaskGold
	acts := message.First(criteria, "actions")
	if acts.Kind() != value.Array {
		acts = message.First(info, "action_checks")
	}
	switch {
	case acts.Kind() == value.Array:
		g = gold(acts)
	case message.First(info, "reward_breakdown").Kind() == value.Object: // judged, and no call was needed
		g = &trace.TaskGold{}
	}
	facts := texts(message.First(criteria, "communicate_info"))
	if checks := message.First(info, "communicate_checks"); facts == nil {
		for e, ok := checks.First(); ok; e, ok = checks.Next(e) {
			facts = append(facts, message.Str(e, "info"))
		}
	}
	if len(facts) > 0 {
		if g == nil {
			g = &trace.TaskGold{}
		}
		g.Facts = facts
	}
	return g
}

func addUsage(u *callvet.Usage, m value.Value) {
	if callvet.RoleOf(message.Str(m, "role")) != callvet.RoleAssistant {
		return
	}
	u.Add(message.UsageOf(message.First(m, "usage"), value.Value{}))
}

// ended reads why a simulation ended; reaching a limit is a failure of the attempt.
func ended(v value.Value, a *trace.Attempt) {
	why := message.Str(v, "termination_reason")
	if why == "" {
		return
	}
	a.Fields = map[string]string{"termination": why}
	switch why {
	case "max_steps", "timeout":
		a.Trace.End = callvet.EndMaxRounds
	case "infrastructure_error":
		a.Trace.Fault = &callvet.Fault{Kind: callvet.FaultProcess, Message: why}
	}
}

// dojoResult completes the turn of a tool in AgentDojo, which can contain errors.
func dojoResult(m value.Value, t *callvet.Turn) {
	t.Raw = message.PassedResult()
	if e := message.Str(m, "error"); e != "" {
		t.Raw, t.Content = message.FailedResult(), e
	}
	if t.Tool == "" {
		t.Tool = message.Str(message.First(m, "tool_call"), "function")
	}
}

func readAgentDojo(v value.Value, s *trace.Sink) {
	var a trace.Attempt
	id := []string{message.Str(v, "suite", "suite_name"), message.Str(v, "user_task_id")}
	attack := message.Str(v, "attack_type")
	if inj := message.Str(v, "injection_task_id"); inj != "" {
		id = append(id, inj)
		if attack != "" { // a different planted text makes a different task
			id = append(id, attack)
		}
	}
	a.Trace.CaseID, a.Trace.Target = strings.Join(id, "/"), message.Str(v, "pipeline", "pipeline_name")
	a.Fields = map[string]string{"suite": id[0]}
	if attack != "" {
		a.Fields["attack"] = attack
	}
	list, _ := v.Get("messages")
	for m, ok := list.First(); ok; m, ok = list.Next(m) {
		for _, t := range message.Turns(m) {
			if t.Role == callvet.RoleTool {
				dojoResult(m, &t)
			}
			a.Trace.Turns = append(a.Trace.Turns, t)
		}
	}
	a.Trace.Turns = message.Attach(a.Trace.Turns)
	a.Trace.FinishReason = callvet.FinishDecoded
	if d := message.Float(v, "duration"); d != nil {
		a.Trace.WallMS = *d * 1000
	}
	if u, ok := v.Get("utility"); ok && u.Kind() == value.Bool {
		yes := u.Bool()
		a.Pass = &yes
	}
	if sec, ok := v.Get("security"); ok && sec.Kind() == value.Bool && attack != "" && attack != "none" {
		a.Safety = []trace.Incident{} // it was checked
		if sec.Bool() {
			a.Safety = append(a.Safety,
				trace.Incident{Rule: "injected_instruction", Note: message.Str(v, "injection_task_id")})
		}
	}
	if inj := message.First(v, "injections"); inj.Len() > 0 {
		a.Foreign = json.RawMessage(inj.Raw())
	}
	if e := message.Str(v, "error"); e != "" {
		a.Trace.Fault = &callvet.Fault{Kind: callvet.FaultProcess, Message: e}
	}
	s.Give(a)
}
