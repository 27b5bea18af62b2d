// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/callvet/callvet"
)

// looped is an attempt of n messages that make the same few calls again and again, of which some fail.
func looped(n int, rnd *rand.Rand) *callvet.Trace {
	t := &callvet.Trace{CaseID: "c", End: callvet.EndUnanswered}
	for range n {
		m := callvet.Turn{Role: callvet.RoleAssistant}
		for range 1 + rnd.IntN(2) {
			c := callvet.Call{
				Tool: []string{"read", "Read", "write"}[rnd.IntN(3)], Status: callvet.StatusOK,
				Result: []byte("1"),
			}
			switch k := rnd.IntN(8); {
			case k == 0:
				c.ArgsRaw = "{"
			case k > 1: // of 1 they were not recorded
				c.Args = fmt.Appendf(nil, `{"n":%d, "m":[]}`, rnd.IntN(3))
			}
			if rnd.IntN(3) > 0 {
				c.Status, c.Result = callvet.StatusExecErr, nil
			}
			m.Calls = append(m.Calls, c)
		}
		t.Turns = append(t.Turns, m)
	}
	t.Classify("")
	return t
}

// TestFirsts holds which calls are identical, and how often one had failed before, against each pair
// of calls.
func TestFirsts(t *testing.T) {
	t.Parallel()
	k := &Compiled{src: &callvet.Case{ID: "c"}}
	again := 0
	for seed := range uint64(200) {
		w := &scratch{}
		w.begin(k, looped(20, rand.New(rand.NewPCG(seed, 0))))
		first, tries := w.firsts(), w.tries()
		for j := range w.calls {
			want, n := j, 0
			var last *callvet.Call
			for i := j - 1; i >= 0; i-- {
				if w.identical(&w.calls[i], &w.calls[j]) {
					want = i
				}
			}
			for i := range j {
				if w.messages[i] == w.messages[j] || !w.identical(&w.calls[i], &w.calls[j]) {
					continue
				}
				if last = w.calls[i].src; failedCall(last) {
					n++
				} else {
					n = 0
				}
			}
			if first[j] != want {
				t.Fatalf("seed %d: call %d is first made as %d, want %d", seed, j, first[j], want)
			}
			if got, of := tries(j); got != n || n > 0 && of != last {
				t.Fatalf("seed %d: call %d had failed %d times, want %d", seed, j, got, n)
			}
			again += n
		}
	}
	if again < 1000 {
		t.Errorf("only %d calls were made again after they failed", again)
	}
}

// TestLongLoop: an agent that makes the same calls for as long as an attempt can be is judged. Time that
// grows with the square of the calls, or faster, would not let this test end.
func TestLongLoop(t *testing.T) {
	t.Parallel()
	three := 3
	suite := &callvet.Suite{Cases: []callvet.Case{{
		ID: "c", Input: []callvet.Turn{{Role: callvet.RoleUser, Content: "read 1"}},
		Expect: callvet.Expect{
			Plans:        []callvet.Plan{{Calls: []callvet.ExpectedCall{{Tools: []string{"read"}}}}},
			MaxSameCalls: &three, NoUngroundedNumbers: true,
		},
	}}}
	s, _ := New(suite, Config{})
	k, _ := s.Compile(&suite.Cases[0])
	tr := looped(40_000, rand.New(rand.NewPCG(1, 1)))
	for i := range 20_000 {
		tr.Answer += fmt.Sprint(i%3, " ")
	}
	if r := k.Score(tr); r.Verdict != callvet.VerdictFail {
		t.Errorf("%+v", r.Verdict)
	}
}
