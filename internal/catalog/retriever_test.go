// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/value"
)

func layers(names ...string) []callvet.LayerTime {
	var out []callvet.LayerTime
	for _, n := range names {
		out = append(out, callvet.LayerTime{Layer: n})
	}
	return out
}

func TestRead(t *testing.T) {
	t.Parallel()
	two := []callvet.Ranked{{Tool: "a", Score: 2}, {Tool: "b", Score: 1.5}}
	for name, c := range map[string]struct {
		body string
		want *callvet.Decision
	}{
		"documented": {
			`{"tools":[{"id":"a","score":2,"parts":{"name":1}},{"name":"b","score":1.5}],"route":"action","sub_route":null,"agents":["x"],"latency_ms":{"tools":3.5}}`,
			&callvet.Decision{
				Route: "action", Agents: []string{"x"},
				Tools: []callvet.Ranked{{Tool: "a", Score: 2, Parts: []callvet.Part{{Name: "name", Value: 1}}}, two[1]},
				Layers: []callvet.LayerTime{
					{Layer: "route"},
					{Layer: "sub_route"},
					{Layer: "agents"},
					{Layer: "tools", MS: 3.5},
				},
			},
		},
		"names": {
			`["a","b"]`,
			&callvet.Decision{Tools: []callvet.Ranked{{Tool: "a"}, {Tool: "b"}}, Layers: layers("tools")},
		},
		"results": {
			`{"results":[{"tool_id":"a","total_score":2,"base_score":1.5},{"tool_id":"b","score":1.5}]}`,
			&callvet.Decision{Tools: []callvet.Ranked{{
				Tool: "a", Score: 2,
				Parts: []callvet.Part{{Name: "base_score", Value: 1.5}},
			}, two[1]}, Layers: layers("tools")},
		},
		"within": {
			`{"data":{"output":[{"id":"a","score":2},{"id":"b","score":1.5}]}}`,
			&callvet.Decision{Tools: two, Layers: layers("tools")},
		},
		"nothing fits": {
			`{"tools":[],"abstained":true}`,
			&callvet.Decision{Abstained: true, Layers: layers("tools")},
		},
		"only a route": {
			`{"selected_route":"smalltalk","agent":"x"}`,
			&callvet.Decision{Route: "smalltalk", Agents: []string{"x"}, Layers: layers("route", "agents")},
		},
		"abstains and gives": {
			`{"tools":["a"],"abstained":true}`,
			&callvet.Decision{
				Tools: []callvet.Ranked{{Tool: "a"}}, Abstained: true, Odd: []string{OddAbstained},
				Layers: layers("tools"),
			},
		},
		"upside down": {
			`[{"id":"a","score":1.5},{"id":"b"},{"id":"c","score":2},{"id":"d","score":3}]`,
			&callvet.Decision{Tools: []callvet.Ranked{
				{Tool: "a", Score: 1.5},
				{Tool: "b"},
				{Tool: "c", Score: 2},
				{Tool: "d", Score: 3},
			}, Odd: []string{OddOrder}, Layers: layers("tools")},
		},
		"infinite, twice": {
			`[{"id":"a","score":1e999},{"id":"a","score":1}]`,
			&callvet.Decision{
				Tools: []callvet.Ranked{{Tool: "a"}, {Tool: "a", Score: 1}},
				Odd:   []string{OddScore, OddTwice}, Layers: layers("tools"),
			},
		},
		"no answer":      {`{"ok":true}`, nil},
		"no names":       {`{"tools":[{"score":1}]}`, nil},
		"tools no list":  {`{"tools":"a"}`, nil},
		"route no text":  {`{"route":1}`, nil},
		"a number":       {`3`, nil},
		"too many":       {`[` + strings.Repeat(`"a",`, MaxAnswerTools) + `"a"]`, nil},
		"agents no list": {`{"agents":{"a":1},"tools":[]}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, err := value.Parse([]byte(c.body))
			if err != nil {
				t.Fatal(err)
			}
			got, err := ReadDecision(v)
			var f *callvet.Fault
			if c.want == nil {
				if !errors.As(err, &f) || f.Kind != callvet.FaultMalformed {
					t.Fatalf("got %+v, %v", got, err)
				}
				return
			}
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{
		`{"tools":[{"id":"a","score":2}],"route":"r","agents":["x"]}`, `["a"]`,
		`{"data":{"results":[]}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := value.Parse(b)
		if err != nil {
			return
		}
		d, err := ReadDecision(v)
		var fault *callvet.Fault
		if err != nil && !errors.As(err, &fault) || err == nil && len(d.Layers) == 0 {
			t.Errorf("%s: %+v, %v", b, d, err)
		}
		if err == nil {
			if _, err := json.Marshal(d); err != nil {
				t.Error(err)
			}
		}
	})
}

func retrieverAsk(text string) *callvet.Request {
	return &callvet.Request{CaseID: "1", Turns: []callvet.Turn{{Role: callvet.RoleUser, Content: text}}}
}

// A service only gets the question and k, and its answer is kept.
func TestRemote(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		var got map[string]any
		if err := json.Unmarshal(b, &got); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(map[string]any{"query": "väder?", "k": 3.0}, got); diff != "" ||
			r.Method != http.MethodPost || r.URL.Query().Get("token") != "a b&" || r.Header.Get("X-Key") != "hunter22" {
			t.Errorf("%s %v %s", r.Method, r.Header, diff)
		}
		switch r.URL.Path {
		case "/busy":
			w.Header().Set("Retry-After", "2")
			w.WriteHeader(http.StatusTooManyRequests)
		case "/broken":
			fmt.Fprint(w, `{"tools":[`)
		case "/big":
			fmt.Fprint(w, strings.Repeat(" ", 2000))
		case "/moved":
			http.Redirect(w, r, "/ok", http.StatusFound)
		default:
			fmt.Fprint(w, `{"tools":["a"],"echo":"hunter22"}`)
		}
	}))
	t.Cleanup(srv.Close)
	open := func(path string) callvet.Model {
		m, target, err := OpenRemote(
			RemoteConfig{
				URL: srv.URL + path + "?token=${T}", Headers: map[string]string{"X-Key": "${KEY}"},
				Lookup: func(name string) string { return map[string]string{"KEY": "hunter22", "T": "a b&"}[name] },
				K:      3, MaxBytes: 1000, Client: srv.Client(),
			})
		if err != nil || !target.Selects || strings.Contains(target.Name, "token") {
			t.Fatalf("%+v %v", target, err)
		}
		return m
	}
	resp, err := open("/ok").Generate(t.Context(), retrieverAsk("väder?"))
	if err != nil || len(resp.Decision.Tools) != 1 || resp.Decision.Asked != 3 || !resp.Complete ||
		len(resp.Exchanges) != 1 || strings.Contains(resp.Exchanges[0].Response, "hunter22") {
		t.Fatalf("%+v %v", resp, err)
	}
	srv2 := httptest.NewServer(http.NotFoundHandler())
	srv2.Close()
	gone, _, err := OpenRemote(RemoteConfig{URL: srv2.URL})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		m    callvet.Model
		kind callvet.FaultKind
		wait time.Duration
	}{
		"/busy":   {open("/busy"), callvet.FaultRateLimit, 2 * time.Second},
		"/broken": {open("/broken"), callvet.FaultMalformed, 0},
		"/big":    {open("/big"), callvet.FaultTooLarge, 0}, "gone": {gone, callvet.FaultNetwork, 0},
	} {
		_, err := c.m.Generate(t.Context(), retrieverAsk("väder?"))
		var f *callvet.Fault
		if !errors.As(err, &f) || f.Kind != c.kind || f.RetryAfter != c.wait || len(f.Exchanges) != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
	moved, _, err := OpenRemote(
		RemoteConfig{
			URL: srv.URL + "/moved?token=${T}", Headers: map[string]string{"X-Key": "${KEY}"},
			Lookup: func(name string) string { return map[string]string{"KEY": "hunter22", "T": "a b&"}[name] }, K: 3,
		})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := moved.Generate(t.Context(), retrieverAsk("väder?")); err == nil ||
		!strings.Contains(err.Error(), "status 302: it sends to "+srv.URL+"/ok, which is not followed") {
		t.Error(err)
	}
	for _, bad := range []string{"", "localhost:80", "ftp://x/y", "http://u:p@x/y"} {
		if _, _, err := OpenRemote(RemoteConfig{URL: bad}); !errors.Is(err, callvet.ErrInvalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// Behind a whole gate agents are decided before tools, and shut tools out; behind half a
// gate, and where no agent was chosen, they come after them.
func TestGate(t *testing.T) {
	t.Parallel()
	open := func(gate float64) *Retriever {
		o := retrieve.Default()
		o.Agents.Gate = gate
		m, _, err := OpenRetriever(t.Context(), RetrieverConfig{
			Name: "c", K: 2, Options: o,
			Agents: []retrieve.Agent{
				{Name: "rail", Keywords: []string{"rails"}},
				{Name: "sky", Keywords: []string{"cloud"}},
			},
			Homes: map[string]retrieve.Home{
				"weather": {Agents: []string{"sky"}},
				"trains":  {Agents: []string{"rail"}},
			},
			Entries: []retrieve.Entry{
				{
					Tool:   callvet.Tool{Name: "weather", Description: "Forecast of rain and wind."},
					Agents: []string{"sky"},
				},
				{
					Tool:   callvet.Tool{Name: "trains", Description: "Departures of trains, in the rain too."},
					Agents: []string{"rail"},
				},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for _, c := range []struct {
		gate     float64
		question string
		tools    []string
		agents   []string
		layers   []callvet.LayerTime
	}{
		{0, "rain and wind, rails", []string{"weather", "trains"}, []string{"sky"}, layers("tools", "agents")},
		{1, "rain and wind, rails", []string{"trains"}, []string{"rail"}, layers("agents", "tools")},
		{0.1, "rain and wind, rails", []string{"weather", "trains"}, []string{"sky"}, layers("tools", "agents")},
		{1, "wind", []string{"weather", "trains"}, []string{"sky"}, layers("tools", "agents")},
	} {
		d, err := open(c.gate).Decide(t.Context(), c.question)
		if err != nil {
			t.Fatal(err)
		}
		for i := range d.Layers {
			d.Layers[i].MS = 0
		}
		if !cmp.Equal(d.Names(), c.tools) || !cmp.Equal(d.Agents, c.agents) || !cmp.Equal(d.Layers, c.layers) {
			t.Errorf("gate %v, %q: %+v", c.gate, c.question, d)
		}
	}
	e, err := open(1).Explain(t.Context(), "rain and wind, rails", "weather")
	if err != nil || e.Gate == nil || !cmp.Equal(e.Gate.Chosen, []string{"rail"}) || e.Tool.Rank != 0 {
		t.Errorf("%+v %v", e, err)
	}
}

// always is a router of one mind.
type always struct{ route, sub string }

func (a always) Route(string) retrieve.RouteDecision {
	return retrieve.RouteDecision{Route: a.route, SubRoute: a.sub, Rule: -1}
}

func TestLocal(t *testing.T) {
	t.Parallel()
	entries := []retrieve.Entry{
		{Tool: callvet.Tool{Name: "weather", Description: "Forecast of rain, wind and temperature."}},
		{Tool: callvet.Tool{Name: "trains", Description: "Delays and departures of trains at a station."}},
	}
	m, target, err := OpenRetriever(t.Context(), RetrieverConfig{
		Name: "retrieve:c.json", Entries: entries, Options: retrieve.Default(), K: 1,
		Agents: []retrieve.Agent{
			{Name: "rail", Keywords: []string{"train"}},
			{Name: "sky", Keywords: []string{"rain"}},
		},
		Homes:  map[string]retrieve.Home{"weather": {Agents: []string{"sky"}}},
		Routes: always{"action", "travel"},
	})
	if err != nil || !target.Selects {
		t.Fatalf("%+v %v", target, err)
	}
	for q, want := range map[string][2]string{
		"Will there be rain?":              {"weather", "sky"},
		"Is my train late at the station?": {"trains", "rail"},
	} {
		resp, err := m.Generate(t.Context(), retrieverAsk(q))
		if err != nil {
			t.Fatal(err)
		}
		d := resp.Decision
		if len(d.Tools) != 1 || d.Tools[0].Tool != want[0] || len(d.Tools[0].Parts) == 0 || len(d.Agents) != 1 ||
			d.Agents[0] != want[1] || d.Route != "action" || d.SubRoute != "travel" || len(d.Layers) != 4 {
			t.Errorf("%q: %+v", q, d)
		}
	}
	if d, err := m.Decide(t.Context(), ""); err != nil || len(d.Tools) != 0 {
		t.Errorf("an empty question gives %+v, %v", d, err)
	}
}

// A variable is filled in and its value appears nowhere; an unset one is reported.
func TestVariables(t *testing.T) {
	t.Parallel()
	_, target, err := OpenRemote(
		RemoteConfig{URL: "http://h/${TENANT}/x?key=${KEY}", Lookup: func(string) string { return "hunter22" }})
	if err != nil || strings.Contains(fmt.Sprint(target), "hunter22") {
		t.Errorf("%+v %v", target, err)
	}
	if _, _, err := OpenRemote(RemoteConfig{URL: "http://h/x?key=${KEY}"}); !errors.Is(err, callvet.ErrDenied) ||
		!strings.Contains(err.Error(), "$KEY") {
		t.Error(err)
	}
}
