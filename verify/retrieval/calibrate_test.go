// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieval

import (
	"errors"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
)

// Without any comparison a limit is not met.
func TestKinds(t *testing.T) {
	t.Parallel()
	fits, not := retrieve.Observation{Fits: true}, retrieve.Observation{}
	for name, c := range map[string]struct {
		obs              []retrieve.Observation
		answerable, none bool
		ok               bool
	}{
		"empty": {nil, true, true, false}, "empty of one kind": {nil, false, true, false},
		"both":           {[]retrieve.Observation{fits, not}, true, true, true},
		"none that fits": {[]retrieve.Observation{not}, true, true, false},
		"only strangers": {[]retrieve.Observation{not}, false, true, true},
		"all fit":        {[]retrieve.Observation{fits}, true, true, false},
	} {
		if err := kinds(name, c.obs, c.answerable, c.none); errors.Is(err, errNothing) == c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Empty sets are an error without figures; so are double ids and right tools that are in no catalog.
func TestSound(t *testing.T) {
	t.Parallel()
	tools, asked := []retrieve.Entry{{ID: "a"}}, []question{{id: "1", relevant: []string{"a"}}}
	for name, c := range map[string]struct {
		set benchmark
		is  error
	}{
		"no tools":         {benchmark{questions: asked}, errNothing},
		"no questions":     {benchmark{entries: tools}, errNothing},
		"both":             {benchmark{entries: tools, questions: asked}, nil},
		"a tool twice":     {benchmark{entries: append(tools, tools...), questions: asked}, callvet.ErrInvalid},
		"a question twice": {benchmark{entries: tools, questions: append(asked, asked...)}, callvet.ErrInvalid},
		"another's tool":   {benchmark{entries: []retrieve.Entry{{ID: "b"}}, questions: asked}, callvet.ErrNotFound},
		"a tool by its name": {
			benchmark{entries: []retrieve.Entry{{Tool: callvet.Tool{Name: "a"}}}, questions: asked},
			nil,
		},
	} {
		if err := sound([]benchmark{c.set}); !errors.Is(err, c.is) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
