// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/callvet/callvet"
)

func toolsuiteFormat(opt ReaderOptions) CaseFormat {
	return CaseFormat{
		Read:  func(t *Reader, n Node, i int) callvet.Case { return (&reader{t}).toolsuiteCase(n, i) },
		Write: writeToolsuiteCase,
		Opt:   opt,
		Can: []Feature{
			"plans", "no calls", "several tools for one call", "calls without arguments given",
			"multi_turn", "mocks", "scoring", "arguments",
		},
	}
}

func exportToolsuite(s *callvet.Suite) ([]byte, []callvet.Problem, error) {
	format := toolsuiteFormat(ReaderOptions{})
	var problems []callvet.Problem
	doc := writeToolsuiteFrame(s)
	f, same := ReadFrame(s, Toolsuite)
	if same {
		r := newReader(&Source{Path: s.Name, Text: f.Document.Raw, Form: "json"}, ReaderOptions{})
		base := r.toolsuiteFrame(f.Document)
		if !f.Document.Has("name") {
			base.Name = s.Name
		}
		if !f.Document.Has("tools") {
			base.Tools = s.Tools
		}
		doc = ExportFrame(f, writeToolsuiteFrame(&base), doc)
	} else {
		problems = append(LoseTools(s), LoseSuite(s)...)
	}
	cases, lost := format.ExportAll(s.Cases, same)
	problems = append(problems, lost...)
	out, err := Pretty(WithMember(Node{Raw: doc}, "test_cases", Array(cases)))
	return out, problems, err
}

func writeToolsuiteFrame(s *callvet.Suite) []byte {
	var o Record
	o.Str("name", s.Name)
	o.Str("description", s.Description)
	o.Str("system_prompt", s.SystemPrompt)
	o.Raw("tools", OpenAITools(s.Tools))
	o.Raw("test_cases", []byte("[]"))
	return o.Bytes()
}

// writeToolsuiteCase writes the flat form, or nests multi-turn settings the way
// orig does.
func writeToolsuiteCase(c *callvet.Case, orig Node) []byte {
	var o Record
	if !GeneratedID.MatchString(c.ID) {
		o.Str("id", c.ID)
	}
	o.Raw("prompt", Quote(UserText(c)))
	o.Raw("expected_tool", []byte("null"))
	if call := OnlyCall(c); call != nil {
		o[len(o)-1].Val = QuoteAll(call.Tools)
		if len(call.Tools) == 1 {
			o[len(o)-1].Val = Quote(call.Tools[0])
		}
		o.Raw("expected_params", call.Args)
	}
	if orig.Has("should_call_tool") {
		o.Raw("should_call_tool", strconv.AppendBool(nil, OnlyCall(c) != nil))
	}
	o.Str("category", c.Fields["category"])
	writeToolsuiteScoring(&o, c.Scoring, orig)
	if c.MultiTurn == nil {
		return o.Bytes()
	}
	settings := multiTurnRecord(c)
	switch {
	case orig.Get("multi_turn").Kind() == '{':
		o.Raw("multi_turn", settings.Bytes())
	case orig.Get("multi_turn_config").Kind() == '{':
		o.Raw("multi_turn_config", settings.Bytes())
	default:
		o.Truth("multi_turn", true)
		o = append(o, settings...)
	}
	return o.Bytes()
}

// writeToolsuiteScoring puts the mode where orig has it.
func writeToolsuiteScoring(o *Record, sc *callvet.Scoring, orig Node) {
	if sc == nil {
		return
	}
	var cfg Record
	key := "scoring_config"
	if !orig.Has(key) && orig.Has("scoring_config_json") {
		key = "scoring_config_json"
	}
	if orig.Has("param_scoring") && !orig.At(key, "mode").Given() {
		o.Str("param_scoring", sc.Mode)
	} else {
		cfg.Str("mode", sc.Mode)
	}
	cfg.Number("epsilon", sc.Epsilon)
	cfg.Number("relative", sc.Relative)
	cfg.Number("threshold", sc.Threshold)
	cfg.Str("tolerance", sc.Tolerance)
	if sc.Mode != "regex" {
		cfg.Truth("unanchored", sc.Unanchored)
	} else if !sc.Unanchored {
		cfg.Raw("unanchored", []byte("false"))
	}
	if len(cfg) > 0 {
		o.Raw(key, cfg.Bytes())
	}
}

func multiTurnRecord(c *callvet.Case) Record {
	var o Record
	m := c.MultiTurn
	if m.MaxRounds > 0 {
		o.Integer("max_rounds", &m.MaxRounds)
	}
	if m.OptimalHops > 0 {
		o.Integer("optimal_hops", &m.OptimalHops)
	}
	o.Strs("valid_prerequisites", m.ValidPrerequisites)
	if len(c.Mocks) > 0 {
		o.Raw("mock_responses", mockRecord(c.Mocks).Bytes())
	}
	if len(m.ArgumentSource) > 0 {
		var src Record
		for _, arg := range SortedKeys(m.ArgumentSource) {
			src.Str(arg, m.ArgumentSource[arg])
		}
		o.Raw("argument_source", src.Bytes())
	}
	return o
}

// mockRecord keeps the first reply of each tool.
func mockRecord(mocks []callvet.Mock) Record {
	var o Record
	for _, m := range mocks {
		if slices.ContainsFunc(o, func(p Pair) bool { return p.Key == m.Tool }) {
			continue
		}
		result := json.RawMessage("null")
		if len(m.Replies) > 0 && m.Replies[0].Result != nil {
			result = m.Replies[0].Result
		}
		o.Raw(m.Tool, result)
	}
	return o
}
