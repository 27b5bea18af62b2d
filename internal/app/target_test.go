// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDirectedByEach: a target names itself where its requests go with any of these, and not with a model alone.
func TestDirectedByEach(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]TargetSpec{
		"address":    {Target: "openai/m", BaseURL: "http://a.example"},
		"key":        {Target: "openai/m", APIKeyEnv: "K"},
		"header":     {Target: "openai/m", Headers: map[string]string{"A": "b"}},
		"body":       {Target: "openai/m", Body: map[string]any{"a": 1}},
		"agent":      {Target: "openai/m", Agent: map[string]string{"a": "b"}},
		"variable":   {Target: "openai/m", ExecEnv: []string{"A"}},
		"two":        {Target: "openai/m", Headers: map[string]string{"A": "b"}, Body: map[string]any{"a": 1}},
		"three":      {Target: "openai/m", Headers: map[string]string{"A": "b"}, Agent: map[string]string{"a": "b"}},
		"service":    {Target: "http://a.example/x"},
		"retriever":  {Target: "retrieve:http://a.example/x"},
		"program":    {Target: "exec:./agent"},
		"a model":    {Target: "openai/m", Concurrency: 3, Rate: 2},
		"no command": {Target: "exec:"},
	} {
		if got, want := s.Directed(), name != "a model" && name != "no command"; got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestKeyVariables: a variable that a target names is read in place of that of its provider.
func TestKeyVariables(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		of   TargetSpec
		want []string
	}{
		{TargetSpec{Target: "openai/m"}, []string{"OPENAI_API_KEY"}},
		{TargetSpec{Target: "openai/m", APIKeyEnv: "MINE"}, []string{"MINE"}},
		{TargetSpec{
			Target: "openai/m", APIKeyEnv: "MINE",
			Headers: map[string]string{"A": "Bearer ${MINE}", "B": "${OTHER}"},
		}, []string{"MINE", "OTHER"}},
		{TargetSpec{Target: "exec:agent"}, nil},
	} {
		if d := cmp.Diff(tc.want, tc.of.KeyVariables()); d != "" {
			t.Errorf("%+v: %s", tc.of, d)
		}
	}
}
