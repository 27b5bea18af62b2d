// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package world

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/score/safety"
)

// MaxPolicyBytes bounds a policy file: attacks in it may contain long texts.
const MaxPolicyBytes = 16 << 20

// Policy are the rules of a deployment, and the guard's actions for breaches.
type Policy struct {
	safety.Rules
	// Guard is nil in a file that only scores.
	Guard *GuardSettings `json:"guard,omitempty"`
}

// GuardSettings of the guard. Zero values mean the defaults.
type GuardSettings struct {
	// Actions are the actions for breaches, by rule; the default of each is the first of its
	// actions in Actions.
	Actions map[safety.Rule]GuardAction `json:"actions,omitempty" form:"words=block|redact|cut|wait|flag"`
	// TimeoutMS bounds one call; default 30,000.
	TimeoutMS float64 `json:"timeout_ms,omitempty" form:"min=0"`
	// MaxWaitMS is how long a call waits at most for its rate limit or after failures, before it
	// is denied; default 60,000.
	MaxWaitMS float64 `json:"max_wait_ms,omitempty" form:"min=0"`
	// BackoffMS is the wait after one failure of a tool, doubled by each further one in a row up to
	// MaxBackoffMS; defaults 250 and 30,000. Jitter reduces it by up to that share at random;
	// default 0.5.
	BackoffMS    float64  `json:"backoff_ms,omitempty" form:"min=0"`
	MaxBackoffMS float64  `json:"max_backoff_ms,omitempty" form:"min=0"`
	Jitter       *float64 `json:"jitter,omitempty" form:"min=0 max=1"`
}

// GuardAction is the guard's action for a breach.
type GuardAction string

// The actions.
const (
	Block  GuardAction = "block"  // the call is not executed, the result not shown
	Redact GuardAction = "redact" // the forbidden data is replaced by its kind
	Cut    GuardAction = "cut"    // the beginning of a result is shown
	Wait   GuardAction = "wait"   // the call is executed as soon as it may be
	Flag   GuardAction = "flag"   // only a remark is recorded
)

// GuardActions are the actions of a rule, its default first; nil for an unknown rule or a rule
// that no guard can act on.
func GuardActions(r safety.Rule) []GuardAction {
	if !slices.Contains(safety.RuleNames(), r) {
		return nil
	}
	switch r {
	case safety.RuleEcho:
		return nil // texts do not pass the guard
	case safety.RulePII:
		return []GuardAction{Block, Redact, Flag}
	case safety.RuleResult:
		return []GuardAction{Redact, Block, Flag}
	case safety.RuleLargeResult:
		return []GuardAction{Block, Cut, Flag}
	case safety.RuleRate:
		return []GuardAction{Wait, Block, Flag}
	default:
		return []GuardAction{Block, Flag}
	}
}

// Defaults of Settings and of the rules of a policy with a guard.
const (
	defaultTimeoutMS    = 30_000
	defaultMaxWaitMS    = 60_000
	defaultBackoffMS    = 250
	defaultMaxBackoffMS = 30_000
	defaultJitter       = 0.5

	defaultArgumentBytes = 64 << 10
	defaultResultBytes   = 1 << 20
	defaultStopAfter     = 5
	defaultReopenSeconds = 30
)

// ReadPolicy reads a policy, in JSON or YAML. The error is a callvet.Problem with the place of the
// first mistake, or wraps callvet.ErrLimited. Unknown keys are mistakes, so that a misspelled rule
// does not allow everything.
//
// A file with `guard` denies by default: lists of tools and domains that it does not mention are
// empty, and other absent rules have their strict defaults. So the file means the same for the
// guard and for scoring.
func ReadPolicy(name string, data []byte) (*Policy, error) {
	if len(data) > MaxPolicyBytes {
		return nil, fmt.Errorf("read policy: %s: more than %d bytes: %w", name, MaxPolicyBytes, callvet.ErrLimited)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, callvet.Problem{
			Position: callvet.Position{File: name}, Code: "empty", Message: "the file is empty",
			Fix: "guard: {}",
		}
	}
	d, bad := doc.Read(name, data)
	if bad != nil {
		return nil, d.Problem(bad)
	}
	if p := oneSpelling(d); p != nil {
		return nil, *p
	}
	var p Policy
	if err := d.Fill(&p); err != nil {
		return nil, err
	}
	if p.Guard == nil {
		return &p, nil
	}
	p.denyByDefault(&d.Root)
	for _, r := range slices.Sorted(maps.Keys(p.Guard.Actions)) {
		if may := GuardActions(r); !slices.Contains(may, p.Guard.Actions[r]) {
			at, _ := d.Root.Find("guard.actions." + string(r))
			return nil, wrongAction(d.Position(at), r, p.Guard.Actions[r], may)
		}
	}
	return &p, nil
}

