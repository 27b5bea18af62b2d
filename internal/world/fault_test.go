// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package world_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/world"
)

// counting returns how often it was called.
type counting struct{ n int }

func (w *counting) Answer(context.Context, callvet.Call) (callvet.Reply, error) {
	w.n++
	return callvet.Reply{
		Status: callvet.StatusOK,
		Result: json.RawMessage(fmt.Sprintf(`{"n":%d,"text":"a <b> & {{slot}}","days":14}`, w.n)),
		Env:    callvet.EnvMock,
	}, nil
}

// simulated is a reply as its target gets it, in a few words.
func simulated(r callvet.Reply) string {
	if r.Status != callvet.StatusOK {
		return fmt.Sprintf("%s: %s (%s)", r.Status, r.Error, r.Latency)
	}
	return string(r.Result)
}

func ask(t *testing.T, w callvet.World, tools ...string) (out []callvet.Reply) {
	t.Helper()
	for _, tool := range tools {
		r, err := w.Answer(t.Context(), callvet.Call{Tool: tool})
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

func TestFaultWays(t *testing.T) {
	t.Parallel()
	const plain = `{"n":1,"text":"a <b> & {{slot}}","days":14}`
	for _, tt := range []struct {
		fault callvet.ToolFault
		want  string
		asked int
	}{
		{callvet.ToolFault{Way: callvet.WayError}, "exec_error: 503 service unavailable (0s)", 0},
		{callvet.ToolFault{Way: callvet.WayError, Message: "down"}, "exec_error: down (0s)", 0},
		{callvet.ToolFault{Way: callvet.WayTimeout, LatencyMS: 1500}, "timeout: no answer within 1.5s (1.5s)", 0},
		{callvet.ToolFault{Way: callvet.WayRateLimit}, "exec_error: 429 too many requests; retry after 2s (0s)", 0},
		{
			callvet.ToolFault{Way: callvet.WayRateLimit, RetryAfterMS: 500, Message: "slow down"},
			"exec_error: slow down; retry after 500ms (0s)", 0,
		},
		{callvet.ToolFault{Way: callvet.WayLatency, LatencyMS: 700}, plain, 1},
		{callvet.ToolFault{Way: callvet.WayNull}, "null", 1},
		{callvet.ToolFault{Way: callvet.WayNull, At: "days"}, `{"n":1,"text":"a <b> & {{slot}}","days":null}`, 1},
		{callvet.ToolFault{Way: callvet.WayTruncated}, `"{\"n\":1,\"text\":\"a <b> "`, 1},
		{callvet.ToolFault{Way: callvet.WayMalformed}, `"{\"n\":1,\"text\":\"a <b> & {{slot}}\",\"days\":14,"`, 1},
		{
			callvet.ToolFault{Way: callvet.WayInject, At: "slot", Text: `say "hi"`},
			`{"n":1,"text":"a <b> & say \"hi\"","days":14}`, 1,
		},
		{
			callvet.ToolFault{Way: callvet.WayInject, Text: "and\u200bmore"},
			"{\"n\":1,\"text\":\"a <b> & {{slot}} and\u200bmore\",\"days\":14}", 1,
		},
	} {
		w := &counting{}
		r := ask(t, world.Faulty(w, []callvet.ToolFault{tt.fault}, world.Attempt{}, false), "a")[0]
		if d := cmp.Diff(tt.want, simulated(r)); d != "" || w.n != tt.asked || r.Env != callvet.EnvFault ||
			r.Note != tt.fault.Name() {
			t.Errorf("%+v: %s; asked %d times, %s, %q", tt.fault, d, w.n, r.Env, r.Note)
		}
		if tt.fault.Way == callvet.WayLatency && r.Latency != 700*time.Millisecond {
			t.Errorf("latency %v", r.Latency)
		}
	}
	// What cannot be done leaves the answer as it is, and is not reported.
	for _, f := range []callvet.ToolFault{
		{Way: callvet.WayStale},
		{Way: callvet.WayNull, At: "none"},
		{Way: callvet.WayInject, At: "none", Text: "x"},
		{Way: callvet.WayError, Tool: "b*"},
	} {
		if r := ask(t, world.Faulty(&counting{}, []callvet.ToolFault{f}, world.Attempt{}, false),
			"a")[0]; simulated(r) != plain || r.Env != callvet.EnvMock || r.Note != "" {
			t.Errorf("%+v: %+v", f, r)
		}
	}
}

// TestFaultSchedule: which of nine calls of a tool a fault meets; calls of others do not count.
func TestFaultSchedule(t *testing.T) {
	t.Parallel()
	half, never, always := 0.5, 0.0, 1.0
	for _, tt := range []struct {
		fault callvet.ToolFault
		want  []int
	}{
		{callvet.ToolFault{}, []int{1, 2, 3, 4, 5, 6, 7, 8, 9}},
		{callvet.ToolFault{Nth: 3}, []int{3}},
		{callvet.ToolFault{Every: 4}, []int{4, 8}},
		{callvet.ToolFault{From: 8}, []int{8, 9}},
		{callvet.ToolFault{From: 2, Times: 3}, []int{2, 3, 4}},
		{callvet.ToolFault{From: 3, Every: 2}, []int{4, 6, 8}},
		{callvet.ToolFault{Probability: &never}, nil},
		{callvet.ToolFault{Probability: &always, Nth: 2}, []int{2}},
		{callvet.ToolFault{Probability: &half}, []int{1, 2, 4, 5, 6, 8}},
	} {
		tt.fault.Tool, tt.fault.Way = "A", callvet.WayError
		w := world.Faulty(&counting{}, []callvet.ToolFault{tt.fault}, world.Attempt{Seed: 7, Case: "c"}, false)
		var met []int
		for i := range 9 {
			if r := ask(t, w, "b", "a"); r[0].Env == callvet.EnvFault {
				t.Fatalf("%+v met another tool", tt.fault)
			} else if r[1].Env == callvet.EnvFault {
				met = append(met, i+1)
			}
		}
		if d := cmp.Diff(tt.want, met); d != "" {
			t.Errorf("%+v: %s", tt.fault, d)
		}
	}
}

// TestFaultsAreLaidOver: the first that stands before the tool answers; those of results follow one another.
func TestFaultsAreLaidOver(t *testing.T) {
	t.Parallel()
	w := world.Faulty(&counting{}, []callvet.ToolFault{
		{Way: callvet.WayInject, At: "slot", Text: "planted"},
		{Way: callvet.WayNull, At: "days", From: 2},
		{Way: callvet.WayStale, Nth: 3},
		{Way: callvet.WayError, Nth: 4},
		{Way: callvet.WayTimeout, From: 4},
	}, world.Attempt{}, false)
	var got []string
	for _, r := range ask(t, w, "a", "a", "a", "a", "a") {
		got = append(got, simulated(r)+" | "+r.Note)
	}
	want := []string{
		`{"n":1,"text":"a <b> & planted","days":14} | inject of any tool`,
		`{"n":2,"text":"a <b> & planted","days":null} | inject of any tool, null of any tool`,
		`{"n":2,"text":"a <b> & {{slot}}","days":14} | inject of any tool, null of any tool, stale of any tool`,
		`exec_error: 503 service unavailable (0s) | error of any tool`,
		`timeout: no answer within 30s (30s) | timeout of any tool`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if w := world.Faulty(nil, []callvet.ToolFault{{Way: callvet.WayError}}, world.Attempt{}, false); w != nil {
		t.Error("a case without a world has one")
	}
}

// TestFaultsDoNotDependOnConcurrentRuns: attempts that run at once meet what they meet alone, and another
// seed, case or repeat meets something else.
func TestFaultsDoNotDependOnConcurrentRuns(t *testing.T) {
	t.Parallel()
	p := 0.5
	faults := []callvet.ToolFault{{Way: callvet.WayError, Probability: &p}}
	met := func(of world.Attempt) string {
		var b strings.Builder
		w := world.Faulty(&counting{}, faults, of, false)
		for range 64 {
			r, err := w.Answer(context.Background(), callvet.Call{Tool: "a"})
			if err != nil {
				return err.Error()
			}
			b.WriteByte("-x"[min(1, len(r.Error))])
		}
		return b.String()
	}
	var of []world.Attempt
	for i := range 40 {
		of = append(of, world.Attempt{Seed: int64(i % 2), Case: fmt.Sprint(i % 4), Repeat: i / 4})
	}
	alone := make([]string, len(of))
	for i := range of {
		alone[i] = met(of[i])
	}
	parallel := make([]string, len(of))
	var wg sync.WaitGroup
	for i := range of {
		wg.Go(func() { parallel[len(of)-1-i] = met(of[len(of)-1-i]) })
	}
	wg.Wait()
	if d := cmp.Diff(alone, parallel); d != "" {
		t.Error(d)
	}
	slices.Sort(alone)
	if n := len(slices.Compact(alone)); n != 40 {
		t.Errorf("%d different storms of 40", n)
	}
}

// TestLateAnswersTakeTheirTime: only where time is real.
func TestLateAnswersTakeTheirTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		faults := []callvet.ToolFault{
			{Way: callvet.WayTimeout, LatencyMS: 900, Nth: 1},
			{Way: callvet.WayLatency, LatencyMS: 100},
		}
		for real, want := range map[bool]time.Duration{false: 0, true: 1100 * time.Millisecond} {
			began := time.Now()
			r := ask(t, world.Faulty(&counting{}, faults, world.Attempt{}, real), "a", "a")
			if took := time.Since(began); took != want || r[0].Latency != time.Second ||
				r[1].Latency != 100*time.Millisecond {
				t.Errorf("real %v: took %v, recorded %v and %v", real, took, r[0].Latency, r[1].Latency)
			}
		}
	})
}

// Whatever a result is, what faults make of it is JSON.
func TestSpoiledResultsAreJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var v any
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			v = rapid.String().Draw(t, "text")
		case 1:
			v = rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "object")
		case 2:
			v = []any{
				rapid.Float64Range(-1, 1).Draw(t, "number"),
				map[string]any{"x": rapid.String().Draw(t, "deep")},
				nil, true,
			}
		}
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		way := rapid.SampledFrom([]callvet.FaultWay{
			callvet.WayNull, callvet.WayTruncated, callvet.WayMalformed,
			callvet.WayInject,
		}).Draw(t, "way")
		f := callvet.ToolFault{Way: way, Text: rapid.String().Draw(t, "planted")}
		w := world.Faulty(fixed(raw), []callvet.ToolFault{f}, world.Attempt{}, false)
		r, err := w.Answer(context.Background(), callvet.Call{Tool: "a"})
		if err != nil || !json.Valid(r.Result) {
			t.Fatalf("%s of %s: %s, %v", way, raw, r.Result, err)
		}
	})
}

type fixed json.RawMessage

func (f fixed) Answer(context.Context, callvet.Call) (callvet.Reply, error) {
	return callvet.Reply{Status: callvet.StatusOK, Result: json.RawMessage(f)}, nil
}
