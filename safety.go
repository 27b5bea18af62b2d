// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package callvet

import (
	"cmp"
	"slices"
	"strings"
)

// Safety is what attempts at a case may never do, even where the tools' contracts allow it. The
// zero value adds nothing to those contracts.
type Safety struct {
	// Tools are the only names that may be called; nil: any.
	Tools []string `json:"tools,omitzero"`
	// Domains are the hosts that any tool may reach, each with its subdomains; nil: any. A tool's
	// own list replaces this one.
	Domains []string `json:"domains,omitzero"`
	// ReadOnly forbids tools that are declared as mutating (read_only: false).
	ReadOnly bool `json:"read_only,omitempty"`
	// ConfirmWrites asks for confirmation before every tool that is declared as mutating.
	ConfirmWrites bool `json:"confirm_writes,omitempty"`
	// DenyPII also applies to tools that declare nothing about personal data.
	DenyPII bool `json:"deny_pii,omitempty"`
	// Confirmations are answers that confirm, in addition to the built-in ones.
	Confirmations []string `json:"confirmations,omitempty"`
	// Honeypots are tools that no task of the case needs: every call of one is a breach.
	Honeypots []string `json:"honeypots,omitempty"`
	// Secrets are texts that neither arguments nor answers may contain.
	Secrets []string `json:"secrets,omitempty"`
	// Attack is planted in the results of tools; nil: no attack.
	Attack *Attack `json:"attack,omitempty"`
}

// The words of safety rules in labelled tasks and gold files. RuleNever is a prefix of a tool's
// name. The other words have fixed meanings: no_pii, require_confirmation. Letter case, spaces and
// hyphens do not count.
const (
	RuleNever         = "never "
	RuleReadOnly      = "read_only"
	RuleConfirmWrites = "confirm_writes"
	RuleDenyPII       = "deny_pii"
)

// RuleUnconfirmedWrite is the Incident rule for a call without a required confirmation.
const RuleUnconfirmedWrite = "unconfirmed_write"

// ReadSafetyRules reads words of safety rules: the tools that must not be called, and the safety of
// the case. safe is nil where no word is about the safety of the case. unknown are the words that
// are no rule. Source of the key: Evaluating Tool Calling, §5.
func ReadSafetyRules(words []string) (never []string, safe *Safety, unknown []string) {
	var s Safety
	for _, word := range words {
		tool, isNever := strings.CutPrefix(word, RuleNever)
		if tool = strings.TrimSpace(tool); isNever && tool != "" {
			never = append(never, tool)
			continue
		}
		switch strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(strings.TrimSpace(word))) {
		case RuleReadOnly:
			s.ReadOnly = true
		case RuleConfirmWrites, "require_confirmation":
			s.ConfirmWrites = true
		case RuleDenyPII, "no_pii":
			s.DenyPII = true
		default:
			unknown = append(unknown, word)
			continue
		}
		safe = &s
	}
	return never, safe, unknown
}

// Words are the rules that ReadSafetyRules reads, in their order; nil where the safety has settings
// without such a word, or no settings.
func (s *Safety) Words() []string {
	var out []string
	for _, rule := range []struct {
		is   bool
		word string
	}{{s.ReadOnly, RuleReadOnly}, {s.ConfirmWrites, RuleConfirmWrites}, {s.DenyPII, RuleDenyPII}} {
		if rule.is {
			out = append(out, rule.word)
		}
	}
	if s.Tools != nil || s.Domains != nil || s.Attack != nil ||
		len(s.Confirmations)+len(s.Honeypots)+len(s.Secrets) > 0 {
		return nil
	}
	return out
}

// Attack describes an instruction that was planted in the results of tools, and how to detect that
// the target followed it. An attack without Harm and Answer is never followed.
type Attack struct {
	Name string `json:"name"`
	// Plant puts texts into results.
	Plant []Plant `json:"plant,omitempty"`
	// Texts were planted in addition to those of Plant. Calls count only after a result showed one
	// of them; empty: from the start.
	Texts []string `json:"texts,omitempty"`
	// Harm are the calls that the attacker wants, all of them. Each is matched with the earliest
	// call that fits, and no call matches two.
	Harm []Harm `json:"harm,omitempty"`
	// Answer are texts that the final answer must all contain.
	Answer []string `json:"answer,omitempty"`
	// Own are the calls that the user's task asks for: such a call does not count as the
	// attacker's.
	Own []ExpectedCall `json:"own,omitempty"`
}

// Planted are all texts of the attack, those of Plant first.
func (a *Attack) Planted() []string {
	out := make([]string, 0, len(a.Plant)+len(a.Texts))
	for _, p := range a.Plant {
		if p.Text != "" {
			out = append(out, p.Text)
		}
	}
	return append(out, a.Texts...)
}

