// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tiers

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/callvet/callvet/verify/proof"
)

// evalSuite is the document's EvalSuiteResult, with the lists of its diff.
type evalSuite struct {
	RunID     string `json:"runId"`
	Timestamp string
	Tier      string
	ToolName  string
	Metadata  struct {
		ToolVersion, DescriptionHash string
		RegistrySize                 int
		EvalFileHash                 string
	}
	StalenessWarnings []string
	Cases             []struct {
		ID, Description string
		Passed          bool
		DurationMS      float64 `json:"durationMs"`
		Error           string
		Details         map[string]any
	}
	Summary struct {
		TotalCases, Passed, Failed, SkippedAssertions int
		TotalDurationMS                               float64  `json:"totalDurationMs"`
		EstimatedCostUSD                              *float64 `json:"estimatedCostUsd"`
	}
	BaselineRunID                                            string `json:"baselineRunId"`
	Regressions, NewPasses, Unchanged, Added, Removed, Flaky []string
	Verdicts                                                 []struct{ ID, Verdict string }
	Quarantined                                              []struct{ ID, Owner, Until string }
}

const resultsDue = 38

// results compares runs in the document's form of results, and their differences.
func results(ctx context.Context, c *proof.Check, l *lab, data string) error {
	const subject = "results"
	const file = "get-weather.golden.json"
	text, err := os.ReadFile(filepath.Join(data, "origins", "seed4", file))
	if err != nil {
		return fmt.Errorf("read the document's own cases: %w", err)
	}
	all := tools("get_weather", "get_forecast", "get_air_quality", "get_time")
	if err := errors.Join(l.write(file, text), l.write("tools.json", all), l.write("right.yaml", script(true)),
		l.write("wrong.yaml", script(false))); err != nil {
		return err
	}
	run := func(name, suite, agent string, more ...string) error {
		args := append([]string{
			"run", suite, "--tools", "tools.json", "-m", "script:" + agent, "-q", "--no-cache",
			"--name", name,
		}, more...)
		t, err := l.run(ctx, args...)
		if err == nil && t.code != 0 {
			err = fmt.Errorf("run %s: exit %d: %s", name, t.code, t.errs)
		}
		return err
	}
	if err := errors.Join(run("right", file, "right.yaml"), run("wrong", file, "wrong.yaml"),
		run("some", file, "right.yaml", "--filter", "gs-get-weather-001,gs-get-weather-002")); err != nil {
		return err
	}
	var failed error
	reported := func(name string, more ...string) (r evalSuite) {
		failed = errors.Join(failed,
			l.decoded(ctx, &r, append([]string{"report", name, "--format", "evalsuite"}, more...)...))
		return r
	}
	is := func(what string, holds bool, detail any) { c.Compare(subject, what, holds, "%v", detail) }
	if err := document(ctx, l, is, reported("right"), text); err != nil {
		return err
	}
	differences(is, reported)
	if failed != nil {
		return failed
	}
	if err := repeated(is, l, run, reported); err != nil {
		return err
	}
	return errors.Join(quarantined(ctx, is, l, reported), failed)
}

type comparing func(what string, holds bool, detail any)

// document compares a result with its description in the document.
func document(ctx context.Context, l *lab, is comparing, r evalSuite, text []byte) error {
	var raw map[string]json.RawMessage
	if err := l.decoded(ctx, &raw, "report", "right", "--format", "evalsuite"); err != nil {
		return err
	}
	for _, key := range []string{
		"runId", "timestamp", "tier", "toolName", "metadata", "stalenessWarnings", "cases",
		"summary", "regressions", "newPasses",
	} {
		is("has "+key, raw[key] != nil && string(raw[key]) != "null", string(raw[key]))
	}
	is("tier", r.Tier == "golden", r.Tier)
	is("toolName", r.ToolName == "get_weather", r.ToolName)
	is("toolVersion", r.Metadata.ToolVersion == "1.0.0", r.Metadata)
	is("descriptionHash", r.Metadata.DescriptionHash == sum([]byte("Does get_weather")), r.Metadata)
	is("registrySize", r.Metadata.RegistrySize == 4, r.Metadata)
	is("evalFileHash", r.Metadata.EvalFileHash == sum(text), r.Metadata)
	is("summary", r.Summary.TotalCases == 6 && r.Summary.Passed == 6 && r.Summary.Failed == 0 &&
		r.Summary.SkippedAssertions == 0 && r.Summary.TotalDurationMS > 0, r.Summary)
	is("an unknown cost is left out", r.Summary.EstimatedCostUSD == nil, r.Summary)
	is("cases", len(r.Cases) == 6 && r.Cases[0].ID == "gs-get-weather-001" && r.Cases[0].Passed &&
		r.Cases[0].Error == "" && r.Cases[0].Details["toolsCalled"] != nil, r.Cases)
	is("without a baseline nothing is compared",
		r.BaselineRunID == "" && len(r.Regressions)+len(r.NewPasses)+len(r.Unchanged) == 0, r)
	return nil
}

// differences compares the comparisons of runs.
func differences(is comparing, reported func(string, ...string) evalSuite) {
	r, worse := reported("right"), reported("wrong", "--baseline", "right")
	is("regressions", len(worse.Regressions) == 6 && len(worse.NewPasses)+len(worse.Unchanged) == 0 &&
		worse.BaselineRunID == r.RunID, worse)
	is("a failed case has the reason", worse.Summary.Failed == 6 && worse.Cases[0].Error != "" && !worse.Cases[0].Passed,
		worse.Cases)
	better := reported("right", "--baseline", "wrong")
	is("newPasses", len(better.NewPasses) == 6 && len(better.Regressions) == 0, better)
	is("unchanged", len(reported("right", "--baseline", "right").Unchanged) == 6, better)
	is("added", slices.Equal(reported("right", "--baseline", "some").Added,
		[]string{"gs-get-weather-003", "gs-get-weather-004", "gs-get-weather-005", "gs-get-weather-006"}), "")
	is("removed", len(reported("some", "--baseline", "right").Removed) == 4, "")
	is("one attempt each has no verdict by attempts", len(better.Verdicts) == 0, better.Verdicts)
}

