// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/callvet/callvet"
)

func call(tool, args string) callvet.Call {
	c := callvet.Call{Tool: tool}
	if args != "" {
		c.Args = json.RawMessage(args)
	}
	return c
}

func trajectoryTurn(text string, calls ...callvet.Call) callvet.Turn {
	return callvet.Turn{Role: callvet.RoleAssistant, Content: text, Calls: calls}
}

func step(tool, args string, compare ...string) TrajectoryStep {
	s := TrajectoryStep{Tool: tool, Compare: compare}
	if args != "" {
		s.Args = json.RawMessage(args)
	}
	return s
}

func TestCheck(t *testing.T) {
	t.Parallel()
	users := step("restart", `{}`)
	users.User = true
	none := step("find", `{"x":1}`)
	none.Compare = []string{}
	for name, c := range map[string]struct {
		gold   TrajectoryGold
		turns  []callvet.Turn
		user   []callvet.Call
		strict TrajectoryOutcome
		tau    TrajectoryOutcome
	}{
		"one call, two alike steps": {
			gold:   TrajectoryGold{Steps: []TrajectoryStep{step("find", `{"x":1}`), step("find", `{"x":1}`)}},
			turns:  []callvet.Turn{trajectoryTurn("", call("find", `{"x":1.0}`))},
			strict: TrajectoryOutcome{Steps: []TrajectoryStepOutcome{{0, -1}, {-1, 0}}, Needed: 2, Missed: 1},
			tau:    TrajectoryOutcome{Steps: []TrajectoryStepOutcome{{0, -1}, {0, -1}}, Needed: 2},
		},
		"an argument left out": {
			gold: TrajectoryGold{Steps: []TrajectoryStep{step("book", `{"a":1,"b":2}`)}},
			turns: []callvet.Turn{
				trajectoryTurn("", call("book", `{"a":1}`)),
				trajectoryTurn("", call("book", `{"a":1,"c":2}`)),
			},
			strict: TrajectoryOutcome{
				Steps: []TrajectoryStepOutcome{{-1, 0}}, Needed: 1, Missed: 1,
				Extra: []int{0, 1},
			},
			tau: TrajectoryOutcome{Steps: []TrajectoryStepOutcome{{0, -1}}, Needed: 1, Extra: []int{1}},
		},
		"only the arguments that matter": {
			gold:   TrajectoryGold{Steps: []TrajectoryStep{step("book", `{"a":1,"b":2}`, "a", "z"), none}},
			turns:  []callvet.Turn{trajectoryTurn("", call("book", `{"b":3,"a":1}`), call("find", `{"x":9}`))},
			strict: TrajectoryOutcome{Steps: []TrajectoryStepOutcome{{0, -1}, {1, -1}}, Needed: 2},
			tau:    TrajectoryOutcome{Steps: []TrajectoryStepOutcome{{0, -1}, {1, -1}}, Needed: 2},
		},
		"the general step gives way": {
			gold:   TrajectoryGold{Steps: []TrajectoryStep{step("find", ""), step("find", `{"x":1}`)}},
			turns:  []callvet.Turn{trajectoryTurn("", call("find", `{"x":1}`), call("find", ``))},
			strict: TrajectoryOutcome{Steps: []TrajectoryStepOutcome{{1, -1}, {0, -1}}, Needed: 2},
			tau:    TrajectoryOutcome{Steps: []TrajectoryStepOutcome{{0, -1}, {0, -1}}, Needed: 2, Extra: []int{1}},
		},
		"unreadable arguments": {
			gold:   TrajectoryGold{Steps: []TrajectoryStep{step("find", `{}`)}},
			turns:  []callvet.Turn{trajectoryTurn("", callvet.Call{Tool: "find", ArgsRaw: "{x"})},
			strict: TrajectoryOutcome{Steps: []TrajectoryStepOutcome{{-1, 0}}, Needed: 1, Missed: 1, Extra: []int{0}},
			tau:    TrajectoryOutcome{Steps: []TrajectoryStepOutcome{{-1, 0}}, Needed: 1, Missed: 1, Extra: []int{0}},
		},
		"the user's step": {
			gold:  TrajectoryGold{Steps: []TrajectoryStep{users, step("look", `{}`)}},
			turns: []callvet.Turn{trajectoryTurn("", call("restart", `{}`))},
			user:  []callvet.Call{call("look", `{}`), call("restart", `{}`)},
			strict: TrajectoryOutcome{
				Steps: []TrajectoryStepOutcome{{2, -1}, {-1, -1}}, Needed: 1, Missed: 1,
				Extra: []int{0},
			},
			tau: TrajectoryOutcome{Steps: []TrajectoryStepOutcome{{0, -1}, {1, -1}}, Needed: 1},
		},
		"facts": {
			gold: TrajectoryGold{Facts: []string{"1786", "1,786", "Seattle", "none"}},
			turns: []callvet.Turn{
				trajectoryTurn("You pay $1,786 in SEATTLE."),
				{Role: callvet.RoleUser, Content: "none"},
			},
			strict: TrajectoryOutcome{Steps: []TrajectoryStepOutcome{}, Facts: []bool{true, true, true, false}},
			tau:    TrajectoryOutcome{Steps: []TrajectoryStepOutcome{}, Facts: []bool{true, false, true, false}},
		},
		"nothing needed": {
			turns:  []callvet.Turn{trajectoryTurn("", call("x", `{}`))},
			strict: TrajectoryOutcome{Steps: []TrajectoryStepOutcome{}, Extra: []int{0}},
			tau:    TrajectoryOutcome{Steps: []TrajectoryStepOutcome{}, Extra: []int{0}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for r, want := range map[TrajectoryRules]TrajectoryOutcome{Strict: c.strict, Tau: c.tau} {
				got, err := CheckTrajectory(&c.gold, &callvet.Trace{Turns: c.turns}, c.user, r)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("rules %d (-want +got)\n%s", r, diff)
				}
			}
		})
	}
	if o, err := CheckTrajectory(&TrajectoryGold{Facts: []string{"done"}}, &callvet.Trace{Answer: "Done."}, nil,
		Strict); err != nil || !o.Facts[0] {
		t.Errorf("an answer without turns: %+v %v", o, err)
	}
	_, err := CheckTrajectory(&TrajectoryGold{Steps: []TrajectoryStep{step("a", "{}"), step("b", "{")}},
		&callvet.Trace{}, nil, Strict)
	if !errors.Is(err, callvet.ErrInvalid) || !strings.Contains(err.Error(), "gold step 2 (b)") {
		t.Errorf("the second step of a gold is broken: %v", err)
	}
}

