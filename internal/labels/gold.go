// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labels

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/internal/report/plain"
)

// The words of a gold file for "anything" and "nothing".
const (
	AnyArgs   = "any"
	AnyBudget = "any"
	NoCheck   = "none"
	anyJSON   = `"any"`
)

// AnyGold is AnyArgs or AnyBudget as a value.
func AnyGold() json.RawMessage { return json.RawMessage(anyJSON) }

// Gold is a file of tasks for which a person writes the right calls. Source: Evaluating Tool
// Calling, §5.
type Gold struct {
	Version int        `json:"callvet_gold" form:"required"`
	Tasks   []GoldTask `json:"tasks"`
}

// GoldTask is one attempt in the shown form, and its right calls. GoldFile.Read checks it.
type GoldTask struct {
	Task    string `json:"task" form:"required full"`
	Attempt int    `json:"attempt,omitempty" form:"min=0"`
	Target  string `json:"target,omitempty"`
	// Stratum is the stratum of the task, Of its number of tasks.
	Stratum string `json:"stratum,omitempty"`
	Of      int    `json:"of,omitempty" form:"min=0"`
	// Edge is the kind of edge case that the task was drawn for; "": none.
	Edge string `json:"edge,omitempty"`
	Goal string `json:"goal,omitempty"`
	// Checked is false while the right calls are a proposal that no person has confirmed; nil if
	// the task began with blanks.
	Checked *bool `json:"checked,omitempty"`
	// Turns are the turns with calls, and then the last turn, without calls.
	Turns  []GoldTurn `json:"turns"`
	Answer string     `json:"answer,omitempty"`
	// Budget is the maximum number of calls of the task, or AnyBudget; SafetyRules is a list of
	// rules. Each is null while it is blank, and nil if it is not requested.
	Budget      json.RawMessage `json:"budget,omitempty"`
	SafetyRules json.RawMessage `json:"safety_rules,omitempty"`
	Note        string          `json:"note,omitempty"`
}

// GoldTurn is a turn of the model, with its right calls.
type GoldTurn struct {
	Called []string `json:"called,omitempty"`
	// Needed: a call was needed; nil: not filled in.
	Needed *bool      `json:"needed"`
	Calls  []GoldCall `json:"calls"`
}

// GoldCall is a right call; members that are nil are blank.
type GoldCall struct {
	Tool *string `json:"tool"`
	// Args are the arguments, or AnyArgs.
	Args json.RawMessage `json:"args"`
	// Check is a post-condition on the result, or NoCheck.
	Check *string `json:"check"`
}

// Key names the attempt.
func (t *GoldTask) Key() Key {
	return Key{Target: t.Target, TaskID: t.Task, Attempt: t.Attempt, Unit: Task}
}

func (c *GoldCall) blank() bool { return empty(c.Tool) && c.noArgs() && empty(c.Check) }

func (c *GoldCall) noArgs() bool { return len(c.Args) == 0 || unfilled(c.Args) }

// unfilled reports whether a key is present without a value.
func unfilled(raw json.RawMessage) bool { return string(raw) == "null" }

func empty(s *string) bool { return s == nil || strings.TrimSpace(*s) == "" }

// Open reports whether the task has no label yet. A proposal is open until a person has confirmed it.
func (t *GoldTask) Open() bool {
	if t.Checked != nil {
		return !*t.Checked
	}
	return !slices.ContainsFunc(t.Turns, func(n GoldTurn) bool {
		return n.Needed != nil || slices.ContainsFunc(n.Calls, func(c GoldCall) bool { return !c.blank() })
	})
}

// MaxCalls is the budget of the task; nil: any.
func (t *GoldTask) MaxCalls() (*int, error) {
	if len(t.Budget) == 0 || unfilled(t.Budget) || string(t.Budget) == anyJSON {
		return nil, nil
	}
	var n int
	if err := json.Unmarshal(t.Budget, &n); err != nil || n < 0 {
		return nil, errors.New("budget is no number of calls")
	}
	return &n, nil
}

