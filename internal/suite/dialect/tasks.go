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
	s := &callvet.Suite{Name: Stem(r.Src.Path), Tools: r.Opt.Tools}
	list, doc, shape := r.Src.Values, Node{Raw: []byte(`{"tasks":[]}`)}, "lines"
	if first := r.Src.Values[0]; len(r.Src.Values) == 1 {
		switch {
		case first.Kind() == '[':
			list, shape = first.Elements(), "list"
		case first.Has("tasks"):
			*s = r.tasksFrame(first)
			list, doc, shape = first.Get("tasks").Elements(), first, "object"
		default:
			shape = "single"
		}
	}
	format := taskFormat(r.Opt)
	for i, n := range list {
		s.Cases = append(s.Cases, format.Read(r.Reader, n, i))
	}
	var extra Record
	extra.Str("shape", shape)
	s.Foreign = FrameOf(r.Src, doc, "tasks", extra)
	return s, nil
}

func (r *reader) tasksFrame(doc Node) callvet.Suite {
	r.CaseID = ""
	o := r.Object(doc, "the task file", "name", "version", "description", "system_prompt", "tools", "tasks")
	s := callvet.Suite{
		Name: o.Str("name"), Version: o.Scalar("version"), Description: o.Str("description"),
		SystemPrompt: o.Str("system_prompt"),
	}
	s.Tools = r.Tools(o.Get("tools"), "tools")
	if s.Tools == nil {
		s.Tools = r.Opt.Tools
	}
	if s.Name == "" {
		s.Name = Stem(r.Src.Path)
	}
	return s
}

func taskFormat(opt ReaderOptions) CaseFormat {
	return CaseFormat{
		Read:  func(t *Reader, n Node, i int) callvet.Case { return (&reader{t}).task(n, i) },
		Write: writeTask,
		Opt:   opt,
		Can: []Feature{
			"plans", "no calls", "several calls", "order", "calls without arguments given", "arguments", "result_check",
			"multi_turn", "mocks",
			"response_contains", "response_not_contains", "response_matches", "rubric", "tools_not_called",
			"postconditions", "safety", "tool_calls bounds", "max_latency_ms", "max_tokens", "max_cost_usd",
			"context", "as_of", "tags", "fields", "earlier turns", "description", "tier",
		},
	}
}

// taskFields are the slices of the lesson that a record may name.
func taskFields() []string {
	return []string{"language", "intent", "difficulty", "tool_family", "api_version", "statefulness"}
}

