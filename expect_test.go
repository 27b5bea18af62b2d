// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package callvet

import (
	"reflect"
	"slices"
	"testing"
)

// TestAboutCalls: every assertion is about calls, but for those of the answer, of what it took
// and of a selection.
func TestAboutCalls(t *testing.T) {
	t.Parallel()
	others := []string{
		"ResponseNonEmpty", "ResponseContains", "ResponseContainsAny", "ResponseNotContains", "ResponseMatches",
		"ResponseJSON",
		"Selection", "MaxLatencyMS", "MaxTokens", "MaxCostUSD", "Scorers", "Rubric", "ReferenceData", "Unsupported",
	}
	for i := range reflect.TypeFor[Expect]().NumField() {
		var e Expect
		f := reflect.ValueOf(&e).Elem().Field(i)
		switch f.Kind() {
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Pointer:
			f.Set(reflect.New(f.Type().Elem()))
		case reflect.Slice:
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		case reflect.Map:
			f.Set(reflect.MakeMap(f.Type()))
			f.SetMapIndex(reflect.Zero(f.Type().Key()), reflect.Zero(f.Type().Elem()))
		default:
			t.Fatalf("%s is of a kind that is new here", f.Type())
		}
		name := reflect.TypeFor[Expect]().Field(i).Name
		if e.AboutCalls() == slices.Contains(others, name) {
			t.Errorf("%s is about calls: %v", name, e.AboutCalls())
		}
	}
	if (&Expect{}).AboutCalls() {
		t.Error("a case without an assertion is about calls")
	}
	if none := (&Expect{ToolsCalled: []string{}}); !none.AboutCalls() {
		t.Error("that no tool is called is not about calls")
	}
}