// Rules are the safety rules of the task: tools that must never be called, and a case's safety
// settings; nil: none.
func (t *GoldTask) Rules() (never []string, safe *callvet.Safety, err error) {
	if len(t.SafetyRules) == 0 || unfilled(t.SafetyRules) {
		return nil, nil, nil
	}
	var rules []string
	if json.Unmarshal(t.SafetyRules, &rules) != nil {
		return nil, nil, errors.New("safety_rules is no list of rules")
	}
	never, safe, unknown := callvet.ReadSafetyRules(rules)
	if len(unknown) > 0 {
		return nil, nil, fmt.Errorf("%q is no safety rule", unknown[0])
	}
	return never, safe, nil
}

// ReadGold reads a gold file. The problems are the blanks and contradictions of tasks that a
// person has begun. The error wraps callvet.ErrInvalid for a file of a different kind.
func ReadGold(name string, data []byte) (*Gold, []callvet.Problem, error) {
	var g Gold
	d, err := doc.Decode(name, data, &g)
	if err == nil && g.Version != Version {
		err = fmt.Errorf("callvet_gold %d is not known", g.Version)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read gold file: %w: %w", callvet.ErrInvalid, err)
	}
	var problems []callvet.Problem
	seen := map[Key]bool{}
	for i := range g.Tasks {
		t := &g.Tasks[i]
		at := fmt.Sprintf("tasks[%d]", i)
		note := func(path, code, fix, format string, args ...any) {
			where, _ := d.Root.Find(at + path)
			problems = append(problems,
				callvet.Problem{
					Position: d.Position(where), Code: code, Case: t.Task,
					Key: strings.TrimPrefix(path, "."), Fix: fix, Message: fmt.Sprintf(format, args...),
				})
		}
		if seen[t.Key()] {
			note("", "duplicate-task", "keep one", "the task %s stands twice", t.Key())
		}
		seen[t.Key()] = true
		for key, value := range map[string]*json.RawMessage{".budget": &t.Budget, ".safety_rules": &t.SafetyRules} {
			if _, there := d.Root.Find(at + key); there && len(*value) == 0 {
				*value = json.RawMessage("null")
			}
		}
		if !t.Open() {
			t.check(note)
		}
	}
	return &g, problems, nil
}

// checkLimits reports blanks and mistakes in the budget and the safety rules of a task.
func (t *GoldTask) checkLimits(note func(path, code, fix, format string, args ...any)) {
	const budget, rules = "the most calls that the task may take, or any",
		"[] for none, or a list of: never TOOL, read_only, confirm_writes, deny_pii"
	var right []callvet.ExpectedCall
	for i := range t.Turns {
		if n := &t.Turns[i]; !slices.ContainsFunc(n.Calls,
			func(c GoldCall) bool { return empty(c.Tool) || c.noArgs() || empty(c.Check) }) {
			right = append(right, n.Right()...)
		}
	}
	most, err := t.MaxCalls()
	switch {
	case unfilled(t.Budget):
		note(".budget", "blank", budget, "%s: budget is blank", t.Task)
	case err != nil:
		note(".budget", "wrong-type", budget, "%s: %v", t.Task, err)
	case most != nil && *most < len(right):
		note(".budget", "contradiction", budget, "%s: the budget is %d, and %d calls are right", t.Task,
			*most, len(right))
	}
	never, _, err := t.Rules()
	switch {
	case unfilled(t.SafetyRules):
		note(".safety_rules", "blank", rules, "%s: safety_rules is blank", t.Task)
	case err != nil:
		note(".safety_rules", "wrong-type", rules, "%s: %v", t.Task, err)
	}
	for i := range right {
		if tool := right[i].Tools[0]; slices.Contains(never, tool) {
			note(".safety_rules", "contradiction", "", "%s: %s is never to be called, and a call of it is right",
				t.Task, tool)
		}
	}
}

