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
	"github.com/callvet/callvet/retrieve"
)

// What is measured was not learned, and what was learned is left out of a test.
func TestLearn(t *testing.T) {
	t.Parallel()
	var examples []retrieve.RouteExample
	for i := range 25 {
		examples = append(examples,
			retrieve.RouteExample{
				Text: fmt.Sprintf("When does train %d leave?", i), Route: "action",
				SubRoute: "travel",
			},
			retrieve.RouteExample{Text: fmt.Sprintf("What is the price of %d shares?", i), Route: "knowledge"},
			retrieve.RouteExample{Text: fmt.Sprintf("My cat %d sleeps", i)})
	}
	twice := append(examples,
		retrieve.RouteExample{Text: "when does train 3 leave", Route: "action", SubRoute: "travel"})
	test := []retrieve.RouteExample{
		{Text: "Which train leaves first?", Route: "action", SubRoute: "travel"},
		examples[0],
	}
	model, l, err := learnFrom(twice, test, retrieve.LearnOptions{Buckets: 1024})
	if err != nil {
		t.Fatal(err)
	}
	want := &Lesson{
		Format: "callvet.lesson", Version: 1, Examples: 75, None: 25, Repeated: 1,
		Routes: []string{"action", "knowledge"}, Threshold: model.Threshold(),
		Held: TuningMeasured{Questions: 15, InScope: 10, Route: 10, WithSub: 5, SubRoute: 5, Outside: 5, Refused: 5},
		Test: &TuningMeasured{Questions: 1, Seen: 1, InScope: 1, Route: 1, WithSub: 1, SubRoute: 1},
	}
	if d := cmp.Diff(want, l); d != "" {
		t.Error(d)
	}
	data, err := json.Marshal(model)
	if err != nil || !retrieve.IsLearned(data) {
		t.Error(err)
	}
	if _, _, err := learnFrom(append(examples, retrieve.RouteExample{Text: "My cat 3 sleeps", Route: "action"}), nil,
		retrieve.LearnOptions{}); !errors.Is(err, callvet.ErrInvalid) ||
		!strings.Contains(err.Error(), "belongs to no route and to action") {
		t.Error(err)
	}
}

// What cannot be read is not written over, and standard output is no file.
func TestLearnKeeps(t *testing.T) {
	t.Parallel()
	e := &Env{
		Files:    learnMemory{"examples.jsonl": `{"query":"When do trains leave?","route":"action"}`},
		Existing: func(string) ([]byte, bool, error) { return nil, true, fs.ErrPermission },
		Write: func(_ context.Context, name string, _ []byte) error {
			t.Error("written over:", name)
			return nil
		},
	}
	for output, want := range map[string]error{"-": callvet.ErrInvalid, "secret.json": callvet.ErrConflict} {
		if _, err := Learn(t.Context(), e, LearnRequest{Examples: "examples.jsonl", Output: output}); !errors.Is(err,
			want) || !strings.Contains(err.Error(), "write "+output) {
			t.Errorf("%s: %v", output, err)
		}
	}
}

// learnMemory are files in memory.
type learnMemory map[string]string

// Read implements Files.
func (m learnMemory) Read(name string, _ int64) ([]byte, error) {
	if s, ok := m[name]; ok {
		return []byte(s), nil
	}
	return nil, fs.ErrNotExist
}
