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

// scoreTolerance is how far a score may lie from one that a peer's test rounds.
const scoreTolerance = 0.001

// peerRow is what a test of another tool asserts of an attempt.
type peerRow struct {
	ID, Peer, Test, Route string
	Expected              peerExpected
	Suite                 *peerSuite
	// Unsaid is why no suite said the test at first.
	Unsaid string `json:"not_expressible_so_far"`
}

type peerExpected struct {
	Verdict string
	Scores  map[string]float64
}

// peerSuite is the case in the words of a route, with the attempt.
type peerSuite struct {
	// Case is of callvet's own form, Assert of promptfoo's.
	Case   map[string]json.RawMessage
	Assert json.RawMessage
	BFCL   map[string]json.RawMessage
	// Actual is a list of calls or a record of messages, ActualOutput what a provider of
	// promptfoo returned, Result what a model of the leaderboard wrote.
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

// sayable is the subject of rows that have no suite of their own: that there is one which
// says what the peer's test asserts.
const sayable = "can be said"

// leastAgreement is the share of rows of each peer that have to agree, but those that
// differ for a reason of principle.
const leastAgreement = 0.97

// peers scores what the tests of other tools score and compares with what they assert.
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
			r.Route = sayable
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
		if r.Route == sayable {
			differs, why = r.suiteDiffers(ctx, words)
		} else if differs, why, err = r.compared(ctx, tools[r.Test]); err != nil {
			return fmt.Errorf("%s %s: %w", r.ID, r.Test, err)
		}
		if differs != "" && why != "" {
			c.Explain(r.subject(), r.name(), why)
			principles[why]++
		}
		c.Compare(r.subject(), r.name(), differs == "", "%s", differs)
		n.count(r.Route == sayable, differs != "", why != "")
	}
	c.Printf("%-22s %5s %6s %10s %8s %15s %12s %14s\n", "peer", "rows", "agree", "principle", "differ",
		"rows of no suite", "can be said", "cannot be said")
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		n := counts[name]
		c.Printf("%-22s %5d %6d %10d %8d %15d %12d %14d\n", name, n.agree+n.principle+n.differ, n.agree, n.principle,
			n.differ, n.said+n.unsaid, n.said, n.unsaid)
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

// peerCount counts the rows of a peer: those that have a suite, and those that had none.
type peerCount struct{ agree, principle, differ, said, unsaid int }

func (n *peerCount) count(expressed, differs, principle bool) {
	switch {
	case expressed && !differs:
		n.said++
	case expressed:
		n.unsaid++
	case !differs:
		n.agree++
	case principle:
		n.principle++
	default:
		n.differ++
	}
}

func (r *peerRow) subject() string {
	if r.Route == sayable {
		return sayable
	}
	return r.Peer
}

// compared says what is other than the peer's test asserts, and for which reason of principle.
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

// peerScores are the scores that peers mean by those of the rows: by peer and the start of
// a test's name.
var peerScores = []struct{ peer, test, of, means string }{
	{"strands-evals", "exact_", score.ToolSelection, score.Position},
	{"strands-evals", "in_order", score.ToolSelection, score.SequenceRecall},
	{"pydantic-evals", "trajectory_match_in_order", score.ToolF1, score.SequenceF1},
	{"ragas", "", score.ToolF1, score.CallF1},
}

// inOwnTerms asks for the score that the peer means, and compares arguments as texts where
// the peer does.
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

// differs says what is other than the peer's test asserts; "" when nothing is.
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

// scored loads the suite of a row as its route says and scores the attempt.
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

// named are the tools that the output names, where it is a text: calls are looked for in
// texts only when tools are offered.
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

// text is the suite as a file, and its dialect.
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
	if err != nil { // what was read can be written
		return nil, dialect
	}
	return text, dialect
}

// functionsOf makes the functions that a ground truth calls: the rows do not have them.
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

// attempt makes the trace of the calls, read like a recording.
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
		// The peer compares lists of calls and no answers, so that an empty list is no empty answer.
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