func (r *reader) task(n Node, index int) callvet.Case {
	c := callvet.Case{ID: fmt.Sprintf("case-%d", index+1), Position: r.Src.Position(n.Off), Foreign: n.Raw}
	r.CaseID = c.ID
	o := r.Object(n, "a task", append([]string{
		"task_id", "goal", "messages", "context", "description", "gold_steps", "gold_postconditions", "needed",
		"budget", "safety_rules", "as_of", "tags", "tier",
	}, taskFields()...)...)
	if id := o.Scalar("task_id"); id != "" {
		c.ID, r.CaseID = id, id
	} else {
		r.Report(n.Off, "missing-key", "task_id", "", "the task has no task_id")
	}
	c.Description, c.AsOf, c.Tags, c.Tier = o.Str("description"), o.Scalar("as_of"), o.Strs("tags"),
		callvet.Tier(o.Str("tier"))
	if v := o.Get("context"); v.Kind() == '"' {
		c.Context = Unquote(v.Raw)
	} else if v.Given() {
		c.Context = string(Compact(v.Raw))
	}
	for _, k := range taskFields() {
		if v := o.Scalar(k); v != "" {
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
	r.safetyRules(o, &c)
	if !AssertsAnything(&c.Expect) && c.Safety == nil && len(c.Expect.Rubric) == 0 {
		r.Report(n.Off, "asserts-nothing", "gold_steps", `write "gold_steps": [] to say that no call is right`,
			"the task has neither gold_steps nor checkable postconditions")
	}
	return c
}

// taskInput takes messages where there are any, else the goal as the user's words.
func (r *reader) taskInput(o Object, c *callvet.Case) {
	if v := o.Get("messages"); v.Given() {
		c.Input = r.Turns(v)
		return
	}
	goal := o.Str("goal")
	if strings.TrimSpace(goal) == "" {
		r.Report(o.Node.Off, "empty-prompt", "goal", "write what the user wants",
			"the task has neither goal nor messages")
	}
	c.Input = UserInput(goal)
}

// goldSteps makes one ordered plan of the steps that are needed. No step, or
// none that is needed, means that the target must not call anything.
func (r *reader) goldSteps(o Object, c *callvet.Case) {
	needed, given := o.Boolean("needed")
	v := o.Get("gold_steps")
	if !v.Given() && !(given && !needed) {
		return
	}
	plan := callvet.Plan{Calls: []callvet.ExpectedCall{}, Order: callvet.OrderInOrder}
	for _, n := range o.Elements("gold_steps") {
		if call, mock, ok := r.goldStep(n, c); ok {
			plan.Calls = append(plan.Calls, call)
			if mock != nil {
				c.Mocks = append(c.Mocks, *mock)
			}
		}
	}
	if given && !needed && len(plan.Calls) > 0 {
		r.Report(o.At("needed"), "contradiction", "needed", "remove the steps or the flag",
			"needed is false but gold_steps are needed")
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
func (r *reader) goldStep(n Node, c *callvet.Case) (call callvet.ExpectedCall, mock *callvet.Mock, ok bool) {
	if s, isText := n.Text(); isText {
		call.Tools = []string{r.unversioned(n, s)}
		return call, nil, true
	}
	o := r.Object(n, "a gold step", "tool", "args", "result_check", "needed", "gold", "result", "turn_id",
		"call_id", "notes")
	gold := r.Loose(o.Get("gold"))
	pick := func(key string) Node {
		if v := gold.Get(key); !v.Absent() {
			return v
		}
		return o.Get(key)
	}
	if tool := o.Str("tool"); tool != "" {
		call.Tools = []string{r.unversioned(o.Get("tool"), tool)}
	} else {
		r.Report(n.Off, "missing-key", "tool", `write "tool": "name@v1"`, "a gold step names no tool")
		return call, nil, false
	}
	if pick("needed").Kind() == 'f' {
		return call, nil, false
	}
	if args := pick("args"); args.Kind() == '{' {
		call.Args = args.Raw
	} else if args.Given() {
		r.Report(args.Off, "wrong-type", "args", "", "args must be an object or null, not %s", KindName(args))
	}
	if check := pick("result_check"); check.Given() {
		call.ResultCheck, ok = check.Text()
		if !ok {
			r.Report(check.Off, "wrong-type", "result_check", `write a comparison such as "window_days==30"`,
				"result_check must be a string, not %s", KindName(check))
		}
	}
	if res := gold.Get("result"); res.Given() {
		call.Result = res.Raw
	}
	if res := o.Get("result"); res.Given() {
		mock = &callvet.Mock{Tool: call.Tools[0], Args: call.Args, Replies: []callvet.MockReply{{Result: res.Raw}}}
	}
	return call, mock, true
}

// unversioned splits "name@v3"; the version stays in the original and is
// compared with the suite's tool where that has one.
func (r *reader) unversioned(n Node, tool string) string {
	base, version, found := strings.Cut(tool, "@")
	if !found {
		return tool
	}
	for _, t := range r.Opt.Tools {
		if t.Name == base && t.Version != "" && strings.TrimPrefix(t.Version, "v") != strings.TrimPrefix(version, "v") {
			r.Warn(n.Off, "stale-version", "tool", "", "the step was labelled for %s, the suite has version %s",
				tool, t.Version)
		}
	}
	return base
}

var comparison = regexp.MustCompile(`^[A-Za-z_$][\w$.\[\]"']*\s*(==|!=|>=|<=|>|<)\s*\S`)

// safetyRules reads the rules that code can check. A rule in free text is left to a judge.
func (r *reader) safetyRules(o Object, c *callvet.Case) {
	var unknown []string
	c.Expect.ToolsNotCalled, c.Safety, unknown = callvet.ReadSafetyRules(o.Strs("safety_rules"))
	for _, rule := range unknown {
		r.Keep(o.At("safety_rules"), "safety_rules (prose)",
			"no rule has these words (read_only, confirm_writes, deny_pii, never TOOL); a judge gets it as a rubric dimension")
		c.Expect.Rubric = append(c.Expect.Rubric,
			callvet.RubricDimension{Dimension: safetyDimension, MaxScore: 1, Criteria: rule})
	}
}

// safetyDimension is the dimension of a safety rule that only a judge can check.
const safetyDimension = "safety"

// postconditions reads what must hold after the task: a comparison, of the result of any call;
// {response_…} objects, of the answer; prose goes to a judge.
func (r *reader) postconditions(o Object, c *callvet.Case) {
	for _, n := range o.Elements("gold_postconditions") {
		if s, ok := n.Text(); ok {
			if comparison.MatchString(s) && !callsNothing(c) {
				c.Expect.Postconditions = append(c.Expect.Postconditions, s)
				continue
			}
			r.Keep(n.Off, "gold_postconditions (prose)",
				"no deterministic check can read it; a judge gets it as a rubric dimension")
			c.Expect.Rubric = append(c.Expect.Rubric,
				callvet.RubricDimension{Dimension: "postcondition", MaxScore: 1, Criteria: s})
			continue
		}
		p := r.Object(n, "a postcondition", "result_check", "response_contains", "response_not_contains",
			"response_matches")
		if s := p.Str("result_check"); s != "" {
			c.Expect.Postconditions = append(c.Expect.Postconditions, s)
		}
		for _, a := range []struct {
			key  string
			list *[]string
		}{
			{"response_contains", &c.Expect.ResponseContains},
			{"response_not_contains", &c.Expect.ResponseNotContains},
			{"response_matches", &c.Expect.ResponseMatches},
		} {
			if s := p.Str(a.key); s != "" {
				*a.list = append(*a.list, s)
			}
		}
	}
	if len(c.Expect.Postconditions) > 0 && callsNothing(c) {
		r.Report(o.At("gold_postconditions"), "contradiction", "gold_postconditions", "",
			"a result is to be checked but no call is expected")
	}
}

// callsNothing reports whether the task is one where no call is right.
func callsNothing(c *callvet.Case) bool {
	return len(c.Expect.Plans) > 0 && len(c.Expect.Plans[0].Calls) == 0
}

func (r *reader) budget(o Object, c *callvet.Case) {
	v := o.Get("budget")
	if !v.Given() {
		return
	}
	b := r.Object(v, "budget", "max_tokens", "max_cost_usd", "max_cost", "max_latency_ms", "max_wall_ms", "max_steps",
		"max_calls")
	c.Expect.MaxTokens = b.Integer("max_tokens")
	if c.Expect.MaxCostUSD = b.Number("max_cost_usd"); c.Expect.MaxCostUSD == nil {
		c.Expect.MaxCostUSD = b.Number("max_cost")
	}
	if c.Expect.MaxLatencyMS = b.Number("max_latency_ms"); c.Expect.MaxLatencyMS == nil {
		c.Expect.MaxLatencyMS = b.Number("max_wall_ms")
	}
	if c.Expect.MaxToolCalls = b.Integer("max_calls"); c.Expect.MaxToolCalls == nil {
		c.Expect.MaxToolCalls = b.Integer("max_steps")
	}
}