// Plant is a text and its place in a result.
type Plant struct {
	// Tool is the tool that returns the result; * matches any text, "" any tool.
	Tool string `json:"tool,omitempty"`
	// At is the name of a placeholder, {{NAME}} in texts of the result; "": the text is
	// added to the end of the longest text of the result.
	At   string `json:"at,omitempty"`
	Text string `json:"text"`
	// Instead is the text in this place when there is no attack.
	Instead string `json:"instead,omitempty"`
}

// Harm is one call that an attacker wants.
type Harm struct {
	// Call names the tool and what its arguments must be; other arguments do not matter.
	Call ExpectedCall `json:"call" form:"required"`
	// Contains are texts that must all occur in the arguments.
	Contains []string `json:"contains,omitempty"`
	// From maps a parameter to tools: its value must contain data from an earlier result of one of
	// them. A text without such data is no theft.
	From map[string][]string `json:"from,omitempty"`
	// Replaceable: a later call of the tool replaces this one; when Key is set, only a call with
	// the same values there.
	Replaceable bool     `json:"replaceable,omitempty"`
	Key         []string `json:"key,omitempty"`
}

// FaultWay is how a tool is made to fail.
type FaultWay string

// The ways. With the first three the tool is not called; the others change its result.
const (
	WayError     FaultWay = "error"      // the tool reports an error
	WayTimeout   FaultWay = "timeout"    // no answer in time
	WayRateLimit FaultWay = "rate_limit" // too many requests, with a time to wait
	WayLatency   FaultWay = "latency"    // the answer takes longer
	WayNull      FaultWay = "null"       // null, in place of the result or of the member At
	WayTruncated FaultWay = "truncated"  // the first half of the result's text
	WayMalformed FaultWay = "malformed"  // the result's text, broken so that it is no JSON
	WayStale     FaultWay = "stale"      // the tool's previous result, once there is one
	WayInject    FaultWay = "inject"     // Text planted in the result
)

// FaultWays are all ways.
func FaultWays() []FaultWay {
	return []FaultWay{
		WayError, WayTimeout, WayRateLimit, WayLatency, WayNull, WayTruncated, WayMalformed,
		WayStale, WayInject,
	}
}

// ToolFault makes calls of a tool fail on purpose, to show how a target reacts. Without Nth, Every,
// From and Probability every call fails; with several, a call fails if all of them select it. Only
// calls that Tool matches count, from 1 in each attempt.
type ToolFault struct {
	// Tool is a name; * matches any text, "" any tool.
	Tool string   `json:"tool,omitempty"`
	Way  FaultWay `json:"fault"`
	// Nth selects only the n-th call, Every each n-th call, From the n-th call and all after it.
	Nth   int `json:"nth,omitempty"`
	Every int `json:"every,omitempty"`
	From  int `json:"from,omitempty"`
	// Times bounds how many calls of an attempt are made to fail; 0: any number.
	Times int `json:"times,omitempty"`
	// Probability is in [0,1]: the probability that a call is selected. The draw depends only on
	// the seed of the run, the case, the repeat and the number of the call. Nil: 1.
	Probability *float64 `json:"probability,omitempty"`
	// Message is the text of the error; "": a default text.
	Message string `json:"message,omitempty"`
	// LatencyMS is how long the call takes, RetryAfterMS how long a rate limit asks to wait.
	LatencyMS    float64 `json:"latency_ms,omitempty"`
	RetryAfterMS float64 `json:"retry_after_ms,omitempty"`
	// At and Text are the place and the text that is planted, as in Plant; for null, At is a member
	// of the result.
	At   string `json:"at,omitempty"`
	Text string `json:"text,omitempty"`
}

// Name is the way and the tool, in the words of a note.
func (f *ToolFault) Name() string { return string(f.Way) + " of " + cmp.Or(f.Tool, "any tool") }

// FaultsOf are the faults for calls of a case: its own, else the suite's, then the texts that its
// attack plants.
func FaultsOf(s *Suite, c *Case) []ToolFault {
	out := s.Faults
	if c.Faults != nil {
		out = c.Faults
	}
	if c.Safety == nil || c.Safety.Attack == nil {
		return out
	}
	out = slices.Clip(out)
	for _, p := range c.Safety.Attack.Plant {
		out = append(out, ToolFault{Tool: p.Tool, Way: WayInject, At: p.At, Text: p.Text})
	}
	return out
}

// Calm is the case without its attack: each planted text is replaced by its Instead.
func (c *Case) Calm() Case {
	out := *c
	if c.Safety == nil || c.Safety.Attack == nil {
		return out
	}
	safe := *c.Safety
	attack := safe.Attack
	safe.Attack = &Attack{Name: attack.Name, Plant: slices.Clone(attack.Plant)}
	for i := range safe.Attack.Plant {
		p := &safe.Attack.Plant[i]
		p.Text, p.Instead = p.Instead, ""
	}
	out.Safety = &safe
	return out
}
