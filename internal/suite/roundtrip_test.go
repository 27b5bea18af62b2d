// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/internal/suite/native"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// samePlaces compares suites without the places they were read from.
func samePlaces() cmp.Options {
	return cmp.Options{
		cmpopts.IgnoreFields(callvet.Case{}, "Position"),
		cmpopts.IgnoreFields(callvet.ToolNames{}, "At"), cmpopts.EquateEmpty(),
	}
}

// exact is samePlaces with nil and empty distinguished, where that means something.
func exact() cmp.Option { return cmpopts.IgnoreFields(callvet.Case{}, "Position") }

func opt[T any](g *rapid.Generator[T]) *rapid.Generator[*T] {
	return rapid.Custom(func(t *rapid.T) *T {
		if rapid.Bool().Draw(t, "nil") {
			return nil
		}
		v := g.Draw(t, "v")
		return &v
	})
}

func text() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{
			"", "NO", "yes", "1.10", "null", "~", "a: b", "# x", "- a", "two\nlines",
			"two\n  lines\n", " lead", "trail ", "[x]", "{{x}}", "\u2028", "\t", "é😀", "0x1F", "2026-05-01", "it's",
			"say \"hi\"", "*a", "&b", "!c", "|", ">", "%d", "@x", "a,b", "---", "x\n---\ny", "\r\n", "\x00",
			"<<", "=", "?",
		}),
		rapid.String(),
	)
}

func word() *rapid.Generator[string] { return rapid.StringMatching(`[a-z][a-z_]{0,8}`) }

func filled() *rapid.Generator[string] {
	return text().Filter(func(s string) bool { return s != "" })
}

func words(min int) *rapid.Generator[[]string] {
	return rapid.Custom(func(t *rapid.T) []string {
		if min == 0 && rapid.Bool().Draw(t, "nil") {
			return nil
		}
		return rapid.SliceOfN(filled(), max(min, 0), 3).Draw(t, "words")
	})
}

func jsonValue(depth int) *rapid.Generator[json.RawMessage] {
	return rapid.Custom(func(t *rapid.T) json.RawMessage {
		kinds := 4
		if depth > 0 {
			kinds = 6
		}
		switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
		case 0:
			return json.RawMessage(rapid.SampledFrom([]string{"null", "true", "false"}).Draw(t, "word"))
		case 1, 2:
			return json.RawMessage(rapid.SampledFrom(
				[]string{"0", "-1", "1.0", "1.10", "12345678901234567890", "1e5", "1E-7", "0.1"}).Draw(t, "number"))
		case 3:
			return doc.Quote(nil, text().Draw(t, "text"))
		case 4:
			b := json.RawMessage{'['}
			for i := range rapid.IntRange(0, 3).Draw(t, "n") {
				if i > 0 {
					b = append(b, ',')
				}
				b = append(b, jsonValue(depth-1).Draw(t, "item")...)
			}
			return append(b, ']')
		}
		return object(depth).Draw(t, "object")
	})
}

func object(depth int) *rapid.Generator[json.RawMessage] {
	return rapid.Custom(func(t *rapid.T) json.RawMessage {
		b := json.RawMessage{'{'}
		for i, k := range rapid.SliceOfNDistinct(text(), 0, 3, rapid.ID).Draw(t, "keys") {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(append(doc.Quote(b, k), ':'), jsonValue(depth-1).Draw(t, "value")...)
		}
		return append(b, '}')
	})
}

func matchers() *rapid.Generator[callvet.Matcher] {
	return rapid.Custom(func(t *rapid.T) callvet.Matcher {
		m := callvet.Matcher{Mode: rapid.SampledFrom(append(native.Modes(), "")).Draw(t, "mode")}
		switch m.Mode {
		case "present", "absent":
		case "any_of", "unordered":
			m.Value = json.RawMessage(`["a",1]`)
		case "regex", "type":
			m.Value = json.RawMessage(`"string"`)
		case "numeric_tolerance":
			m.Value = json.RawMessage(`1.50`)
		default:
			m.Value = jsonValue(2).Draw(t, "value")
		}
		if rapid.Bool().Draw(t, "extras") {
			m.Optional, m.Unanchored = rapid.Bool().Draw(t, "o"), rapid.Bool().Draw(t, "u")
			m.Unordered = m.Mode != "unordered" && rapid.Bool().Draw(t, "un")
			m.Epsilon, m.Threshold, m.Relative = opt(rapid.Float64Range(0, 1)).Draw(t, "e"),
				opt(rapid.Float64Range(0, 1)).Draw(t, "t"), opt(rapid.Float64Range(0, 1)).Draw(t, "r")
			m.Tolerance = text().Draw(t, "tol")
		}
		return m
	})
}