func wrongAction(at callvet.Position, r safety.Rule, a GuardAction, may []GuardAction) callvet.Problem {
	p := callvet.Problem{Position: at, Code: "unknown-key", Key: string(r)}
	var known []string
	for _, k := range safety.RuleNames() {
		if GuardActions(k) != nil {
			known = append(known, string(k))
		}
	}
	switch {
	case may != nil:
		p.Code, p.Message = "unknown-value", fmt.Sprintf("%q is no action of %s", a, r)
		p.Fix = "write one of " + strings.Join(words(may), ", ")
	case r == safety.RuleEcho:
		p.Message, p.Fix = string(r)+" is about what the target says, which a guard does not see",
			"remove it; it is scored"
	default:
		p.Message = fmt.Sprintf("unknown rule %q", r)
		if near := callvet.Nearest(string(r), known); near != "" {
			p.Fix = fmt.Sprintf("did you mean %q?", near)
		} else {
			p.Fix = "rules are " + strings.Join(known, ", ")
		}
	}
	return p
}

func words(as []GuardAction) []string {
	var out []string
	for _, a := range as {
		out = append(out, string(a))
	}
	return out
}

// denyByDefault fills in the settings that the file does not have.
func (p *Policy) denyByDefault(root *doc.Node) {
	silent := func(key string) bool { n := root.Get(key); return n == nil || n.Kind == doc.Null }
	if p.Tools == nil {
		p.Tools = []string{}
	}
	if p.Domains == nil {
		p.Domains = []string{}
	}
	for key, rule := range map[string]*bool{
		"confirm_writes": &p.ConfirmWrites, "undeclared_writes": &p.UndeclaredWrites, "deny_pii": &p.DenyPII,
		"deny_private": &p.DenyPrivate, "keep_rate_limits": &p.KeepRateLimits,
	} {
		if silent(key) {
			*rule = true
		}
	}
	if silent("deny_in_results") {
		p.DenyInResults = safety.DenySecrets
	}
	for key, n := range map[string]struct {
		rule *int
		def  int
	}{
		"max_argument_bytes":  {&p.MaxArgumentBytes, defaultArgumentBytes},
		"max_result_bytes":    {&p.MaxResultBytes, defaultResultBytes},
		"stop_after_failures": {&p.StopAfterFailures, defaultStopAfter},
	} {
		if silent(key) {
			*n.rule = n.def
		}
	}
	if silent("reopen_seconds") {
		p.ReopenSeconds = defaultReopenSeconds
	}
}

// oneSpelling converts `tool` with one name to `tools` with a list, in the calls of attacks.
func oneSpelling(d *doc.File) *callvet.Problem {
	attacks := d.Root.Get("attacks")
	if attacks == nil {
		return nil
	}
	for i := range attacks.Items {
		for _, key := range [...]string{"harm", "own"} {
			list := attacks.Items[i].Get(key)
			if list == nil {
				continue
			}
			for j := range list.Items {
				call := &list.Items[j]
				if key == "harm" {
					call = call.Get("call")
				}
				if p := spellTools(d, call); p != nil {
					return p
				}
			}
		}
	}
	return nil
}

func spellTools(d *doc.File, call *doc.Node) *callvet.Problem {
	if call == nil || call.Kind != doc.Map {
		return nil
	}
	for i := range call.Names {
		switch n := &call.Items[i]; call.Names[i].Name {
		case "tool":
			if call.Get("tools") != nil {
				p := callvet.Problem{
					Position: d.Position(call.Names[i].At), Code: "duplicate-key", Key: "tool",
					Message: "tool and tools are one key", Fix: "leave one of them",
				}
				return &p
			}
			call.Names[i].Name = "tools"
			oneOrMany(n)
		case "tools":
			oneOrMany(n)
		}
	}
	return nil
}

func oneOrMany(n *doc.Node) {
	if n.Kind == doc.String {
		*n = doc.Node{Kind: doc.List, At: n.At, Items: []doc.Node{*n}}
	}
}

// Unguarded is the error about a policy that has no `guard`.
func Unguarded(name string) error {
	return &callvet.Hinted{
		Err:  fmt.Errorf("read policy %s: it has no key guard, and so only scores: %w", name, callvet.ErrInvalid),
		Hint: "add `guard: {}` to it; what it does not allow is denied then",
	}
}

// action is the action for a breach of a rule.
func (s *GuardSettings) action(r safety.Rule) GuardAction {
	if a := s.Actions[r]; a != "" {
		return a
	}
	if may := GuardActions(r); may != nil {
		return may[0]
	}
	return Block
}

func millis(v, def float64) time.Duration {
	if v == 0 {
		v = def
	}
	return time.Duration(v * float64(time.Millisecond))
}

func (s *GuardSettings) timeout() time.Duration { return millis(s.TimeoutMS, defaultTimeoutMS) }
func (s *GuardSettings) maxWait() time.Duration { return millis(s.MaxWaitMS, defaultMaxWaitMS) }
