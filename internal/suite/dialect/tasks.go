// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/callvet/callvet"
)

// tasks reads labelled tasks of Evaluating Tool Calling, §5: one record per
// task, as a JSON or YAML list, as JSON Lines, or in {tasks: […], tools: […]}.
func (r *reader) tasks() (*callvet.Suite, error) {
	s := &callvet.Suite{Name: stem(r.src.path), Tools: r.opt.Tools}
	list, doc, shape := r.src.values, node{raw: []byte(`{"tasks":[]}`)}, "lines"
	if first := r.src.values[0]; len(r.src.values) == 1 {
		switch {
		case first.kind() == '[':
			list, shape = first.elements(), "list"
		case first.has("tasks"):
			*s = r.tasksFrame(first)
			list, doc, shape = first.get("tasks").elements(), first, "object"
		default:
			shape = "single"
		}
	}
	format := taskFormat(r.opt)
	for i, n := range list {
		s.Cases = append(s.Cases, format.read(r, n, i))
	}
	var extra record
	extra.str("shape", shape)
	s.Foreign = frameOf(r.src, doc, "tasks", extra)
	return s, nil
}

func (r *reader) tasksFrame(doc node) callvet.Suite {
	r.caseID = ""
	o := r.object(doc, "the task file", "name", "version", "description", "system_prompt", "tools", "tasks")
	s := callvet.Suite{Name: o.str("name"), Version: o.scalar("version"), Description: o.str("description"), SystemPrompt: o.str("system_prompt")}
	s.Tools = r.tools(o.get("tools"), "tools")
	if s.Tools == nil {
		s.Tools = r.opt.Tools
	}
	if s.Name == "" {
		s.Name = stem(r.src.path)
	}
	return s
}

func taskFormat(opt Options) caseFormat {
	return caseFormat{
		read:  (*reader).task,
		write: writeTask,
		opt:   opt,
		can: []feature{
			"plans", "no calls", "several calls", "order", "calls without arguments given", "arguments", "result_check", "multi_turn", "mocks",
			"response_contains", "response_not_contains", "response_matches", "rubric", "tool_calls bounds", "max_latency_ms", "max_tokens", "max_cost_usd",
			"context", "as_of", "tags", "fields", "earlier turns", "description",
		},
	}
}

// taskFields are the slices of the lesson that a record may name.
func taskFields() []string {
	return []string{"language", "intent", "difficulty", "tool_family", "api_version", "statefulness"}
}

func (r *reader) task(n node, index int) callvet.Case {
	c := callvet.Case{ID: fmt.Sprintf("case-%d", index+1), Position: r.src.position(n.off), Foreign: n.raw}
	r.caseID = c.ID
	o := r.object(n, "a task", append([]string{"task_id", "goal", "messages", "context", "description", "gold_steps", "gold_postconditions", "needed",
		"budget", "safety_rules", "as_of", "tags", "tier"}, taskFields()...)...)
	if id := o.scalar("task_id"); id != "" {
		c.ID, r.caseID = id, id
	} else {
		r.report(n.off, "missing-key", "task_id", "", "the task has no task_id")
	}
	c.Description, c.AsOf, c.Tags, c.Tier = o.str("description"), o.scalar("as_of"), o.strs("tags"), callvet.Tier(o.str("tier"))
	if v := o.get("context"); v.kind() == '"' {
		c.Context = unquote(v.raw)
	} else if v.given() {
		c.Context = string(compact(v.raw))
	}
	for _, k := range taskFields() {
		if v := o.scalar(k); v != "" {
			if c.Fields == nil {
				c.Fields = map[string]string{}
			}
			c.Fields[k] = v
		}
	}
	r.taskInput(o, &c)
	r.goldSteps(o, &c)
	r.postconditions(o, &c)
	r.budget(o, &c)
	if o.get("safety_rules").given() {
		r.keep(o.at("safety_rules"), "safety_rules", "kept for export; the guard's settings enforce safety, not the case")
	}
	if !assertsAnything(&c.Expect) && len(c.Expect.Rubric) == 0 {
		r.report(n.off, "asserts-nothing", "gold_steps", `write "gold_steps": [] to say that no call is right`, "the task has neither gold_steps nor checkable postconditions")
	}
	return c
}

// taskInput takes messages where there are any, else the goal as the user's words.
func (r *reader) taskInput(o object, c *callvet.Case) {
	if v := o.get("messages"); v.given() {
		c.Input = r.turns(v)
		return
	}
	goal := o.str("goal")
	if strings.TrimSpace(goal) == "" {
		r.report(o.node.off, "empty-prompt", "goal", "write what the user wants", "the task has neither goal nor messages")
	}
	c.Input = userInput(goal)
}

// goldSteps makes one ordered plan of the steps that are needed. No step, or
// none that is needed, means that the target must not call anything.
func (r *reader) goldSteps(o object, c *callvet.Case) {
	needed, said := o.boolean("needed")
	v := o.get("gold_steps")
	if !v.given() && !(said && !needed) {
		return
	}
	plan := callvet.Plan{Calls: []callvet.ExpectedCall{}, Order: callvet.OrderInOrder}
	for _, n := range o.elements("gold_steps") {
		if call, mock, ok := r.goldStep(n, c); ok {
			plan.Calls = append(plan.Calls, call)
			if mock != nil {
				c.Mocks = append(c.Mocks, *mock)
			}
		}
	}
	if said && !needed && len(plan.Calls) > 0 {
		r.report(o.at("needed"), "contradiction", "needed", "remove the steps or the flag", "needed is false but gold_steps are needed")
	}
	if len(plan.Calls) == 0 {
		plan.Order = ""
	}
	c.Expect.Plans = []callvet.Plan{plan}
	if n := len(plan.Calls); n > 1 {
		c.MultiTurn = &callvet.MultiTurn{OptimalHops: n}
		for _, call := range plan.Calls[:n-1] {
			c.MultiTurn.ValidPrerequisites = append(c.MultiTurn.ValidPrerequisites, call.Tools...)
		}
	}
}

