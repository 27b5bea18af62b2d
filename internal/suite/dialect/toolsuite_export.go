// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/callvet/callvet"
)

func toolsuiteFormat(opt Options) caseFormat {
	return caseFormat{
		read:  (*reader).toolsuiteCase,
		write: writeToolsuiteCase,
		opt:   opt,
		can: []feature{
			"plans", "no calls", "several tools for one call", "calls without arguments given",
			"multi_turn", "mocks", "scoring", "arguments",
		},
	}
}

func exportToolsuite(s *callvet.Suite) ([]byte, []callvet.Problem, error) {
	format := toolsuiteFormat(Options{})
	var problems []callvet.Problem
	doc := writeToolsuiteFrame(s)
	f, same := readFrame(s, Toolsuite)
	if same {
		r := newReader(&source{path: s.Name, text: f.document.raw, form: "json"}, Options{})
		base := r.toolsuiteFrame(f.document)
		if !f.document.has("name") {
			base.Name = s.Name
		}
		if !f.document.has("tools") {
			base.Tools = s.Tools
		}
		doc = exportFrame(f, writeToolsuiteFrame(&base), doc)
	} else {
		problems = append(loseTools(s), loseSuite(s)...)
	}
	cases := make([][]byte, len(s.Cases))
	for i := range s.Cases {
		orig, _ := trusted(s.Cases[i].Foreign)
		if !same {
			orig = node{}
		}
		var lost []callvet.Problem
		cases[i], lost = format.export(&s.Cases[i], orig)
		problems = append(problems, lost...)
	}
	out, err := pretty(withMember(node{raw: doc}, "test_cases", array(cases)))
	return out, problems, err
}

// loseSuite lists suite settings that no foreign format has a place for.
func loseSuite(s *callvet.Suite) []callvet.Problem {
	var out []callvet.Problem
	lose := func(key string, used bool) {
		if used {
			out = append(out, callvet.Problem{Code: "not-carried", Warning: true, Key: key, Message: key + " of the suite is not carried: the format has no place for it"})
		}
	}
	lose("mocks", len(s.Mocks) > 0)
	lose("defaults", s.Defaults != callvet.Defaults{})
	lose("version", s.Version != "")
	return out
}

func writeToolsuiteFrame(s *callvet.Suite) []byte {
	var o record
	o.str("name", s.Name)
	o.str("description", s.Description)
	o.str("system_prompt", s.SystemPrompt)
	o.raw("tools", openAITools(s.Tools))
	o.raw("test_cases", []byte("[]"))
	return o.bytes()
}

// writeToolsuiteCase writes the flat form, or nests multi-turn settings the way
// orig does.
func writeToolsuiteCase(c *callvet.Case, orig node) []byte {
	var o record
	if !generatedID.MatchString(c.ID) {
		o.str("id", c.ID)
	}
	o.raw("prompt", quote(userText(c)))
	o.raw("expected_tool", []byte("null"))
	if call := onlyCall(c); call != nil {
		o[len(o)-1].val = quoteAll(call.Tools)
		if len(call.Tools) == 1 {
			o[len(o)-1].val = quote(call.Tools[0])
		}
		o.raw("expected_params", call.Args)
	}
	if orig.has("should_call_tool") {
		o.raw("should_call_tool", strconv.AppendBool(nil, onlyCall(c) != nil))
	}
	o.str("category", c.Fields["category"])
	writeToolsuiteScoring(&o, c.Scoring, orig)
	if c.MultiTurn == nil {
		return o.bytes()
	}
	settings := multiTurnRecord(c)
	switch {
	case orig.get("multi_turn").kind() == '{':
		o.raw("multi_turn", settings.bytes())
	case orig.get("multi_turn_config").kind() == '{':
		o.raw("multi_turn_config", settings.bytes())
	default:
		o.truth("multi_turn", true)
		o = append(o, settings...)
	}
	return o.bytes()
}

func onlyCall(c *callvet.Case) *callvet.ExpectedCall {
	if len(c.Expect.Plans) == 0 || len(c.Expect.Plans[0].Calls) == 0 {
		return nil
	}
	calls := c.Expect.Plans[0].Calls
	return &calls[len(calls)-1]
}

// writeToolsuiteScoring puts the mode where orig has it.
func writeToolsuiteScoring(o *record, sc *callvet.Scoring, orig node) {
	if sc == nil {
		return
	}
	var cfg record
	key := "scoring_config"
	if !orig.has(key) && orig.has("scoring_config_json") {
		key = "scoring_config_json"
	}
	if orig.has("param_scoring") && !orig.at(key, "mode").given() {
		o.str("param_scoring", sc.Mode)
	} else {
		cfg.str("mode", sc.Mode)
	}
	cfg.number("epsilon", sc.Epsilon)
	cfg.number("relative", sc.Relative)
	cfg.number("threshold", sc.Threshold)
	cfg.str("tolerance", sc.Tolerance)
	if sc.Mode != "regex" {
		cfg.truth("unanchored", sc.Unanchored)
	} else if !sc.Unanchored {
		cfg.raw("unanchored", []byte("false"))
	}
	if len(cfg) > 0 {
		o.raw(key, cfg.bytes())
	}
}

func multiTurnRecord(c *callvet.Case) record {
	var o record
	m := c.MultiTurn
	if m.MaxRounds > 0 {
		o.integer("max_rounds", &m.MaxRounds)
	}
	if m.OptimalHops > 0 {
		o.integer("optimal_hops", &m.OptimalHops)
	}
	o.strs("valid_prerequisites", m.ValidPrerequisites)
	if len(c.Mocks) > 0 {
		o.raw("mock_responses", mockRecord(c.Mocks).bytes())
	}
	if len(m.ArgumentSource) > 0 {
		var src record
		for _, arg := range sortedKeys(m.ArgumentSource) {
			src.str(arg, m.ArgumentSource[arg])
		}
		o.raw("argument_source", src.bytes())
	}
	return o
}

// mockRecord keeps the first reply of each tool.
func mockRecord(mocks []callvet.Mock) record {
	var o record
	for _, m := range mocks {
		if slices.ContainsFunc(o, func(p pair) bool { return p.key == m.Tool }) {
			continue
		}
		result := json.RawMessage("null")
		if len(m.Replies) > 0 && m.Replies[0].Result != nil {
			result = m.Replies[0].Result
		}
		o.raw(m.Tool, result)
	}
	return o
}
