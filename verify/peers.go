// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/internal/suite"
	"github.com/callvet/callvet/score"
	"github.com/callvet/callvet/value"
	"github.com/callvet/callvet/verify/jsonl"
	"github.com/callvet/callvet/verify/proof"
)

// scoreTolerance is the largest difference from a rounded score in a peer's test.
const scoreTolerance = 0.001

// peerRow is a test of another tool: an attempt with its assertion.
type peerRow struct {
	ID, Peer, Test, Route string
	Expected              peerExpected
	Suite                 *peerSuite
	// Unsaid is the reason why the data have no suite for the test.
	Unsaid string `json:"not_expressible_so_far"`
}

type peerExpected struct {
	Verdict string
	Scores  map[string]float64
}

// peerSuite is the case in the format of a route, with the attempt.
type peerSuite struct {
	// Case is in callvet's form, Assert in promptfoo's.
	Case   map[string]json.RawMessage
	Assert json.RawMessage
	BFCL   map[string]json.RawMessage
	// Actual is a list of calls or a record of messages, ActualOutput the output of a promptfoo
	// provider, Result the text of a model of the leaderboard.
	Actual       json.RawMessage
	ActualOutput json.RawMessage `json:"actual_output"`
	Result       json.RawMessage
}

// The routes of rows.
const (
	ownRoute       = "native"
	promptfooRoute = "promptfoo import"
	bfclRoute      = "bfcl import"
)

// expressible is the subject of rows without a suite in the data: whether a suite can express the
// assertion of the peer's test.
const expressible = "can be expressed"

// leastAgreement is the least share of agreeing rows of each peer, not counting rows that differ for
// a reason of principle.
const leastAgreement = 0.97

// peers scores the attempts in the tests of other tools and compares the scores with their assertions.
func peers(ctx context.Context, c *proof.Check, d proof.Data) error {
	var rows []peerRow
	if err := jsonl.Each(d.In("peer_tests", "cases.jsonl"), func(r peerRow) error {
		rows = append(rows, r)
		return nil
	}); err != nil {
		return err
	}
	words, err := readSayings(peerSuites)
	if err != nil {
		return err
	}
	tools := map[string]json.RawMessage{} // by test: imported rows are next to native ones
	routes := map[string]int{}
	for i := range rows {
		r := &rows[i]
		if s := r.Suite; s != nil && s.Case["tools"] != nil {
			tools[r.Test] = s.Case["tools"]
		}
		routes[r.Route]++
		if words.of(r) != nil || r.Suite == nil {
			r.Route = expressible
		}
		c.Due(r.subject(), 1, "the rows of peer_tests/cases.jsonl")
	}
	c.Printf(
		"due are the %d rows of peer_tests/cases.jsonl: native %d, promptfoo import %d, bfcl import %d, of no suite %d\n",
		len(rows), routes[ownRoute], routes[promptfooRoute], routes[bfclRoute], routes["none"])
	counts := map[string]*peerCount{}
	principles := map[string]int{}
	for i := range rows {
		r := &rows[i]
		if counts[r.Peer] == nil {
			counts[r.Peer] = &peerCount{}
		}
		n := counts[r.Peer]
		var differs, why string
		if r.Route == expressible {
			differs, why = r.suiteDiffers(ctx, words)
		} else if differs, why, err = r.compared(ctx, tools[r.Test]); err != nil {
			return fmt.Errorf("%s %s: %w", r.ID, r.Test, err)
		}
		if differs != "" && why != "" {
			c.Explain(r.subject(), r.name(), why)
			principles[why]++
		}
		c.Compare(r.subject(), r.name(), differs == "", "%s", differs)
		n.count(r.Route == expressible, differs != "", why != "")
	}
	c.Printf("%-22s %5s %6s %10s %8s %15s %12s %15s\n", "peer", "rows", "agree", "principle", "differ",
		"rows of no suite", "expressible", "not expressible")
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		n := counts[name]
		c.Printf("%-22s %5d %6d %10d %8d %15d %12d %15d\n", name, n.agree+n.principle+n.differ, n.agree, n.principle,
			n.differ, n.expressed+n.unexpressed, n.expressed, n.unexpressed)
		if all := n.agree + n.differ; float64(n.agree) < leastAgreement*float64(all) {
			c.Problem(
				fmt.Errorf("%s: %d of %d rows agree that no reason of principle leaves out, and at least %g %% have to",
					name, n.agree, all, 100*leastAgreement))
		}
	}
	for _, why := range slices.Sorted(maps.Keys(principles)) {
		c.Printf("principle, %d rows: %s\n", principles[why], why)
	}
	return nil
}

// peerCount counts the rows of a peer: rows with a suite, and rows without one in the data.
type peerCount struct{ agree, principle, differ, expressed, unexpressed int }

func (n *peerCount) count(expressed, differs, principle bool) {
	switch {
	case expressed && !differs:
		n.expressed++
	case expressed:
		n.unexpressed++
	case !differs:
		n.agree++
	case principle:
		n.principle++
	default:
		n.differ++
	}
}