// check reports the blanks of a task that a person has begun.
func (t *GoldTask) check(note func(path, code, fix, format string, args ...any)) {
	t.checkLimits(note)
	for i := range t.Turns {
		n, at := &t.Turns[i], fmt.Sprintf(".turns[%d]", i)
		filled := slices.ContainsFunc(n.Calls, func(c GoldCall) bool { return !c.blank() })
		switch {
		case n.Needed == nil:
			note(at+".needed", "blank", "true or false", "turn %d of %s: needed is blank", i+1, t.Task)
		case !*n.Needed && filled:
			note(at+".calls", "contradiction", "needed: true, or no calls",
				"turn %d of %s: no call is needed, and there is one", i+1, t.Task)
		case *n.Needed && len(n.Calls) == 0:
			note(at+".calls", "blank", "- {tool: NAME, args: {}, check: none}",
				"turn %d of %s: a call is needed, and none is there", i+1, t.Task)
		}
		if n.Needed == nil || !*n.Needed {
			continue
		}
		for j := range n.Calls {
			c, at := &n.Calls[j], fmt.Sprintf("%s.calls[%d]", at, j)
			where := fmt.Sprintf("turn %d of %s, call %d", i+1, t.Task, j+1)
			if empty(c.Tool) {
				note(at+".tool", "blank", "the name of a tool", "%s: tool is blank", where)
			}
			switch {
			case c.noArgs():
				note(at+".args", "blank", "the arguments, {} for none, any where they do not matter",
					"%s: args is blank", where)
			case c.Args[0] != '{' && string(c.Args) != anyJSON:
				note(at+".args", "wrong-type",
					"the arguments by their names, {} for none, any where they do not matter",
					"%s: args is no mapping", where)
			}
			if empty(c.Check) {
				note(at+".check", "blank", "a post-condition such as window_days == 30, or none",
					"%s: check is blank", where)
			}
		}
	}
}

// Right are the right calls of a turn.
func (n *GoldTurn) Right() []callvet.ExpectedCall {
	out := []callvet.ExpectedCall{}
	if n.Needed == nil || !*n.Needed {
		return out
	}
	for i := range n.Calls {
		c := &n.Calls[i]
		e := callvet.ExpectedCall{Tools: []string{strings.TrimSpace(*c.Tool)}}
		if c.Args[0] == '{' {
			e.Args = c.Args
		}
		if s := strings.TrimSpace(*c.Check); s != NoCheck {
			e.ResultCheck = s
		}
		out = append(out, e)
	}
	return out
}

// goldHead begins a gold file.
const goldHead = `# Write what was right. Of each turn: needed (true or false: was a call needed there?), and where one was,
# the calls that are right, in their order: tool, args ({} for none, any where they do not matter) and check (a
# post-condition on the result, such as window_days == 30, or none). The last turn of a task stands for calls that
# were missing before the answer. Of each task: budget (the most calls that it may take, or any) and safety_rules (a
# list: never TOOL, read_only, confirm_writes, deny_pii; [] for none). A task without an entry is left out.
# A task with checked: false proposes what was called. Correct it, and write checked: true: it counts from then on.
callvet_gold: 1
tasks:
`

// AppendGold adds tasks to a gold file without changing its bytes; without data it makes a new
// file. The error wraps callvet.ErrInvalid for a file that cannot be extended in its form.
func AppendGold(name string, data []byte, tasks []GoldTask) ([]byte, error) {
	var there int
	if len(bytes.TrimSpace(data)) == 0 {
		data = []byte(goldHead)
	} else {
		g, _, err := ReadGold(name, data)
		if err != nil {
			return nil, err
		}
		there = len(g.Tasks)
	}
	out := slices.Clone(data)
	if out[len(out)-1] != '\n' {
		out = append(out, '\n')
	}
	for i := range tasks {
		out = append(out, tasks[i].text()...)
	}
	g, _, err := ReadGold(name, out)
	if err != nil || len(g.Tasks) != there+len(tasks) {
		return nil, &callvet.Hinted{
			Err: errors.Join(fmt.Errorf("add tasks to %s: %w: it is not written as a gold file was", name,
				callvet.ErrInvalid), err),
			Hint: "name another file for more tasks",
		}
	}
	return out, nil
}

// WriteGold writes tasks as a gold file in the form of AppendGold, with all filled-in values.
func WriteGold(tasks []GoldTask) ([]byte, error) {
	return AppendGold("gold.yaml", nil, tasks)
}

