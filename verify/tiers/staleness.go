// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tiers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet/verify/proof"
)

const stalenessDue = 26

// registry returns the tools for the trials of staleness, with the change of a trial.
func registry(change func(tools map[string]object) []object) []object {
	of := func(name, text string) object {
		return object{
			"name": name, "version": "1.2.0", "description": text,
			"parameters": object{"type": "object", "properties": object{"city": object{"type": "string"}}},
		}
	}
	all := map[string]object{
		"get_weather":  of("get_weather", "Current weather of a city"),
		"get_forecast": of("get_forecast", "Weather forecast of a city for the coming days"),
		"pay_invoice":  of("pay_invoice", "Pays an open invoice from an account"),
	}
	more := []object{}
	if change != nil {
		more = change(all)
	}
	var out []object
	for _, name := range []string{"get_weather", "get_forecast", "pay_invoice"} {
		if all[name] != nil {
			out = append(out, all[name])
		}
	}
	return append(out, more...)
}

// staleness compares the reports on cases if the tools, the prompt or the model have changed since the cases were
// made.
func staleness(ctx context.Context, c *proof.Check, l *lab, _ string) error {
	const subject = "staleness"
	is := func(what string, holds bool, detail any) { c.Compare(subject, what, holds, "%v", detail) }
	cases := []json.RawMessage{(&trial{
		row: "r", expect: `{"toolsCalled":["get_weather"]}`,
		stubs: `{"get_weather":{"v":1}}`,
	}).caseOf("gs-get-weather-001")}
	agent := object{
		"model":     "m",
		"rules":     []object{(&trial{calls: call("get_weather"), text: "x"}).rule("gs-get-weather-001")},
		"otherwise": "error",
	}
	err := errors.Join(l.write("evals.json", cases), l.write("tools.json", registry(nil)), l.write("agent.yaml", agent),
		l.write("other.yaml", agent))
	if err != nil {
		return err
	}
	type result struct {
		Stale  bool
		Groups []struct {
			Cases    []string
			Warnings []struct{ Code, Tool, Text string }
			Unknown  []string
		}
	}
	reported := func(args ...string) (r result, codes []string, text string) {
		if e := l.decoded(ctx, &r, append([]string{"stale", "--json"}, args...)...); e != nil {
			err = errors.Join(err, e)
		}
		for _, g := range r.Groups {
			for _, w := range g.Warnings {
				codes, text = append(codes, w.Code), text+w.Text+"\n"
			}
		}
		return r, codes, text
	}
	r, codes, _ := reported("evals.json", "--tools", "tools.json")
	is("missing records are reported", len(codes) == 0 && len(r.Groups) == 1 && len(r.Groups[0].Unknown) == 1, r)
	for _, args := range [][]string{
		{"case", "lock", "evals.json", "--tools", "tools.json", "-m", "script:agent.yaml"},
		{"run", "evals.json", "--tools", "tools.json", "-m", "script:agent.yaml", "-q", "--name", "made"},
	} {
		t, err := l.run(ctx, args...)
		if err != nil {
			return err
		}
		if t.code != 0 {
			return fmt.Errorf("callvet %v: exit %d: %s", args, t.code, t.errs)
		}
	}
	described := func(name string) func(map[string]object) []object {
		return func(all map[string]object) []object { all[name]["description"] = "Something else"; return nil }
	}
	extra := func(names ...string) func(map[string]object) []object {
		return func(map[string]object) (out []object) {
			for _, name := range names {
				out = append(out,
					object{
						"name": name,
						"description": map[bool]string{
							true:  "Gives the current weather in a city.",
							false: "Deals with " + name,
						}[strings.HasPrefix(name, "weather")],
						"parameters": object{"type": "object"},
					})
			}
			return out
		}
	}
	for _, way := range []struct {
		name   string
		change func(map[string]object) []object
		model  string
		want   []string
		has    string
	}{
		{"nothing", nil, "script:agent.yaml", nil, ""},
		{
			"a description", described("get_weather"), "",
			[]string{"stale-description"},
			"generated against description hash " + sum([]byte("Current weather of a city")),
		},
		{"a schema", func(all map[string]object) []object {
			all["get_weather"]["parameters"] = object{"type": "object"}
			return nil
		}, "", []string{"stale-schema"}, ""},
		{
			"a major version",
			func(all map[string]object) []object { all["get_weather"]["version"] = "2.0.0"; return nil }, "",
			[]string{"stale-version"},
			"version 2.0.0",
		},
		{
			"a minor version",
			func(all map[string]object) []object { all["get_weather"]["version"] = "1.9.0"; return nil }, "", nil, "",
		},
		{
			"a tool that is gone", func(all map[string]object) []object { delete(all, "get_weather"); return nil }, "",
			[]string{"stale-tool"},
			"",
		},
		{"a neighbour", described("pay_invoice"), "", nil, ""},
		{"a neighbour that overlaps", func(all map[string]object) []object {
			all["get_forecast"]["version"] = "1.2.0"
			all["get_forecast"]["description"] = "Weather forecast of a city for the days to come"
			return nil
		}, "", []string{"stale-neighbour"}, "get_forecast"},
		{"another model", nil, "script:other.yaml", []string{"stale-model"}, "script:other.yaml"},
		{
			"a new tool that overlaps", extra("weather_now"), "",
			[]string{"stale-overlap"},
			"weather_now is new and like get_weather",
		},
		{"growth by less than half", extra("send_email"), "", nil, ""},
		{
			"growth by more than half", extra("send_email", "open_door"), "",
			[]string{"stale-registry"},
			"from 3 to 5 tools",
		},
		{
			"growth that overlaps", extra("send_email", "weather_now"), "",
			[]string{"stale-overlap", "stale-registry"},
			"of the new ones these overlap: weather_now (like get_weather)",
		},
	} {
		if err := l.write("now.json", registry(way.change)); err != nil {
			return err
		}
		args := []string{"evals.json", "--tools", "now.json"}
		if way.model != "" {
			args = append(args, "-m", way.model)
		}
		_, codes, text := reported(args...)
		is(way.name, slices.Equal(codes, way.want) && strings.Contains(text, way.has), fmt.Sprint(codes, text))
	}
	if err != nil {
		return err
	}
	return errors.Join(stalenessOfRuns(ctx, l, is, registry(described("get_weather")),
		func(args ...string) []string { _, codes, _ := reported(args...); return codes }), err)
}