func TestRates(t *testing.T) {
	t.Parallel()
	parts := map[string]float64{"DB": 1, "ACTION": 0.5}
	if r, ok := TrajectoryReward([]string{"DB", "ACTION"}, parts); r != 0.5 || !ok {
		t.Errorf("reward %v %v", r, ok)
	}
	if _, ok := TrajectoryReward([]string{"COMMUNICATE"}, parts); ok {
		t.Error("a reward of an unknown part")
	}
}

// TestPairingIsLargest holds the pairing against trying every one, and Strict
// against Tau: what one call answers alone it also answers when shared.
func TestPairingIsLargest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		gen := func(label string, none bool) string {
			k := rapid.IntRange(0, 2).Draw(t, label)
			if none && k == 0 {
				return ""
			}
			return fmt.Sprintf(`{"x":%d}`, k)
		}
		var g TrajectoryGold
		for range rapid.IntRange(0, 5).Draw(t, "steps") {
			g.Steps = append(g.Steps, step("f", gen("gold", true)))
		}
		var calls []callvet.Call
		for range rapid.IntRange(0, 5).Draw(t, "calls") {
			calls = append(calls, call("f", gen("call", false)))
		}
		tr := &callvet.Trace{Turns: []callvet.Turn{trajectoryTurn("", calls...)}}
		strict, err := CheckTrajectory(&g, tr, nil, Strict)
		if err != nil {
			t.Fatal(err)
		}
		shared, err := CheckTrajectory(&g, tr, nil, Tau)
		if err != nil {
			t.Fatal(err)
		}
		if want := most(g.Steps, calls, make([]bool, len(calls))); strict.Needed-strict.Missed != want {
			t.Fatalf("%d steps answered, %d can be", strict.Needed-strict.Missed, want)
		}
		if shared.Missed > strict.Missed {
			t.Fatalf("shared calls miss %d, single ones %d", shared.Missed, strict.Missed)
		}
		seen := map[int]bool{}
		for _, s := range strict.Steps {
			if s.Call >= 0 && seen[s.Call] {
				t.Fatalf("call %d answers two steps", s.Call)
			}
			seen[s.Call] = true
		}
	})
}

func most(steps []TrajectoryStep, calls []callvet.Call, used []bool) int {
	if len(steps) == 0 {
		return 0
	}
	best := most(steps[1:], calls, used)
	for j, c := range calls {
		if used[j] || steps[0].Args != nil && string(steps[0].Args) != string(c.Args) {
			continue
		}
		used[j] = true
		best = max(best, 1+most(steps[1:], calls, used))
		used[j] = false
	}
	return best
}
