// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package world_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/world"
	"github.com/callvet/callvet/score/safety"
)

// TestPolicyIsRead: YAML and JSON mean the same, and a file without guard is rules as they stand.
func TestPolicyIsRead(t *testing.T) {
	t.Parallel()
	yaml := `# what the shop allows
tools: [search, pay]
domains: []
deny_pii: false
rate_limits:
  pay: {calls: 2, per_seconds: 60}
guard:
  actions: {pii_in_arguments: redact}
  timeout_ms: 500
`
	json := `{"tools":["search","pay"],"domains":[],"deny_pii":false,"rate_limits":{"pay":{"calls":2,"per_seconds":60}},"guard":{"actions":{"pii_in_arguments":"redact"},"timeout_ms":500}}`
	want := &world.Policy{
		Rules: safety.Rules{
			Tools: []string{"search", "pay"}, Domains: []string{}, ConfirmWrites: true, UndeclaredWrites: true,
			DenyInResults: safety.DenySecrets, DenyPrivate: true, KeepRateLimits: true,
			MaxArgumentBytes: 64 << 10, MaxResultBytes: 1 << 20, StopAfterFailures: 5, ReopenSeconds: 30,
			RateLimits: map[string]callvet.RateLimit{"pay": {Calls: 2, PerSeconds: 60}},
		},
		Guard: &world.GuardSettings{
			Actions:   map[safety.Rule]world.GuardAction{safety.RulePII: world.Redact},
			TimeoutMS: 500,
		},
	}
	for _, text := range []string{yaml, json} {
		got, err := world.ReadPolicy("policy.yaml", []byte(text))
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("%v\n%s", err, d)
		}
	}
	got, err := world.ReadPolicy("rules.json", []byte(`{"tools":["a"],"read_only":true}`))
	if d := cmp.Diff(&world.Policy{Rules: safety.Rules{Tools: []string{"a"}, ReadOnly: true}}, got); err != nil ||
		d != "" {
		t.Errorf("%v\n%s", err, d)
	}
}

// TestDenyByDefault: what a policy with a guard does not mention is denied.
func TestDenyByDefault(t *testing.T) {
	t.Parallel()
	p, err := world.ReadPolicy("policy.yaml", []byte("guard: {}"))
	if err != nil {
		t.Fatal(err)
	}
	if p.Tools == nil || p.Domains == nil || len(p.Tools)+len(p.Domains) > 0 {
		t.Errorf("the allowlists are %v and %v", p.Tools, p.Domains)
	}
	if p, err = world.ReadPolicy("policy.yaml",
		[]byte(
			"{deny_private: false, confirm_writes: false, max_result_bytes: 0, stop_after_failures: 0, deny_in_results: nothing, guard: {}}")); err != nil {
		t.Fatal(err)
	}
	if p.DenyPrivate || p.ConfirmWrites || p.MaxResultBytes > 0 || p.StopAfterFailures > 0 ||
		p.DenyInResults != safety.DenyNothing || !p.DenyPII {
		t.Errorf("what the file says does not count: %+v", p.Rules)
	}
}