// stalenessOfRuns compares the reports of runs, and the effect of reviewing cases.
func stalenessOfRuns(ctx context.Context, l *lab, is func(string, bool, any), changed []object,
	codes func(...string) []string,
) error {
	if err := l.write("now.json", changed); err != nil {
		return err
	}
	t, err := l.run(ctx, "run", "evals.json", "--tools", "now.json", "-m", "script:other.yaml", "--name", "later")
	if err != nil {
		return err
	}
	is("a run reports it and continues", t.code == 0 && strings.Contains(t.errs, "generated against description hash"), t)
	var made, later evalSuite
	if err := errors.Join(l.decoded(ctx, &made, "report", "made", "--format", "evalsuite"),
		l.decoded(ctx, &later, "report", "later", "--format", "evalsuite")); err != nil {
		return err
	}
	is("results of fresh cases have no warning", len(made.StalenessWarnings) == 0, made.StalenessWarnings)
	is("results of stale cases have theirs", len(later.StalenessWarnings) == 2, later.StalenessWarnings)
	if t, err = l.run(ctx, "lint", "evals.json", "--tools", "now.json"); err != nil {
		return err
	}
	is("lint warns", t.code == 0 && strings.Contains(t.errs, "stale-description"), t)
	is("a run against its own suite", len(codes("made", "--tools", "tools.json")) == 0, "")
	is("a run against other tools", slices.Equal(codes("made", "--tools", "now.json"), []string{"stale-description"}),
		codes("made", "--tools", "now.json"))
	is("a run against another model",
		slices.Equal(codes("made", "--tools", "tools.json", "-m", "script:other.yaml"), []string{"stale-model"}), "")
	if t, err = l.run(ctx, "stale", "evals.json", "--tools", "now.json", "--strict"); err != nil {
		return err
	}
	is("--strict fails a build", t.code == 3, t)
	if t, err = l.run(ctx, "case", "lock", "evals.json", "--tools", "now.json", "--reviewed"); err != nil {
		return err
	}
	is("what was reviewed is fresh", t.code == 0 && len(codes("evals.json", "--tools", "now.json")) == 0, t)
	envelope := object{
		"metadata": object{
			"toolName": "get_weather", "toolVersion": "0.9",
			"descriptionHash": "000000000000", "registrySize": 1, "tier": "golden",
		},
		"cases": []json.RawMessage{(&trial{row: "r", expect: `{"toolsCalled":["get_weather"]}`}).caseOf(
			"gs-get-weather-002")},
	}
	system := "name: n\ncallvet: 1\nsystem_prompt: Be kind.\ntools: [{name: get_weather, description: d}]\ncases: [{id: a, prompt: x, expected_tool: get_weather}]\n"
	if err := errors.Join(l.write("envelope.json", envelope), l.write("own.yaml", system)); err != nil {
		return err
	}
	got := codes("envelope.json", "--tools", "tools.json")
	is("the envelope of a file",
		slices.Equal(got, []string{"stale-description", "stale-version", "stale-registry"}), got)
	if t, err = l.run(ctx, "case", "lock", "own.yaml"); err != nil {
		return err
	}
	if err := l.write("own.yaml", strings.Replace(system, "kind", "terse", 1)); err != nil {
		return err
	}
	got = codes("own.yaml")
	is("the system prompt", t.code == 0 && slices.Equal(got, []string{"stale-prompt"}), fmt.Sprint(t, got))
	if t, err = l.run(ctx, "lint", "own.yaml"); err != nil {
		return err
	}
	is("lint of a suite in callvet's own form", strings.Contains(t.errs, "stale-prompt"), t)
	return nil
}