func sum(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b))[:12] }

// repeated compares runs with five attempts at each case: one got worse, one is flaky, one is
// unchanged, and only gates decide whether that is too much.
func repeated(is comparing, l *lab, run func(name, suite, agent string, more ...string) error,
	reported func(string, ...string) evalSuite,
) error {
	var cases []json.RawMessage
	agent := map[string][]object{}
	ids := []string{"gs-a-001", "gs-a-002", "gs-a-003", "gs-a-004"}
	right, wrong := &trial{calls: call("a"), text: "x"}, &trial{calls: call("b"), text: "x"}
	fails := map[string]int{"gs-a-001": 5, "gs-a-002": 3} // attempts of the candidate
	for _, id := range ids {
		cases = append(cases,
			(&trial{
				row: id, expect: `{"toolsCalled":["a"]}`,
				more: fmt.Sprintf(`"input":{"message":"Do %s."}`, id),
			}).caseOf(id))
		for _, name := range []string{"before", "after"} {
			var bad []int
			for i := range fails[id] {
				if name == "after" {
					bad = append(bad, i)
				}
			}
			if len(bad) > 0 {
				rule := wrong.rule(id)
				rule["repeat"] = bad
				agent[name] = append(agent[name], rule)
			}
			priced := right.rule(id)
			for _, s := range priced["steps"].([]object) {
				s["usage"] = object{"input_tokens": 1, "output_tokens": 1, "cost_usd": 0.001}
			}
			agent[name] = append(agent[name], priced)
		}
	}
	err := errors.Join(l.write("repeats.json", cases), l.write("tools.json", tools("a", "b")))
	for name, rules := range agent {
		err = errors.Join(err, l.write(name+".yaml", object{"model": "m", "rules": rules, "otherwise": "error"}),
			run(name, "repeats.json", name+".yaml", "--repeat", "5"))
	}
	if err != nil {
		return err
	}
	r := reported("after", "--baseline", "before")
	got := map[string]string{}
	for _, v := range r.Verdicts {
		got[v.ID] = v.Verdict
	}
	is("attempts show what got worse", got["gs-a-001"] == "worse", got)
	is("a flaky case is named", got["gs-a-002"] == "flaky" && slices.Equal(r.Flaky, []string{"gs-a-002"}), r.Flaky)
	is("what stayed is unchanged", got["gs-a-003"] == "unchanged" && slices.Contains(r.Unchanged, "gs-a-003"), got)
	is("regressions are those that pass less than half", slices.Equal(r.Regressions, []string{"gs-a-001", "gs-a-002"}),
		r.Regressions)
	cost := reported("before").Summary.EstimatedCostUSD
	is("a known cost is summed", cost != nil && *cost > 0.0399 && *cost < 0.0401, cost)
	return nil
}

// quarantined compares gates and results of cases in quarantine.
func quarantined(ctx context.Context, is comparing, l *lab, reported func(string, ...string) evalSuite) error {
	gate := func(until string) (output, error) {
		text := "gates: [{metric: pass_rate, at_least: 0.15, min_n: 1}]\nquarantine:\n"
		for _, id := range []string{"gs-a-001", "gs-a-002"} {
			text += fmt.Sprintf("  - {case: %s, owner: ana, until: %s, reason: flaky}\n", id, until)
		}
		if until == "" {
			text = "gates: [{metric: pass_rate, at_least: 0.15, min_n: 1}]\n"
		}
		if err := l.write("gates.yaml", text); err != nil {
			return output{}, err
		}
		return l.run(ctx, "gate", "after", "--gates", "gates.yaml")
	}
	for _, way := range []struct {
		name, until string
		passes      bool
		contains    string
	}{
		{"a gate sees every case", "", false, ""},
		{
			"not those in quarantine, and reports it", "2999-12-31", true,
			"gs-a-001 is in quarantine until 2999-12-31 (ana: flaky) and in no gate: 0 of 5 judged attempts passed",
		},
		{"and sees them again after the day", "2020-01-01", false, "the quarantine of gs-a-001 ended on 2020-01-01"},
	} {
		t, err := gate(way.until)
		if err != nil {
			return err
		}
		is(way.name, (t.code == 0) == way.passes &&
			strings.Contains(strings.Join(strings.Fields(t.out+t.errs), " "), way.contains), t)
	}
	if _, err := gate("2999-12-31"); err != nil {
		return err
	}
	q := reported("after", "--gates", "gates.yaml").Quarantined
	is("results name what is in quarantine",
		len(q) == 2 && q[0].ID == "gs-a-001" && q[0].Owner == "ana" && q[0].Until == "2999-12-31", q)
	for name, text := range map[string]string{
		"a quarantine needs an owner": "{case: a, until: 2999-01-01}",
		"a quarantine needs an end":   "{case: a, owner: b}",
	} {
		if err := l.write("bad.yaml", "gates: [pass_rate >= 0.5]\nquarantine: ["+text+"]\n"); err != nil {
			return err
		}
		t, err := l.run(ctx, "gate", "after", "--gates", "bad.yaml")
		if err != nil {
			return err
		}
		is(name, t.code == 2, t)
	}
	return nil
}
