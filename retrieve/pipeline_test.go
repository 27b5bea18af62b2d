// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
)

const small = `{"agents":[{"name":"travel","keywords":["trains","ferries"],"description":"Answers about travel."},{"name":"weather","keywords":["forecast"],"description":"Answers about weather.","intent":{"patterns":["(?i)umbrella"],"always":true}}],
	"route_agents":{"action":["travel"]},
	"tools":[{"name":"trains","description":"When trains leave and arrive.","agents":["travel"]},{"name":"forecast","description":"Rain and sun of the next days.","agents":["weather"]},{"name":"loose","description":"Jokes about ferries."}]}`

func rules(t testing.TB) *retrieve.RouteRules {
	t.Helper()
	r, err := retrieve.NewRules(
		retrieve.RouteSettings{Rules: []retrieve.RouteRule{{
			Route: "action", SubRoute: "travel",
			Patterns: []string{`(?i)\btrains?\b`},
		}}, Default: "knowledge"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func pipeline(t testing.TB, change func(*retrieve.Options)) *retrieve.Pipeline {
	t.Helper()
	c, _, err := retrieve.LoadCatalogue("c.json", []byte(small))
	if err != nil {
		t.Fatal(err)
	}
	o, err := c.Options(retrieve.Default())
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&o)
	}
	tick := time.Unix(0, 0)
	p, err := retrieve.NewPipeline(t.Context(), o, c, rules(t),
		func() time.Time { tick = tick.Add(time.Millisecond); return tick })
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPipeline(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		question string
		change   func(*retrieve.Options)
		want     callvet.Decision
	}{
		{
			"When do trains leave?", nil,
			callvet.Decision{
				Route: "action", SubRoute: "travel", Agents: []string{"travel"},
				Tools: []callvet.Ranked{{Tool: "trains"}},
				Layers: []callvet.LayerTime{
					{Layer: "route", MS: 1},
					{Layer: "sub_route"},
					{Layer: "tools", MS: 1},
					{Layer: "agents", MS: 1},
				},
			},
		},
		{ // a gate that is whole comes first, and an intent before what fits better
			"When do trains leave? Do I need an umbrella?", func(o *retrieve.Options) { o.Agents.Gate = 1 },
			callvet.Decision{
				Route: "action", SubRoute: "travel", Agents: []string{"weather"},
				Tools: []callvet.Ranked{},
				Layers: []callvet.LayerTime{
					{Layer: "route", MS: 1},
					{Layer: "sub_route"},
					{Layer: "agents", MS: 1},
					{Layer: "tools", MS: 1},
				},
			},
		},
		{ // no agents for nothing
			"When do trains leave?", func(o *retrieve.Options) { o.Threshold = 5 },
			callvet.Decision{
				Route: "action", SubRoute: "travel", Abstained: true,
				Layers: []callvet.LayerTime{
					{Layer: "route", MS: 1},
					{Layer: "sub_route"},
					{Layer: "tools", MS: 1},
					{Layer: "agents", MS: 1},
				},
			},
		},
	} {
		d, err := pipeline(t, c.change).Decide(t.Context(), c.question, 1)
		if err != nil {
			t.Fatal(err)
		}
		got := d.Answer()
		if d.Route.Rule != 0 || d.Route.Matched != "trains" {
			t.Errorf("the route is not explained: %+v", d.Route)
		}
		for i := range got.Tools {
			if len(got.Tools[i].Parts) == 0 {
				t.Errorf("a score without parts: %+v", got.Tools[i])
			}
			got.Tools[i].Score, got.Tools[i].Parts = 0, nil
		}
		if c.want.Tools != nil && len(c.want.Tools) == 0 {
			for _, x := range got.Tools {
				if x.Tool == "trains" {
					t.Error("the gate lets trains through")
				}
			}
			got.Tools = c.want.Tools
		}
		if diff := cmp.Diff(&c.want, got); diff != "" {
			t.Errorf("%s: %s", c.question, diff)
		}
	}
	p := pipeline(t, func(o *retrieve.Options) { o.Agents.Gate = 1 })
	e, err := p.Explain(t.Context(), "trains and an umbrella", "trains")
	if err != nil || e.Gate == nil || e.Gate.Chosen[0] != "weather" {
		t.Errorf("%+v, %v", e.Gate, err)
	}
	p.NoTools = []string{"action"}
	e, err = p.Explain(t.Context(), "trains", "trains")
	if got := e.Reasons(); err != nil || len(got) != 1 ||
		got[0] != "nothing is given: questions of the route action need no tool" {
		t.Errorf("%q, %v", got, err)
	}
	p.Routes, p.Agents, p.Now = nil, nil, nil
	d, err := p.Decide(t.Context(), "trains", 0)
	if diff := cmp.Diff([]retrieve.LayerTime{{Layer: "tools"}}, d.Layers); err != nil || diff != "" ||
		len(d.Hits) == 0 {
		t.Errorf("%v %s", err, diff)
	}
}

func TestCatalogueOptions(t *testing.T) {
	t.Parallel()
	c := &retrieve.Catalogue{Agents: []retrieve.Agent{{
		Name:   "a",
		Intent: &retrieve.AgentIntent{Patterns: []string{"("}},
	}}}
	if _, err := c.Options(retrieve.BigTool()); !errors.Is(err, callvet.ErrInvalid) {
		t.Error(err)
	}
	c = &retrieve.Catalogue{Primary: [][]string{{"x"}}, Entries: []retrieve.Entry{{Namespace: []string{"x"}}}}
	if o, err := c.Options(retrieve.BigTool()); err != nil || cmp.Diff([][]string{{"x"}}, o.Primary) != "" ||
		o.Fallback != nil {
		t.Error(o.Primary, o.Fallback, err)
	}
}

// A reranked tool shows the reranker's score as its own, and the formula's terms as what
// stood before.
func TestParts(t *testing.T) {
	t.Parallel()
	p := retrieve.Parts{Lexical: 0.5, Semantic: 0.25, Gate: -0.25}
	want := []callvet.Part{
		{Name: "lexical", Value: 0.5},
		{Name: "semantic", Value: 0.25},
		{Name: "agent gate", Value: -0.25},
	}
	if diff := cmp.Diff(want, p.Terms()); diff != "" {
		t.Error(diff)
	}
	p.Reranked = &retrieve.Reranked{Score: -3, Before: 0.5, Rank: 4}
	want = []callvet.Part{
		{Name: "reranked", Value: -3},
		{Name: "before lexical", Value: 0.5},
		{Name: "before semantic", Value: 0.25},
		{Name: "before agent gate", Value: -0.25},
		{Name: "before rank", Value: 4},
	}
	if diff := cmp.Diff(want, p.Terms()); diff != "" {
		t.Error(diff)
	}
}

// A service links what was evaluated.
func ExamplePipeline() {
	c, _, err := retrieve.LoadCatalogue("tools.json",
		[]byte(
			`[{"name":"trains","description":"When trains leave."},{"name":"forecast","description":"Rain and sun."}]`))
	if err != nil {
		panic(err)
	}
	o, err := c.Options(retrieve.Default())
	if err != nil {
		panic(err)
	}
	p, err := retrieve.NewPipeline(context.Background(), o, c, nil, time.Now)
	if err != nil {
		panic(err)
	}
	d, err := p.Decide(context.Background(), "Will it rain?", 1)
	if err != nil {
		panic(err)
	}
	answer, err := json.Marshal(d.Answer().Names())
	if err != nil {
		panic(err)
	}
	fmt.Println(string(answer))
	// Output: ["forecast"]
}
