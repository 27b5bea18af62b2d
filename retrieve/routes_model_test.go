// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
)

func taught(t testing.TB) *retrieve.LearnedRoutes {
	t.Helper()
	var examples []retrieve.RouteExample
	for i := range 20 {
		examples = append(examples,
			retrieve.RouteExample{
				Text: fmt.Sprintf("When does train %d leave?", i), Route: "action",
				SubRoute: "travel",
			},
			retrieve.RouteExample{Text: fmt.Sprintf("What is the price of %d shares?", i), Route: "knowledge"},
			retrieve.RouteExample{Text: fmt.Sprintf("My cat %d sleeps", i)})
	}
	l, err := retrieve.LearnRoutes(examples, retrieve.LearnOptions{Buckets: 1024})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// What is written decides as what was learned, to the last bit.
func TestModel(t *testing.T) {
	t.Parallel()
	l := taught(t)
	data, err := json.Marshal(l)
	if err != nil || !retrieve.IsLearned(data) || retrieve.IsLearned([]byte(`{"rules":[]}`)) ||
		strings.Contains(string(data), "cat") {
		t.Fatal(err)
	}
	again, err := retrieve.ReadLearnedRoutes("routes.json", data)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{
		"When does the train leave?", "price of shares", "my cat sleeps on the train",
		"", "qwerty",
	} {
		if d := cmp.Diff(l.Route(q), again.Route(q)); d != "" {
			t.Errorf("%q: %s", q, d)
		}
	}
	if again.Threshold() != l.Threshold() || !again.Saw("when DOES train 3 leave") ||
		again.Saw("when does train 30 leave") {
		t.Error("threshold or marks are lost")
	}
	for _, c := range []struct{ old, new, say string }{
		{`"version":1`, `"version":2`, "learn them again"},
		{`"buckets":1024`, `"buckets":300`, "of 300"},
		{`"sharpness":`, `"sharpness":-`, "sharpness"},
		{`callvet.routes`, "x", "format"},
		{`"route":"action"`, `"route":"z"`, "order"},
		{`"features":"`, `"features":"AAAA`, "cut off"},
		{`{`, `[`, ""},
	} {
		if _, err := retrieve.ReadLearnedRoutes("routes.json",
			[]byte(strings.Replace(string(data), c.old, c.new, 1))); !errors.Is(err, callvet.ErrInvalid) ||
			!strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v", c.new, err)
		}
	}
}

func FuzzReadLearned(f *testing.F) {
	data, err := json.Marshal(taught(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(
		[]byte(
			`{"format":"callvet.routes","version":1,"labels":[{"route":"a"},{"route":"b"}],"buckets":256,"sharpness":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if l, err := retrieve.ReadLearnedRoutes("routes.json", data); err == nil {
			l.Route("When does the train leave?")
		}
	})
}
