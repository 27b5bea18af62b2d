// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
)

func staff() []retrieve.Agent {
	return []retrieve.Agent{
		{Name: "alpha", Description: "handles one and two", Keywords: []string{"een", "red"}},
		{Name: "beta", Description: "handles two", Keywords: []string{"blue"}},
		{Name: "gamma", Description: "handles three", Keywords: []string{"red"}},
		{Name: "delta", Description: "nothing"},
		{Name: "front", Description: "nothing"},
		{Name: "åska", Description: "nothing"},
	}
}

func chooser(t *testing.T, change func(*retrieve.Options)) *retrieve.Chooser {
	t.Helper()
	o := retrieve.BigTool()
	o.Agents.Hints = map[string][]string{"r": {"front", "delta"}}
	if change != nil {
		change(&o)
	}
	c, err := retrieve.NewChooser(t.Context(), o, staff())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The points of the additive formula by hand, then what routes and intents make of them.
func TestChooseAdditive(t *testing.T) {
	t.Parallel()
	intents := func(o *retrieve.Options) {
		o.Agents.Intents = []retrieve.Intent{
			{
				Agent: "åska", Routes: []string{"r"}, Always: true,
				Match: func(q string) bool { return strings.Contains(q, "thunder") },
			},
			{Agent: "gamma", Routes: []string{"r"}, Match: func(q string) bool { return strings.Contains(q, "map") }},
			{Agent: "nobody", Always: true, Match: func(string) bool { return true }},
		}
	}
	for name, c := range map[string]struct {
		question, route string
		recent          []string
		change          func(*retrieve.Options)
		want            []string
	}{
		// red: alpha 3, gamma 3; two: alpha 1, beta 1.
		"keywords and words":       {question: "Red, two!", want: []string{"alpha", "gamma", "beta"}},
		"a name is four":           {question: "beta red", want: []string{"beta", "alpha", "gamma"}},
		"a name without its marks": {question: "askade", want: []string{"åska", "alpha", "beta"}},
		"ties stay in order":       {question: "zzz", want: []string{"alpha", "beta", "gamma"}},
		"recent is four": {
			question: "red", recent: []string{"delta"},
			want: []string{"delta", "alpha", "gamma"},
		},
		"only six are candidates": {
			question: "zzz", recent: []string{"åska"},
			change: func(o *retrieve.Options) { o.Agents.Candidates = 1 }, want: []string{"åska"},
		},
		"fewer": {
			question: "red", change: func(o *retrieve.Options) { o.Agents.Limit = 1 },
			want: []string{"alpha"},
		},
		"a route prefers":      {question: "red", route: "r", want: []string{"delta", "front", "alpha"}},
		"who was chosen stays": {question: "delta red", route: "r", want: []string{"front", "delta", "alpha"}},
		"an intent joins the hints": {
			question: "map beta delta", route: "r", change: intents,
			want: []string{"gamma", "front", "beta"},
		},
		"it goes by the catalog": {
			question: "map blue", route: "r",
			change: func(o *retrieve.Options) { intents(o); o.Agents.Hints = nil; o.Agents.Limit = 2 },
			want:   []string{"gamma", "beta"},
		},
		"not on other routes": {
			question: "map blue", route: "s", change: intents,
			want: []string{"beta", "alpha", "gamma"},
		},
		"always goes first": {
			question: "thunder blue", route: "s", change: intents,
			want: []string{"åska", "beta", "alpha"},
		},
		"or has its place": {
			question: "thunder", route: "r", change: intents,
			want: []string{"delta", "front", "åska"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := chooser(t, c.change).Choose(t.Context(), c.question, c.route, c.recent)
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}

// last prefers what stands last.
type last struct{ saw int }

func (l *last) Rerank(_ context.Context, _ string, texts []string) ([]float64, error) {
	l.saw = len(texts)
	out := make([]float64, len(texts))
	for i := range out {
		out[i] = float64(i)
	}
	return out, nil
}

func TestChooseReranked(t *testing.T) {
	t.Parallel()
	l := &last{}
	got, err := chooser(t, func(o *retrieve.Options) { o.Reranker, o.Agents.Candidates = l, 4 }).Choose(t.Context(),
		"gamma red", "", nil)
	if diff := cmp.Diff([]string{"delta", "beta", "alpha"}, got); diff != "" || err != nil || l.saw != 4 {
		t.Errorf("%d read, %v\n%s", l.saw, err, diff)
	}
}

func gatedEntries() []retrieve.Entry {
	tool := func(name, text string, agents ...string) retrieve.Entry {
		return retrieve.Entry{
			Tool: callvet.Tool{Name: name, Description: text}, Namespace: []string{"tools"},
			Agents: agents,
		}
	}
	return []retrieve.Entry{
		tool("queues", "queues on roads and red lights", "traffic"), tool("songs", "songs about roads", "music"),
		tool("free", "anything about roads"),
	}
}

// A whole gate shuts tools of other agents out, a part of one takes that part of their score, and
// tools without agents pass; without chosen agents there is no gate.
func TestSearchFor(t *testing.T) {
	t.Parallel()
	for _, f := range []retrieve.Formula{retrieve.Mixed, retrieve.ReciprocalRank, retrieve.Additive} {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			open := func(gate float64) *retrieve.Index {
				o := retrieve.Default()
				if f == retrieve.Additive {
					o = retrieve.BigTool()
				}
				o.Formula, o.Agents.Gate = f, gate
				x, err := retrieve.New(t.Context(), o, gatedEntries())
				if err != nil {
					t.Fatal(err)
				}
				return x
			}
			search := func(x *retrieve.Index, agents ...string) (out []string, parts map[string]retrieve.Hit) {
				r, err := x.SearchFor(t.Context(), "queues and red lights on roads", agents, 3)
				if err != nil {
					t.Fatal(err)
				}
				parts = map[string]retrieve.Hit{}
				for _, h := range r.Hits {
					out, parts[h.ID] = append(out, h.ID), h
				}
				return out, parts
			}
			free, scores := search(open(0), "music")
			if len(free) != 3 || free[0] != "queues" {
				t.Fatalf("without a gate: %v", free)
			}
			if same, _ := search(open(1)); !cmp.Equal(free, same) {
				t.Errorf("nobody was chosen: %v", same)
			}
			if got, _ := search(open(1), "music"); len(got) != 2 || got[0] == "queues" || got[1] == "queues" {
				t.Errorf("a whole gate: %v", got)
			}
			if got, _ := search(open(1), "traffic"); len(got) != 2 || got[0] != "queues" {
				t.Errorf("its own agent: %v", got)
			}
			_, half := search(open(0.5), "music")
			h, was := half["queues"], scores["queues"]
			if d := h.Score - was.Score/2; d > 1e-9 || d < -1e-9 || h.Parts.Gate != h.Score-was.Score ||
				half["free"].Parts.Gate != 0 {
				t.Errorf("half a gate: %+v of %+v", h, was)
			}
			x := open(1)
			e, err := x.ExplainFor(t.Context(), "queues and red lights on roads", "queues", []string{"music"})
			if err != nil || e.Gate == nil || e.Gate.Rank != 1 || e.Tool.Rank != 0 || e.Tool.Score != 0 ||
				e.Winner == nil || e.Winner.ID == "queues" {
				t.Fatalf("%+v %v", e, err)
			}
			if r := e.Reasons(); len(r) == 0 ||
				!strings.Contains(r[0],
					"belongs to traffic, and music was chosen; without the gate it would have rank 1") {
				t.Errorf("%q", r)
			}
			if e, err = x.ExplainFor(t.Context(), "songs", "songs", []string{"music"}); err != nil || e.Gate != nil ||
				e.Tool.Rank != 1 || e.Reasons() != nil {
				t.Errorf("%+v %v", e, err)
			}
		})
	}
	o := retrieve.Default()
	o.Agents.Gate = 1.5
	if _, err := retrieve.New(t.Context(), o, nil); !errors.Is(err, callvet.ErrInvalid) {
		t.Errorf("a gate of 1.5: %v", err)
	}
}
