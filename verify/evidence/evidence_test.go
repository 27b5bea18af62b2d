// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package evidence

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMatrix(t *testing.T) {
	t.Parallel()
	cells := matrix()
	seen := map[string]int{}
	ids := map[string]bool{}
	for i := range cells {
		ids[cells[i].id] = true
		for _, stream := range []bool{false, true} {
			seen[cells[i].right(stream).outcome]++
		}
	}
	if len(cells) < 250 || len(ids) != len(cells) {
		t.Errorf("%d cells with %d ids", len(cells), len(ids))
	}
	want := []string{"abstained", "called", "error", "unparseable"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(seen))); diff != "" {
		t.Error(diff)
	}
}

func TestRight(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"words, stop": "abstained", "words, (absent)": "abstained noted", "empty, stop": "unparseable empty_answer",
		"reasoning, (null)": "unparseable reasoning_only",
		"words, length":     "unparseable token_limit", "reasoning, model_length": "unparseable context_window",
		"call, length": "called noted", "call, stop": "called",
		"words, refusal": "error refusal", "empty, safety": "error content_filter", "call, safety": "called noted",
		"words, tool_calls": "error malformed", "call, tool_calls": "called",
		"words, pause_turn": "error unknown", "call, pause_turn": "called", "words, language": "error unknown",
		"call, language": "called noted",
	} {
		i := slices.IndexFunc(matrix(), func(k cell) bool { return k.String() == name })
		if i < 0 {
			t.Errorf("%s is no cell", name)
			continue
		}
		k := matrix()[i]
		if got := k.right(false).String(); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	k := cell{content: words, absent: true, is: notRecorded}
	if got := k.right(true); got != cut("cut_off") {
		t.Errorf("a stream without its final reason is %s", got)
	}
}

// TestAttempts: the calls of an attempt are before or after its record, and a repeated record is an
// error.
func TestAttempts(t *testing.T) {
	t.Parallel()
	const call = `{"task_id":"a","tool":"f","args":{"x": 1}}` + "\n"
	const task = `{"type":"task","task_id":"a","outcome":"error","fault":{"kind":"refusal","message":"m"}}` + "\n"
	for _, text := range []string{call + task, task + call, "a line\n" + task + call} {
		all, err := attempts(text)
		if err != nil || len(all) != 1 || all["a"].end() != fault("refusal") ||
			!slices.Equal(all["a"].calls, []string{`f{"x":1}`}) {
			t.Errorf("%q: %v, %v", text, all, err)
		}
	}
	if _, err := attempts(task + task); err == nil {
		t.Error("two records of a task are read as one")
	}
	if all, err := attempts(call); err != nil || all["a"].end() == called {
		t.Errorf("a call without a record of its task: %v, %v", all, err)
	}
}

func TestIs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		got, right end
		want       bool
	}{
		{byItself, byItself, true},
		{notRecorded, byItself, false},
		{byItself, notRecorded, false},
		{end{"called", "noted"}, called, true},
		{called, end{"called", "noted"}, false},
		{cut("cut_off"), cut("token_limit"), false},
		{end{}, byItself, false},
		{end{}, called, false},
	} {
		if tt.got.is(tt.right) != tt.want {
			t.Errorf("%s is %s: %v", tt.got, tt.right, !tt.want)
		}
	}
}

// TestSamples: ids of samples differ, prose has no mark of a call, and each spelling names the tool.
func TestSamples(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, s := range samples() {
		if names[s.name] || s.reply.text == "" {
			t.Errorf("%s stands twice, or is empty", s.name)
		}
		names[s.name] = true
	}
	for _, s := range slices.Concat(marked(), alone(), offered()) {
		if !strings.Contains(s.text, theTool) || !strings.Contains(s.text, theCity) {
			t.Errorf("%s calls something else", s.name)
		}
	}
}