// TestPolicyMistakes: the place, the mistake, and the intended name.
func TestPolicyMistakes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                            "p.yaml: the file is empty",
		"tools: [a]\ndomain: [b]\n":   `p.yaml:2:1: unknown key "domain"`,
		"guard:\n  timeout: 5\n":      `p.yaml:2:3: unknown key "guard.timeout"`,
		"tools: a\n":                  `p.yaml:1:1: "tools" is a string, not an array`,
		"tools: [a]\ntools: [b]\n":    `p.yaml:2:1: the key "tools" stands here again, after line 1`,
		"confirm: maybe\nguard: {}\n": `p.yaml:1:1: "confirm" is "maybe"; it must be user, ask or deny`,
		"max_result_bytes: -1\n":      `p.yaml:1:1: "max_result_bytes" is -1`,
		"[1]\n":                       "p.yaml:1:1",
		"guard:\n  jitter: 2\n":       `p.yaml:2:3: "guard.jitter" is 2`,
		"guard:\n  actions:\n    pii_in_argument: block\n":       `p.yaml:3:5: unknown rule "pii_in_argument" (did you mean "pii_in_arguments"?)`,
		"guard:\n  actions:\n    weather: block\n":               `p.yaml:3:5: unknown rule "weather" (rules are `,
		"guard:\n  actions:\n    tool_not_allowed: redact\n":     `p.yaml:3:5: "redact" is no action of tool_not_allowed (write one of block, flag)`,
		"guard:\n  actions:\n    secret_echoed: block\n":         `p.yaml:3:5: secret_echoed is about what the target says`,
		"guard:\n  actions:\n    tool_not_allowed: shout\n":      `p.yaml:3:5: "guard.actions.tool_not_allowed" is "shout"`,
		"attacks:\n- own:\n  - {tool: a,\n     tools: [a]}\n":    "p.yaml:3:6: tool and tools are one key",
		"attacks:\n- name: x\n  harm:\n  - call: {toolz: [a]}\n": `p.yaml:4:12: unknown key "attacks[0].harm[0].call.toolz"`,
	} {
		_, err := world.ReadPolicy("p.yaml", []byte(text))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v\n  want %s", text, err, want)
		}
	}
	if _, err := world.ReadPolicy("p.yaml", make([]byte, world.MaxPolicyBytes+1)); !errors.Is(err, callvet.ErrLimited) {
		t.Errorf("a file that is too large was taken: %v", err)
	}
	if _, err := world.NewGuards(world.GuardsConfig{Policy: &world.Policy{}}); !errors.Is(err, callvet.ErrInvalid) {
		t.Errorf("a policy without a guard was taken: %v", err)
	}
	var hinted *callvet.Hinted
	if err := world.Unguarded("p.yaml"); !errors.As(err, &hinted) || !errors.Is(err, callvet.ErrInvalid) {
		t.Error(err)
	}
}

// TestOneSpelling: tool and tools, a name and a list of them, are one in attacks.
func TestOneSpelling(t *testing.T) {
	t.Parallel()
	var all []*world.Policy
	for _, call := range []string{
		`{"tool":"share"}`, `{"tools":"share"}`, `{"tool":["share"]}`,
		`{"tools":["share"]}`,
	} {
		p, err := world.ReadPolicy("rules.json",
			[]byte(`{"attacks":[{"name":"a","harm":[{"call":`+call+`}],"own":[`+call+`]}]}`))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	for _, p := range all {
		if d := cmp.Diff(all[3], p); d != "" {
			t.Error(d)
		}
		if got := p.Attacks[0].Harm[0].Call.Tools; len(got) != 1 || got[0] != "share" {
			t.Error(got)
		}
	}
}

// TestEveryRuleHasActions: a new rule is one that the guard can act on, or the test contains why
// not.
func TestEveryRuleHasActions(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../docs/guides/safety.md")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, r := range safety.RuleNames() {
		if !strings.Contains(string(doc), "`"+string(r)+"`") {
			t.Errorf("docs/guides/safety.md does not name %s", r)
		}
		if world.GuardActions(r) != nil {
			n++
		} else if r != safety.RuleEcho { // it is about what is said, and said to the user
			t.Errorf("no action for %s", r)
		}
	}
	if n < 12 {
		t.Errorf("the guard acts on %d rules", n)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(
		`{"tools":[],"attacks":[{"name":"a","harm":[{"call":{"tool":"x","matchers":{"p":{"mode":"regex","value":"("}}}}]}]}`)
	f.Add("guard:\n  actions: {pii_in_arguments: redact}\nnetworks: [10.0.0.0/8]\n")
	f.Fuzz(func(t *testing.T, s string) {
		p, err := world.ReadPolicy("p.yaml", []byte(s))
		if err != nil {
			return
		}
		if p.Guard == nil {
			p.Guard = &world.GuardSettings{}
		}
		g, err := world.NewGuards(world.GuardsConfig{Policy: p})
		if err != nil {
			return
		}
		a := g.Attempt("a", nil)
		call := callvet.Call{Tool: "x", Args: []byte(`{"p":"http://10.0.0.1/"}`)}
		if _, deny, rulings := a.Before(t.Context(), nil, call); deny != nil && len(rulings) == 0 {
			t.Error("denied without a word")
		}
		a.After(t.Context(), call, callvet.Reply{Status: callvet.StatusOK, Result: []byte(`{"k":"v"}`)})
	})
}