func expectedCalls() *rapid.Generator[callvet.ExpectedCall] {
	return rapid.Custom(func(t *rapid.T) callvet.ExpectedCall {
		c := callvet.ExpectedCall{
			ID: text().Draw(t, "id"), Tools: words(1).Draw(t, "tools"),
			Optional: rapid.Bool().Draw(t, "opt"), ResultCheck: text().Draw(t, "check"),
		}
		if rapid.Bool().Draw(t, "args") {
			c.Args = object(2).Draw(t, "args")
		}
		if rapid.Bool().Draw(t, "after") {
			c.After = words(1).Draw(t, "after")
		}
		for _, k := range rapid.SliceOfNDistinct(text(), 0, 2, rapid.ID).Draw(t, "params") {
			if c.Matchers == nil {
				c.Matchers = map[string]callvet.Matcher{}
			}
			c.Matchers[k] = matchers().Draw(t, "matcher")
		}
		place := rapid.SampledFrom([]int{-2, 0, 1})
		c.Nth, c.Message = place.Draw(t, "nth"), place.Draw(t, "message")
		c.ExtraArgs = rapid.SampledFrom([]callvet.ExtraArgs{"", callvet.ExtraForbid}).Draw(t, "extra")
		return c
	})
}

func plans() *rapid.Generator[callvet.Plan] {
	return rapid.Custom(func(t *rapid.T) callvet.Plan {
		p := callvet.Plan{
			Name: text().Draw(t, "name"), MaxExtraCalls: opt(rapid.IntRange(-1, 3)).Draw(t, "max"),
			Calls: []callvet.ExpectedCall{},
			Order: rapid.SampledFrom(
				[]callvet.Order{"", callvet.OrderStrict, callvet.OrderInOrder, callvet.OrderSingle}).Draw(t, "order"),
		}
		for range rapid.IntRange(0, 3).Draw(t, "calls") {
			p.Calls = append(p.Calls, expectedCalls().Draw(t, "call"))
		}
		return p
	})
}

func scorings() *rapid.Generator[callvet.Scoring] {
	return rapid.Custom(func(t *rapid.T) callvet.Scoring {
		f := opt(rapid.Float64Range(0, 2))
		return callvet.Scoring{
			Profile: rapid.SampledFrom([]string{"", "bfcl"}).Draw(t, "p"),
			Mode:    rapid.SampledFrom([]string{"", "fuzzy"}).Draw(t, "m"),
			Epsilon: f.Draw(t, "e"), Relative: f.Draw(t, "r"), Threshold: f.Draw(t, "t"),
			Tolerance: text().Draw(t, "tol"), Unanchored: rapid.Bool().Draw(t, "u"),
			ExtraArgs:     rapid.SampledFrom([]callvet.ExtraArgs{"", callvet.ExtraIgnore}).Draw(t, "x"),
			MaxExtraCalls: opt(rapid.IntRange(-1, 9)).Draw(t, "mx"),
			ToolWeight:    f.Draw(t, "tw"), ArgsWeight: f.Draw(t, "aw"),
			Contract:           rapid.SampledFrom([]string{"", "off"}).Draw(t, "c"),
			FailedCalls:        rapid.SampledFrom([]string{"", "ignore"}).Draw(t, "failed"),
			RequireNative:      rapid.Bool().Draw(t, "rn"),
			CaseSensitiveNames: rapid.Bool().Draw(t, "cs"),
			ToolNames: opt(rapid.Custom(func(t *rapid.T) callvet.ToolNames {
				return callvet.ToolNames{
					StripPrefixes: rapid.SliceOfN(rapid.StringMatching("[a-z]{1,4}__"), 0, 2).Draw(t, "prefixes"),
					Aliases: rapid.MapOfN(rapid.StringMatching("[a-z]{1,4}"), rapid.StringMatching("[A-Z]{1,4}"),
						0, 2).Draw(t, "aliases"),
				}
			})).Draw(t, "names"),
			Selection: opt(rapid.Custom(func(t *rapid.T) callvet.SelectionScoring {
				one := 1.0
				return callvet.SelectionScoring{
					Route: &one, Agents: f.Draw(t, "sa"), Tools: f.Draw(t, "st"),
					K: rapid.SliceOfN(rapid.IntRange(1, 9), 1, 2).Draw(t, "k"),
				}
			})).Draw(t, "sel"),
		}
	})
}

