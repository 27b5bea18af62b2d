// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve/route"
)

func TestReadExamples(t *testing.T) {
	t.Parallel()
	want := []route.Example{{Text: "When do trains leave?", Route: "action", SubRoute: "travel"}, {Text: "My cat sleeps"}}
	for name, text := range map[string]string{
		"a.jsonl": "{\"query\":\"When do trains leave?\",\"route\":\"action\",\"sub_route\":\"travel\"}\n{\"text\":\"My cat sleeps\",\"route\":null}\n",
		"a.yaml":  "- {query: When do trains leave?, text: TRAINS, route: action, sub_route: travel}\n- {query: My cat sleeps, route: ''}\n",
	} {
		got, err := readExamples(name, []byte(text))
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%s: %s %v", name, d, err)
		}
	}
	got, err := readExamples("c.json", []byte(`[{"name":"a"}]`))
	if err == nil {
		t.Errorf("a list of tools gives %v", got)
	}
	got, err = readExamples("c.json", []byte(`{"tools":[{"name":"a","route":"r","example_queries":["x"]},{"name":"b","example_queries":["y"]}]}`))
	if d := cmp.Diff([]route.Example{{Text: "x", Route: "r"}}, got); d != "" || err != nil {
		t.Error(d, err)
	}
	for text, say := range map[string]string{
		`[{"query":"x"}]`: "example 1 is none", `[{"query":"x","route":"a"},{"route":"a"}]`: "example 2", `[{"query":"x","route":3}]`: "example 1", `[{"query":"x","route":"","sub_route":"b"}]`: "example 1", `{"tools":[{"name":"a"}]}`: "no tool has", `[`: "a.json:1",
	} {
		if _, err := readExamples("a.json", []byte(text)); !errors.Is(err, callvet.ErrInvalid) || !strings.Contains(err.Error(), say) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// What is measured was not learned, and what was learned is left out of a test.
func TestLearn(t *testing.T) {
	t.Parallel()
	var examples []route.Example
	for i := range 25 {
		examples = append(examples,
			route.Example{Text: fmt.Sprintf("When does train %d leave?", i), Route: "action", SubRoute: "travel"},
			route.Example{Text: fmt.Sprintf("What is the price of %d shares?", i), Route: "knowledge"},
			route.Example{Text: fmt.Sprintf("My cat %d sleeps", i)})
	}
	twice := append(examples, route.Example{Text: "when does train 3 leave", Route: "action", SubRoute: "travel"})
	test := []route.Example{{Text: "Which train leaves first?", Route: "action", SubRoute: "travel"}, examples[0]}
	model, l, err := learn(twice, test, route.LearnOptions{Buckets: 1024})
	if err != nil {
		t.Fatal(err)
	}
	want := &Lesson{
		Format: "callvet.lesson", Version: 1, Examples: 75, None: 25, Repeated: 1, Routes: []string{"action", "knowledge"}, Threshold: model.Threshold(),
		Held: Measured{Questions: 15, InScope: 10, Route: 10, WithSub: 5, SubRoute: 5, Outside: 5, Refused: 5},
		Test: &Measured{Questions: 1, Seen: 1, InScope: 1, Route: 1, WithSub: 1, SubRoute: 1},
	}
	if d := cmp.Diff(want, l); d != "" {
		t.Error(d)
	}
	data, err := json.Marshal(model)
	if err != nil || !route.IsLearned(data) {
		t.Error(err)
	}
	if _, _, err := learn(append(examples, route.Example{Text: "My cat 3 sleeps", Route: "action"}), nil, route.LearnOptions{}); !errors.Is(err, callvet.ErrInvalid) || !strings.Contains(err.Error(), "belongs to no route and to action") {
		t.Error(err)
	}
}

// What cannot be read is not written over, and standard output is no file.
func TestLearnKeeps(t *testing.T) {
	t.Parallel()
	e := &Env{
		Files:    memory{"examples.jsonl": `{"query":"When do trains leave?","route":"action"}`},
		Existing: func(string) ([]byte, bool, error) { return nil, true, fs.ErrPermission },
		Write: func(_ context.Context, name string, _ []byte) error {
			t.Error("written over:", name)
			return nil
		},
	}
	for output, want := range map[string]error{"-": callvet.ErrInvalid, "secret.json": callvet.ErrConflict} {
		if _, err := e.Learn(t.Context(), LearnRequest{Examples: "examples.jsonl", Output: output}); !errors.Is(err, want) || !strings.Contains(err.Error(), "write "+output) {
			t.Errorf("%s: %v", output, err)
		}
	}
}