func (r *peerRow) subject() string {
	if r.Route == expressible {
		return expressible
	}
	return r.Peer
}

// compared describes the difference from the assertion of the peer's test, and the reason of principle.
func (r *peerRow) compared(ctx context.Context, tools json.RawMessage) (differs, why string, err error) {
	if err := r.inOwnTerms(); err != nil {
		return "", "", err
	}
	if differs, err = r.differs(ctx, tools); err != nil || differs == "" {
		return differs, "", err
	}
	why, err = r.principle(ctx, tools)
	return differs, why, err
}

// peerScores maps scores of peers to ours, by peer and the start of a test's name.
var peerScores = []struct{ peer, test, of, means string }{
	{"strands-evals", "exact_", score.ToolSelection, score.Position},
	{"strands-evals", "in_order", score.ToolSelection, score.SequenceRecall},
	{"pydantic-evals", "trajectory_match_in_order", score.ToolF1, score.SequenceF1},
	{"ragas", "", score.ToolF1, score.CallF1},
}

// inOwnTerms requests the score that the peer means, and compares arguments as texts if the peer does.
func (r *peerRow) inOwnTerms() error {
	if r.Route != ownRoute {
		return nil
	}
	set := func(key, member string, v any) error {
		in := map[string]any{}
		if old := r.Suite.Case[key]; old != nil {
			if err := json.Unmarshal(old, &in); err != nil {
				return fmt.Errorf("%s: read %s: %w", r.ID, key, err)
			}
		}
		in[member] = v
		b, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("%s: write %s: %w", r.ID, key, err)
		}
		r.Suite.Case[key] = b
		return nil
	}
	if r.Peer == "azure-ai-evaluation" && strings.HasPrefix(r.Test, "param_") {
		return set("scoring", "mode", "text")
	}
	for _, p := range peerScores {
		want, ok := r.Expected.Scores[p.of]
		if !ok || r.Peer != p.peer || !strings.HasPrefix(r.Test, p.test) {
			continue
		}
		delete(r.Expected.Scores, p.of)
		r.Expected.Scores[p.means] = want
		return set("expect", "min_scores", map[string]float64{p.means: 0})
	}
	return nil
}

func (r *peerRow) name() string { return r.ID + " " + r.Test }

// differs describes the difference from the assertion of the peer's test; "" if there is none.
func (r *peerRow) differs(ctx context.Context, tools json.RawMessage) (string, error) {
	result, err := r.scored(ctx, tools)
	if err != nil {
		return "", err
	}
	var out []string
	if string(result.Verdict) != r.Expected.Verdict {
		out = append(out,
			strings.TrimSpace(fmt.Sprintf("wanted %s, got %s %s", r.Expected.Verdict, result.Verdict, result.Reason)))
	}
	for _, name := range slices.Sorted(maps.Keys(r.Expected.Scores)) {
		want := r.Expected.Scores[name]
		s := result.Score(name)
		if !s.Scored {
			out = append(out, fmt.Sprintf("%s: wanted %g, got none", name, want))
		} else if math.Abs(s.Value-want) > scoreTolerance {
			out = append(out, fmt.Sprintf("%s: wanted %g, got %g", name, want, s.Value))
		}
	}
	return strings.Join(out, "; "), nil
}

// scored loads the suite of a row by its route and scores the attempt.
func (r *peerRow) scored(ctx context.Context, tools json.RawMessage) (callvet.Result, error) {
	text, dialect := r.Suite.text(r.Route, tools)
	s, problems, err := suite.Load("-",
		suite.Options{Stdin: bytes.NewReader(text), Dialect: dialect, Tools: r.Suite.named()})
	if err != nil {
		return callvet.Result{}, err
	}
	if i := slices.IndexFunc(problems, func(p callvet.Problem) bool { return !p.Warning }); i >= 0 {
		return callvet.Result{}, fmt.Errorf("load: %w: %s", callvet.ErrInvalid, problems[i].Message)
	}
	if len(s.Cases) != 1 {
		return callvet.Result{}, fmt.Errorf("load: %w: %d cases", callvet.ErrInvalid, len(s.Cases))
	}
	c := &s.Cases[0]
	scorer, problems := score.New(s, score.Config{})
	compiled, more := scorer.Compile(c)
	problems = append(problems, more...)
	if len(problems) > 0 && dialect != "bfcl" {
		return callvet.Result{}, fmt.Errorf("compile: %w: %s: %s", callvet.ErrInvalid, problems[0].Key,
			problems[0].Message)
	}
	offered := s.Tools
	if c.Tools != nil {
		offered = c.Tools
	}
	t, err := r.Suite.attempt(r.Route, c.ID, callvet.NewToolset(offered))
	if err != nil {
		return callvet.Result{}, err
	}
	if c.Skip != "" {
		return callvet.Result{Verdict: callvet.VerdictNotRun, Reason: c.Skip}, nil
	}
	return compiled.Judge(ctx, t)
}