func mocks() *rapid.Generator[callvet.Mock] {
	return rapid.Custom(func(t *rapid.T) callvet.Mock {
		m := callvet.Mock{Tool: filled().Draw(t, "tool")}
		if rapid.Bool().Draw(t, "args") {
			m.Args = object(1).Draw(t, "args")
		}
		if rapid.Bool().Draw(t, "state") {
			m.When = rapid.MapOfN(filled(), text(), 1, 2).Draw(t, "when")
		}
		for range rapid.IntRange(1, 3).Draw(t, "replies") {
			r := callvet.MockReply{
				Result: jsonValue(2).Draw(t, "result"), Error: text().Draw(t, "error"),
				LatencyMS: rapid.Float64Range(0, 1e6).Draw(t, "ms"),
				Status:    rapid.SampledFrom([]callvet.Status{"", callvet.StatusTimeout}).Draw(t, "s"),
			}
			if rapid.Bool().Draw(t, "template") {
				r.Result, r.Template = nil,
					json.RawMessage(`{"id":"{{fake.id}}","of":["{{args.city}} {{call.number}}"]}`)
			}
			if rapid.Bool().Draw(t, "set") {
				r.Set = map[string]callvet.MockState{filled().Draw(t, "word"): {
					Value: text().Draw(t, "value"),
					Calls: rapid.IntRange(1, 9).Draw(t, "calls"), Then: text().Draw(t, "then"),
				}}
			}
			m.Replies = append(m.Replies, r)
		}
		return m
	})
}

