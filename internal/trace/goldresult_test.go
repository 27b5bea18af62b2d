// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestGoldResult keeps the labeled result both ways, and distinguishes none from null.
func TestGoldResult(t *testing.T) {
	t.Parallel()
	want := exampleStep()
	want.Gold.Result = json.RawMessage(`{"window_days":30,"exceptions":[]}`)
	var b bytes.Buffer
	w := NewWriter(&b)
	if err := w.Step(&want); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	got, _, err := readAll(t, b.String(), Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]Step{want}, got); d != "" {
		t.Error(d)
	}
	holdsSchema(t, b.Bytes())
	none, _, err := readAll(t, `{"task_id":"t","tool":"x","gold":{"result":null}}`, Options{Strict: true})
	if err != nil || len(none) != 1 || none[0].Gold != nil {
		t.Errorf("a null label: %+v, %v", none, err)
	}
}

func holdsSchema(t *testing.T, line []byte) {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("trace.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("trace.json")
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(v); err != nil {
		t.Error(err)
	}
}
