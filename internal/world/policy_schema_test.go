// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package world

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/contract"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/score/safety"
	"github.com/callvet/callvet/value"
)

// node is what the test looks at of a schema.
type node struct {
	Properties map[string]node `json:"properties"`
	Items      *node           `json:"items"`
	Enum       []GuardAction   `json:"enum"`
	Defs       map[string]node `json:"$defs"`
}

// TestSchemaHasEveryKey holds the published schema against the types that files are read into.
func TestSchemaHasEveryKey(t *testing.T) {
	t.Parallel()
	var s node
	if err := json.Unmarshal(PolicySchema(), &s); err != nil {
		t.Fatal(err)
	}
	keys := func(of reflect.Type, more ...string) []string {
		out := more
		for _, f := range reflect.VisibleFields(of) {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
				out = append(out, name)
			}
		}
		slices.Sort(out)
		return out
	}
	attack := s.Properties["attacks"].Items
	for name, c := range map[string]struct {
		of   reflect.Type
		at   node
		more []string
	}{
		"policy": {reflect.TypeFor[Policy](), s, nil},
		"guard":  {reflect.TypeFor[GuardSettings](), s.Properties["guard"], nil},
		"attack": {reflect.TypeFor[callvet.Attack](), *attack, nil},
		"plant":  {reflect.TypeFor[callvet.Plant](), *attack.Properties["plant"].Items, nil},
		"harm":   {reflect.TypeFor[callvet.Harm](), *attack.Properties["harm"].Items, nil},
		"call":   {reflect.TypeFor[callvet.ExpectedCall](), s.Defs["call"], []string{"tool"}},
	} {
		var has []string
		for k := range c.at.Properties {
			has = append(has, k)
		}
		slices.Sort(has)
		if diff := cmp.Diff(keys(c.of, c.more...), has); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	actions := s.Properties["guard"].Properties["actions"].Properties
	for _, r := range safety.RuleNames() {
		if diff := cmp.Diff(GuardActions(r), actions[string(r)].Enum); diff != "" {
			t.Errorf("%s: %s", r, diff)
		}
	}
}

// TestSchemaTakesWhatIsRead: the policies that are shipped keep the schema, and what Read refuses
// for its form breaks it.
func TestSchemaTakesWhatIsRead(t *testing.T) {
	t.Parallel()
	s, err := contract.Compile(PolicySchema())
	if err != nil {
		t.Fatal(err)
	}
	check := func(name, text string, want bool) {
		t.Helper()
		if _, err := ReadPolicy(name, []byte(text)); (err == nil) != want {
			t.Errorf("%s: read: %v", name, err)
		}
		d, bad := doc.Read(name, []byte(text))
		if bad != nil {
			t.Fatal(bad)
		}
		v, err := value.Parse(d.Root.JSON())
		if err != nil {
			t.Fatal(err)
		}
		if broken := s.Check(v); (len(broken) == 0) != want {
			t.Errorf("%s: schema: %v", name, broken)
		}
	}
	for _, name := range []string{"guard/policy.yaml", "drills/policy.yaml"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "examples", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		check(name, string(text), true)
	}
	for text, want := range map[string]bool{
		`guard: {}`: true,
		`attacks: [{name: a, harm: [{call: {tool: share, args: {x: 1}}}], own: [{tools: [a, b]}]}]`: true,
		`gaurd: {}`: false,
		`guard: {actions: {rate_exceeded: explode}}`: false,
		`guard: {actions: {nothing: block}}`:         false,
		`guard: {jitter: 2}`:                         false,
		`confirm: maybe`:                             false,
		`max_result_bytes: -1`:                       false,
		`attacks: [{harm: [{contains: [a]}]}]`:       false,
	} {
		check(text, text, want)
	}
}