// goldStep reads "name@vN" or {tool, args, result_check, needed, result}; the
// labels may stand in gold as in a trace. ok is false for a step not needed.
func (r *reader) goldStep(n node, c *callvet.Case) (call callvet.ExpectedCall, mock *callvet.Mock, ok bool) {
	if s, isText := n.text(); isText {
		call.Tools = []string{r.unversioned(n, s)}
		return call, nil, true
	}
	o := r.object(n, "a gold step", "tool", "args", "result_check", "needed", "gold", "result", "turn_id", "call_id", "notes")
	gold := r.loose(o.get("gold"))
	pick := func(key string) node {
		if v := gold.get(key); !v.absent() {
			return v
		}
		return o.get(key)
	}
	if tool := o.str("tool"); tool != "" {
		call.Tools = []string{r.unversioned(o.get("tool"), tool)}
	} else {
		r.report(n.off, "missing-key", "tool", `write "tool": "name@v1"`, "a gold step names no tool")
		return call, nil, false
	}
	if pick("needed").kind() == 'f' {
		return call, nil, false
	}
	if args := pick("args"); args.kind() == '{' {
		call.Args = args.raw
	} else if args.given() {
		r.report(args.off, "wrong-type", "args", "", "args must be an object or null, not %s", kindName(args))
	}
	if check := pick("result_check"); check.given() {
		call.ResultCheck, ok = check.text()
		if !ok {
			r.report(check.off, "wrong-type", "result_check", `write a comparison such as "window_days==30"`, "result_check must be a string, not %s", kindName(check))
		}
	}
	if res := o.get("result"); res.given() {
		mock = &callvet.Mock{Tool: call.Tools[0], Args: call.Args, Replies: []callvet.MockReply{{Result: res.raw}}}
	}
	return call, mock, true
}

// unversioned splits "name@v3"; the version stays in the original and is
// compared with the suite's tool where that has one.
func (r *reader) unversioned(n node, tool string) string {
	base, version, found := strings.Cut(tool, "@")
	if !found {
		return tool
	}
	for _, t := range r.opt.Tools {
		if t.Name == base && t.Version != "" && strings.TrimPrefix(t.Version, "v") != strings.TrimPrefix(version, "v") {
			r.warn(n.off, "stale-version", "tool", "", "the step was labelled for %s, the suite has version %s", tool, t.Version)
		}
	}
	return base
}

var comparison = regexp.MustCompile(`^[A-Za-z_$][\w$.\[\]"']*\s*(==|!=|>=|<=|>|<)\s*\S`)

// postconditions: a comparison checks the last call's result; {response_…}
// objects assert on the answer; prose goes to a judge.
func (r *reader) postconditions(o object, c *callvet.Case) {
	var checks []string
	for _, n := range o.elements("gold_postconditions") {
		if s, ok := n.text(); ok {
			if comparison.MatchString(s) && hasCalls(c) {
				checks = append(checks, s)
				continue
			}
			r.keep(n.off, "gold_postconditions (prose)", "carried as a rubric dimension for a judge; no deterministic check can read it")
			c.Expect.Rubric = append(c.Expect.Rubric, callvet.RubricDimension{Dimension: "postcondition", MaxScore: 1, Criteria: s})
			continue
		}
		p := r.object(n, "a postcondition", "result_check", "response_contains", "response_not_contains", "response_matches")
		if s := p.str("result_check"); s != "" {
			checks = append(checks, s)
		}
		for _, a := range []struct {
			key  string
			list *[]string
		}{
			{"response_contains", &c.Expect.ResponseContains}, {"response_not_contains", &c.Expect.ResponseNotContains}, {"response_matches", &c.Expect.ResponseMatches},
		} {
			if s := p.str(a.key); s != "" {
				*a.list = append(*a.list, s)
			}
		}
	}
	if len(checks) == 0 {
		return
	}
	if !hasCalls(c) {
		r.report(o.at("gold_postconditions"), "contradiction", "gold_postconditions", "", "a result is to be checked but no call is expected")
		return
	}
	last := &c.Expect.Plans[0].Calls[len(c.Expect.Plans[0].Calls)-1]
	if last.ResultCheck != "" {
		checks = append([]string{last.ResultCheck}, checks...)
	}
	last.ResultCheck = strings.Join(checks, " && ")
}

func hasCalls(c *callvet.Case) bool {
	return len(c.Expect.Plans) > 0 && len(c.Expect.Plans[0].Calls) > 0
}

func (r *reader) budget(o object, c *callvet.Case) {
	v := o.get("budget")
	if !v.given() {
		return
	}
	b := r.object(v, "budget", "max_tokens", "max_cost_usd", "max_cost", "max_latency_ms", "max_wall_ms", "max_steps", "max_calls")
	c.Expect.MaxTokens = b.integer("max_tokens")
	if c.Expect.MaxCostUSD = b.number("max_cost_usd"); c.Expect.MaxCostUSD == nil {
		c.Expect.MaxCostUSD = b.number("max_cost")
	}
	if c.Expect.MaxLatencyMS = b.number("max_latency_ms"); c.Expect.MaxLatencyMS == nil {
		c.Expect.MaxLatencyMS = b.number("max_wall_ms")
	}
	if c.Expect.MaxToolCalls = b.integer("max_calls"); c.Expect.MaxToolCalls == nil {
		c.Expect.MaxToolCalls = b.integer("max_steps")
	}
}