// nameInText finds the names of calls in a text.
var nameInText = regexp.MustCompile(`"name"\s*:\s*"(\w+)"`)

// named returns the tools in the output, if it is a text: calls are searched in texts only if tools
// are offered.
func (s *peerSuite) named() []callvet.Tool {
	var text string
	if s.Case["tools"] != nil || json.Unmarshal(s.ActualOutput, &text) != nil {
		return nil
	}
	var out []callvet.Tool
	for _, m := range nameInText.FindAllStringSubmatch(text, -1) {
		if !slices.ContainsFunc(out, func(t callvet.Tool) bool { return t.Name == m[1] }) {
			out = append(out, callvet.Tool{Name: m[1]})
		}
	}
	return out
}

// text returns the suite as a file, and its dialect.
func (s *peerSuite) text(route string, tools json.RawMessage) (text []byte, dialect string) {
	var doc any
	switch route {
	case promptfooRoute:
		config := map[string]any{}
		if tools != nil {
			config["tools"] = tools
		}
		doc = map[string]any{
			"prompts": []string{"q"}, "providers": []any{map[string]any{"id": "openai:gpt-5", "config": config}},
			"tests": []any{map[string]any{"assert": s.Assert}},
		}
		dialect = "promptfoo"
	case bfclRoute:
		row := map[string]any{"question": "q", "function": functionsOf(s.BFCL["ground_truth"])}
		for k, v := range s.BFCL {
			row[k] = v
		}
		doc, dialect = row, "bfcl"
	default:
		c := map[string]any{"id": "row", "prompt": "q"}
		for k, v := range s.Case {
			c[k] = v
		}
		doc = map[string]any{"callvet": 1, "name": "row", "cases": []any{c}}
	}
	text, err := json.Marshal(doc)
	if err != nil { // values that were read can be written
		return nil, dialect
	}
	return text, dialect
}

// functionsOf makes declarations for the functions of a ground truth, since the rows have none.
func functionsOf(truth json.RawMessage) []any {
	var calls []map[string]map[string][]any
	if json.Unmarshal(truth, &calls) != nil || len(calls) == 0 {
		calls = []map[string]map[string][]any{{"get_weather": {"city": {"SF"}}}}
	}
	out, seen := []any{}, map[string]bool{}
	for _, call := range calls {
		for _, name := range slices.Sorted(maps.Keys(call)) {
			props, required := map[string]any{}, []string{}
			for _, arg := range slices.Sorted(maps.Keys(call[name])) {
				values := call[name][arg]
				props[arg] = map[string]any{"type": typeOf(values)}
				if !slices.Contains(values, any("")) {
					required = append(required, arg)
				}
			}
			if !seen[name] {
				seen[name] = true
				out = append(out, map[string]any{
					"name":       name,
					"parameters": map[string]any{"type": "dict", "properties": props, "required": required},
				})
			}
		}
	}
	return out
}

func typeOf(values []any) string {
	if len(values) > 0 {
		switch n := values[0].(type) {
		case float64:
			if n == math.Trunc(n) {
				return "integer"
			}
			return "float"
		case bool:
			return "boolean"
		case []any:
			return "array"
		case map[string]any:
			return "dict"
		}
	}
	return "string"
}

// attempt converts the calls to a trace, as a recording is read.
func (s *peerSuite) attempt(route, id string, tools *callvet.Toolset) (*callvet.Trace, error) {
	var record any
	switch {
	case route == bfclRoute:
		record = map[string]any{"id": id, "result": s.Result}
	case s.Actual == nil:
		if s.ActualOutput == nil {
			s.ActualOutput = json.RawMessage("null")
		}
		record = map[string]any{"testIdx": 0, "response": map[string]any{"output": s.ActualOutput}}
	case s.Actual[0] == '[':
		// The peer compares only lists of calls, so that an empty list is not an empty answer.
		record = map[string]any{"case_id": id, "calls": s.Actual, "finish_reason": callvet.FinishDecoded}
	default:
		record = s.Actual
	}
	b, err := json.Marshal(record)
	if err != nil {
		return nil, fmt.Errorf("write the attempt: %w", err)
	}
	v, err := value.Parse(b)
	if err != nil {
		return nil, fmt.Errorf("read the attempt: %w", err)
	}
	t := &callvet.Trace{CaseID: id, End: callvet.EndAnswered}
	resp, err := message.Decode(v,
		message.Options{Tools: tools, Input: []callvet.Turn{{Role: callvet.RoleUser, Content: "q"}}})
	if err != nil {
		if !errors.As(err, &t.Fault) {
			return nil, err
		}
		resp = &callvet.Response{}
	}
	t.Turns, t.Repairs = resp.Turns, resp.Repairs
	for i := range t.Turns {
		if t.Turns[i].Role == callvet.RoleAssistant && len(t.Turns[i].Calls) == 0 {
			t.Answer = t.Turns[i].Content
		}
	}
	if len(t.Calls()) > 0 {
		t.End = callvet.EndCalled
	}
	t.Classify(resp.Unread())
	return t, nil
}