// text is a task as YAML, with blanks to fill in.
func (t *GoldTask) text() []byte {
	var b bytes.Buffer
	line := func(key, text string) {
		if text != "" {
			fmt.Fprintf(&b, "    %s: %s\n", key, quoted(text))
		}
	}
	fmt.Fprintf(&b, "  - task: %s\n", quoted(t.Task))
	if t.Attempt > 0 {
		fmt.Fprintf(&b, "    attempt: %d\n", t.Attempt)
	}
	line("target", t.Target)
	line("stratum", t.Stratum)
	line("edge", t.Edge)
	if t.Of > 0 {
		fmt.Fprintf(&b, "    of: %d\n", t.Of)
	}
	line("goal", t.Goal)
	b.WriteString("    turns:\n")
	for i := range t.Turns {
		head := "      - "
		if len(t.Turns[i].Called) > 0 {
			b.WriteString(head + "called:\n")
			for _, c := range t.Turns[i].Called {
				fmt.Fprintf(&b, "          - %s\n", quoted(c))
			}
			head = "        "
		}
		b.WriteString(head)
		t.Turns[i].write(&b)
	}
	line("answer", t.Answer)
	budget, rules, note := string(t.Budget), string(t.SafetyRules), `""`
	if t.Checked != nil { // a proposal has no limit
		budget, rules = cmp.Or(budget, anyJSON), cmp.Or(rules, "[]")
	}
	if t.Note != "" {
		note = string(quoted(t.Note))
	}
	for _, kv := range [][2]string{{"budget", budget}, {"safety_rules", rules}, {"note", note}} {
		b.WriteString("    " + kv[0] + ":" + filled(json.RawMessage(kv[1])) + "\n")
	}
	if t.Checked != nil {
		fmt.Fprintf(&b, "    checked: %t\n", *t.Checked)
	}
	return b.Bytes()
}

// write writes the right calls of a turn, with blanks for unknown ones.
func (n *GoldTurn) write(b *bytes.Buffer) {
	calls := n.Calls
	b.WriteString("needed:")
	if n.Needed != nil {
		fmt.Fprintf(b, " %t", *n.Needed)
	} else if len(calls) == 0 {
		calls = []GoldCall{{}}
	}
	if len(calls) == 0 {
		b.WriteString("\n        calls: []\n")
		return
	}
	b.WriteString("\n        calls:\n")
	for i := range calls {
		c := &calls[i]
		fmt.Fprintf(b, "          - tool:%s\n            args:%s\n            check:%s\n", wordOf(c.Tool),
			filled(c.Args), wordOf(c.Check))
	}
}

// wordOf is a text after its key; nil is blank.
func wordOf(s *string) string {
	if s == nil {
		return ""
	}
	return " " + string(quoted(*s))
}

// filled is a value after its key: blank, the word any, or JSON.
func filled(raw json.RawMessage) string {
	switch {
	case len(raw) == 0 || unfilled(raw):
		return ""
	case string(raw) == anyJSON:
		return " " + AnyArgs
	}
	return " " + string(plain.Visible(raw))
}

// quoted is a text as YAML: in single quotes if all its characters are visible, so that JSON in it
// is readable, and else as a JSON string.
func quoted(s string) []byte {
	raw, err := json.Marshal(s)
	if err == nil && strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }) < 0 {
		return []byte("'" + strings.ReplaceAll(s, "'", "''") + "'")
	}
	return plain.Visible(raw)
}

// DrawGold draws n things from strata: one from each in turn, at random by a seed, in an order
// that stays the same while more are drawn. Things in done are not drawn, but count for their
// strata. Strata come in the order of their names.
func DrawGold(strata map[string][]Key, done map[Key]bool, n int, seed uint64) (drawn []Key) {
	left := map[string][]Key{}
	for name, keys := range strata {
		order := slices.Clone(keys)
		rank := make(map[Key][sha256.Size]byte, len(order))
		for _, k := range order {
			rank[k] = sha256.Sum256(fmt.Appendf(binary.BigEndian.AppendUint64(nil, seed), "%q %q %d", k.Target,
				k.TaskID, k.Attempt))
		}
		slices.SortFunc(order, func(a, b Key) int {
			x, y := rank[a], rank[b]
			return cmp.Or(bytes.Compare(x[:], y[:]), a.Compare(b))
		})
		left[name] = order
	}
	names := slices.Sorted(maps.Keys(left))
	for found := true; found && len(drawn) < n; {
		found = false
		for _, name := range names {
			if len(left[name]) == 0 || len(drawn) == n {
				continue
			}
			found = true
			k := left[name][0]
			left[name] = left[name][1:]
			if !done[k] { // otherwise it was drawn before
				drawn = append(drawn, k)
			}
		}
	}
	return drawn
}