func expects() *rapid.Generator[callvet.Expect] {
	return rapid.Custom(func(t *rapid.T) callvet.Expect {
		e := callvet.Expect{
			ToolsNotCalled: words(1).Draw(t, "not"), MinToolCalls: opt(rapid.IntRange(0, 3)).Draw(t, "min"),
			NoToolErrors:     rapid.Bool().Draw(t, "nte"),
			ResponseNonEmpty: rapid.Bool().Draw(t, "ne"), ResponseContains: words(1).Draw(t, "rc"),
			ResponseMatches: words(1).Draw(t, "rm"),
			MaxLatencyMS:    opt(rapid.Float64Range(0, 1e9)).Draw(t, "lat"),
			MaxTokens:       opt(rapid.IntRange(0, 9)).Draw(t, "tok"), Scorers: []callvet.Scorer{
				{
					Name: "a", Expr: filled().Draw(t, "expr"), Threshold: opt(rapid.Float64Range(0, 1)).Draw(t, "least"),
					Negated: rapid.Bool().Draw(t, "negated"), Blind: rapid.Bool().Draw(t, "blind"),
				},
				{Name: "b", Exec: filled().Draw(t, "exec"), Files: words(0).Draw(t, "files"), Timeout: "5s"},
				{Name: "c", JavaScript: filled().Draw(t, "js")},
				{Name: "d", Python: filled().Draw(t, "py")},
			},
			Unsupported: []callvet.Unsupported{{
				Name: filled().Draw(t, "un"), Reason: filled().Draw(t, "ur"),
				Expected: text().Draw(t, "ue"),
			}},
			Rubric: []callvet.RubricDimension{{
				Dimension: filled().Draw(t, "d"),
				MaxScore:  rapid.Float64Range(0, 9).Draw(t, "ms"), Criteria: text().Draw(t, "cr"),
			}},
		}
		if rapid.Bool().Draw(t, "plans") {
			e.Plans = rapid.SliceOfN(plans(), 1, 3).Draw(t, "plans")
		}
		switch rapid.IntRange(0, 2).Draw(t, "tools") {
		case 0:
			e.ToolsCalled = rapid.SliceOfN(filled(), 0, 2).Draw(t, "called")
		case 1:
			e.ToolsAcceptable = rapid.SliceOfN(words(1), 0, 2).Draw(t, "acceptable")
		}
		for range rapid.IntRange(0, 2).Draw(t, "params") {
			e.ToolParams = append(e.ToolParams,
				callvet.ToolParam{
					Tool: word().Draw(t, "t"), Path: filled().Draw(t, "p"),
					Matcher: matchers().Draw(t, "m"),
				})
		}
		if rapid.Bool().Draw(t, "bounds") {
			e.Counts = rapid.SliceOfN(suiteCounts(), 0, 2).Draw(t, "counts")
			e.AllOf = rapid.SliceOfN(claims(), 1, 2).Draw(t, "claims")
			e.Not = rapid.SliceOfN(claims(), 1, 2).Draw(t, "not claims")
			e.Postconditions = [][]string{nil, {"a == 1"}}[rapid.IntRange(0, 1).Draw(t, "posts")]
			e.MaxSameCalls, e.MaxRequests = opt(rapid.IntRange(1, 3)).Draw(t, "same"),
				opt(rapid.IntRange(0, 3)).Draw(t, "requests")
			e.MinScores = map[string]float64{"call_f1": rapid.Float64Range(0, 1).Draw(t, "least score")}
			e.ResponseJSON = opt(matchers()).Draw(t, "json")
		}
		if rapid.Bool().Draw(t, "selection") {
			e.Selection = &callvet.Selection{
				Route: filled().Draw(t, "route"), SubRoute: text().Draw(t, "sub"),
				Agents: words(1).Draw(t, "agents"), Tools: rapid.SliceOfN(filled(), 0, 2).Draw(t, "tools"),
				Acceptable: words(1).Draw(t, "ok"),
			}
		}
		if rapid.Bool().Draw(t, "ref") {
			e.ReferenceData = object(2).Draw(t, "ref")
		}
		return e
	})
}

func suiteCounts() *rapid.Generator[callvet.CallCount] {
	return rapid.Custom(func(t *rapid.T) callvet.CallCount {
		c := callvet.CallCount{
			Call: expectedCalls().Draw(t, "call"), Min: opt(rapid.IntRange(0, 2)).Draw(t, "least"),
			Max: opt(rapid.IntRange(2, 4)).Draw(t, "most"),
		}
		c.Call.ID, c.Call.After, c.Call.Optional, c.Call.ResultCheck = "", nil, false, ""
		return c
	})
}

func claims() *rapid.Generator[callvet.Plan] {
	return rapid.Custom(func(t *rapid.T) callvet.Plan {
		if rapid.Bool().Draw(t, "counts only") {
			return callvet.Plan{
				Name:   word().Draw(t, "name"),
				Counts: rapid.SliceOfN(suiteCounts(), 1, 2).Draw(t, "counts"),
			}
		}
		p := plans().Draw(t, "plan")
		p.Counts = rapid.SliceOfN(suiteCounts(), 0, 1).Draw(t, "counts")
		if rapid.Bool().Draw(t, "scored") {
			p.MinScores = map[string]float64{"call_f1": rapid.Float64Range(0, 1).Draw(t, "least")}
		}
		return p
	})
}

// faults are forms of faults that lint takes.
func faults() *rapid.Generator[callvet.ToolFault] {
	return rapid.Custom(func(t *rapid.T) callvet.ToolFault {
		f := rapid.SampledFrom([]callvet.ToolFault{
			{Way: callvet.WayError, Message: "down"},
			{Way: callvet.WayTimeout, LatencyMS: 1.5},
			{Way: callvet.WayRateLimit, RetryAfterMS: 20},
			{Way: callvet.WayLatency, LatencyMS: 3},
			{Way: callvet.WayNull, At: "days"},
			{Way: callvet.WayTruncated},
			{Way: callvet.WayMalformed},
			{Way: callvet.WayStale},
			{Way: callvet.WayInject, At: "slot", Text: "x: {y}"},
		}).Draw(t, "fault")
		f.Tool, f.Nth, f.Every, f.From, f.Times = text().Draw(t, "tool"), rapid.IntRange(0, 3).Draw(t, "nth"),
			rapid.IntRange(0, 3).Draw(t, "every"), rapid.IntRange(0, 3).Draw(t, "from"),
			rapid.IntRange(0, 3).Draw(t, "times")
		f.Probability = opt(rapid.SampledFrom([]float64{0, 0.25, 1})).Draw(t, "probability")
		return f
	})
}

