// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package callvet_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

// TestParamsOver: each parameter that is not set is that of the base; a parameter that is added later is covered.
func TestParamsOver(t *testing.T) {
	t.Parallel()
	texts := [2]string{
		`{"temperature":0,"top_p":0,"max_tokens":1,"seed":0,"reasoning_effort":"low","parallel_calls":false,"stop":["a"],"extra":{"k":1,"both":1}}`,
		`{"temperature":1,"top_p":1,"max_tokens":2,"seed":1,"reasoning_effort":"high","parallel_calls":true,"stop":["b"],"extra":{"l":2,"both":2}}`,
	}
	var own, base callvet.Params
	for i, p := range []*callvet.Params{&own, &base} {
		if err := json.Unmarshal([]byte(texts[i]), p); err != nil {
			t.Fatal(err)
		}
	}
	all := own
	all.Extra = map[string]json.RawMessage{"k": []byte("1"), "l": []byte("2"), "both": []byte("1")}
	if diff := cmp.Diff(all, own.Over(base)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(base, callvet.Params{}.Over(base)); diff != "" {
		t.Error("nothing over base", diff)
	}
	if diff := cmp.Diff(own, own.Over(callvet.Params{})); diff != "" {
		t.Error("own over nothing", diff)
	}
	if string(base.Extra["both"]) != "2" || len(base.Extra) != 2 {
		t.Errorf("the base changed: %v", base.Extra)
	}
	for i := range reflect.TypeFor[callvet.Params]().NumField() {
		if f := reflect.ValueOf(base).Field(i); f.IsZero() {
			t.Errorf("the test sets no %s", f.Type())
		}
	}
}