func safeties() *rapid.Generator[callvet.Safety] {
	return rapid.Custom(func(t *rapid.T) callvet.Safety {
		s := callvet.Safety{
			Tools: words(0).Draw(t, "tools"), Domains: words(0).Draw(t, "domains"),
			ReadOnly: rapid.Bool().Draw(t, "read_only"), ConfirmWrites: rapid.Bool().Draw(t, "confirm"),
			DenyPII:       rapid.Bool().Draw(t, "pii"),
			Confirmations: words(0).Draw(t, "yes"), Honeypots: words(0).Draw(t, "honeypots"),
			Secrets: words(0).Draw(t, "secrets"),
		}
		if rapid.Bool().Draw(t, "attacked") {
			s.Attack = &callvet.Attack{
				Name: word().Draw(t, "name"), Texts: words(0).Draw(t, "texts"), Answer: words(0).Draw(t, "answer"),
				Plant: []callvet.Plant{{
					Tool: text().Draw(t, "in"), At: text().Draw(t, "at"),
					Text: filled().Draw(t, "text"), Instead: text().Draw(t, "instead"),
				}},
				Harm: []callvet.Harm{{
					Call: callvet.ExpectedCall{
						Tools: words(1).Draw(t, "harm"),
						Args:  json.RawMessage(`{"k":1}`),
					},
					Contains:    words(0).Draw(t, "contains"),
					From:        map[string][]string{"p": words(1).Draw(t, "from")},
					Replaceable: rapid.Bool().Draw(t, "replaceable"), Key: words(0).Draw(t, "key"),
				}},
				Own: []callvet.ExpectedCall{{Tools: words(1).Draw(t, "own")}},
			}
		}
		return s
	})
}

func cases(i int) *rapid.Generator[callvet.Case] {
	return rapid.Custom(func(t *rapid.T) callvet.Case {
		c := callvet.Case{
			ID: fmt.Sprintf("c%d", i), Description: text().Draw(t, "desc"), Tags: words(0).Draw(t, "tags"),
			AsOf: text().Draw(t, "asof"), Context: text().Draw(t, "ctx"),
			Tier:       rapid.SampledFrom([]callvet.Tier{"", callvet.TierGolden, callvet.TierRubric}).Draw(t, "tier"),
			ToolChoice: text().Draw(t, "choice"),
			Input: []callvet.Turn{{
				Role:    callvet.RoleUser,
				Content: rapid.StringMatching(`\s?[a-z"':#]{1,9}[ \n]{0,2}[a-z]{1,3}`).Draw(t, "prompt"),
			}},
			Safety: opt(safeties()).Draw(t, "safety"), Faults: rapid.SliceOfN(faults(), 0, 2).Draw(t, "faults"),
			Mocks: rapid.SliceOfN(mocks(), 0, 2).Draw(t, "mocks"), Expect: expects().Draw(t, "expect"),
			Scoring: opt(scorings()).Draw(t, "scoring"), Skip: text().Draw(t, "skip"),
			Family:     rapid.SampledFrom([]string{"", "f1", "f 2"}).Draw(t, "family"),
			Selectable: rapid.Bool().Draw(t, "selectable"), Repeat: rapid.IntRange(0, 100).Draw(t, "repeat"),
		}
		if rapid.Bool().Draw(t, "tools") {
			c.ToolNames = rapid.SliceOfN(word(), 0, 2).Draw(t, "names")
		}
		if rapid.Bool().Draw(t, "turns") {
			c.Input = append(c.Input,
				callvet.Turn{
					Role: callvet.RoleAssistant,
					Calls: []callvet.Call{{
						ID: "1", Tool: "x", Args: object(1).Draw(t, "args"),
						Result: jsonValue(1).Draw(t, "res"),
					}},
				},
				callvet.Turn{Role: callvet.RoleTool, CallID: "1", Tool: "x", Content: text().Draw(t, "result")})
		}
		if rapid.Bool().Draw(t, "multi") {
			c.MultiTurn = &callvet.MultiTurn{
				MaxRounds:             rapid.IntRange(0, 3).Draw(t, "r"),
				RequiredPrerequisites: words(1).Draw(t, "req"), PrerequisitesOrdered: rapid.Bool().Draw(t, "o"),
			}
		}
		if rapid.Bool().Draw(t, "foreign") {
			c.Foreign = jsonValue(2).Draw(t, "foreign")
		}
		return c
	})
}

func TestExportLoadsBackTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := &callvet.Suite{
			Name: text().Draw(t, "name"), Version: text().Draw(t, "version"), SystemPrompt: text().Draw(t, "system"),
			Dialect: "callvet",
			Defaults: callvet.Defaults{
				MaxRounds: rapid.IntRange(0, 3).Draw(t, "rounds"),
				Scoring:   scorings().Draw(t, "scoring"),
			},
			Mocks:  rapid.SliceOfN(mocks(), 0, 2).Draw(t, "mocks"),
			Faults: rapid.SliceOfN(faults(), 0, 2).Draw(t, "suite faults"),
			Tools: []callvet.Tool{{
				Name: "a", Description: text().Draw(t, "d"), Parameters: object(3).Draw(t, "p"),
				ReadOnly: opt(rapid.Bool()).Draw(t, "ro"), Tags: words(0).Draw(t, "tags"),
			}},
		}
		for i := range rapid.IntRange(1, 3).Draw(t, "cases") {
			want.Cases = append(want.Cases, cases(i).Draw(t, "case"))
		}
		for _, format := range []string{"yaml", "json"} {
			b, err := Export(want, format)
			if err != nil {
				t.Fatal(err)
			}
			got, problems, err := parse(b, "suite."+format, Options{KeepTokens: true})
			if err != nil || len(problems) > 0 {
				t.Fatalf("%v %v\n%s", err, problems, b)
			}
			if diff := cmp.Diff(want, got, samePlaces()); diff != "" {
				t.Fatalf("%s: -want +got\n%s\n%s", format, diff, b)
			}
			again, err := Export(got, format)
			if err != nil || string(again) != string(b) {
				t.Fatalf("%s: a second export differs (%v)", format, err)
			}
		}
	})
}

func TestExportKeepsNilAndEmptyApart(t *testing.T) {
	t.Parallel()
	want := &callvet.Suite{Dialect: "callvet", Tools: []callvet.Tool{{Name: "a"}}, Cases: []callvet.Case{
		{
			ID: "1", Input: []callvet.Turn{{Role: "user", Content: "x"}}, ToolNames: []string{},
			Expect: callvet.Expect{ToolsCalled: []string{}},
		},
		{
			ID: "2", Input: []callvet.Turn{{Role: "user", Content: "x"}},
			Expect: callvet.Expect{ToolsAcceptable: [][]string{{"__none__"}}},
		},
		{
			ID: "3", Input: []callvet.Turn{{Role: "user", Content: "x"}},
			Expect: callvet.Expect{Plans: []callvet.Plan{{Calls: []callvet.ExpectedCall{}}}},
		},
		{
			ID: "4", Input: []callvet.Turn{{Role: "user", Content: "x"}},
			Expect: callvet.Expect{Plans: []callvet.Plan{{Calls: []callvet.ExpectedCall{{
				Tools: []string{"a"},
				Args:  json.RawMessage(`{}`),
			}, {Tools: []string{"a"}}}}}},
		},
	}}
	for _, format := range []string{"yaml", "json"} {
		b, err := Export(want, format)
		if err != nil {
			t.Fatal(err)
		}
		got, problems, err := parse(b, "s", Options{})
		if err != nil || len(problems) > 0 {
			t.Fatal(err, problems)
		}
		if diff := cmp.Diff(want, got, exact()); diff != "" {
			t.Errorf("%s: -want +got\n%s", format, diff)
		}
	}
}
