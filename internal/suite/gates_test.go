// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/callvet/callvet/contract"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/internal/suite"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/stats/gate"
	"github.com/callvet/callvet/value"
)

func bound(metric string, d gate.Direction, b float64, u panel.Unit) gates.Gate {
	return gates.Gate{Metric: metric, Kind: gates.Bound, Direction: d, Bound: b, Unit: u, Severity: gates.Hard}
}

func gatefilePtr[T any](x T) *T { return &x }

func TestGatefileRead(t *testing.T) {
	t.Parallel()
	zero := gates.Gate{Metric: "safety_incidents", Kind: gates.Zero, Direction: gate.AtMost, Severity: gates.Hard}
	full := bound("true_success", gate.AtLeast, 0.8, "")
	full.Name, full.Target, full.Key, full.Value, full.Severity = "Argentina", "agent", "language", "es-AR", gates.Soft
	full.MinUnits, full.MinCoverage = gatefilePtr(17), gatefilePtr(0.5)
	limited, ignoring := zero, zero
	ignoring.Lost = gates.LostIgnore
	limited.MaxRate = 0.01
	for text, want := range map[string]suite.GateFile{
		"gates:\n  - schema_valid >= 0.98": {Gates: []gates.Gate{bound("schema_valid",
			gate.AtLeast, 0.98, "")}},
		"- schema_valid>=98%": {Gates: []gates.Gate{bound("schema_valid",
			gate.AtLeast, 0.98, panel.UnitRate)}},
		"- a >= 99.9%": {Gates: []gates.Gate{bound("a", gate.AtLeast, 0.999,
			panel.UnitRate)}},
		"- pass^3 ≥ .5": {Gates: []gates.Gate{bound("pass^3",
			gate.AtLeast, 0.5, "")}},
		"- latency_p90 ≤ 500 ms": {Gates: []gates.Gate{bound("latency_p90", gate.AtMost,
			500, panel.UnitMS)}},
		"- latency_p90 <= 1.5s": {Gates: []gates.Gate{bound("latency_p90", gate.AtMost,
			1500, panel.UnitMS)}},
		"- cost_per_pass <= $0.05": {Gates: []gates.Gate{bound("cost_per_pass",
			gate.AtMost, 0.05, panel.UnitUSD)}},
		"- tokens_p90 <= 800 tokens": {Gates: []gates.Gate{bound("tokens_p90", gate.AtMost,
			800, panel.UnitTokens)}},
		"- tokens_p90 <= 1e3": {Gates: []gates.Gate{bound("tokens_p90", gate.AtMost,
			1000, "")}},
		"- safety_incidents = 0":                                 {Gates: []gates.Gate{zero}},
		"- {metric: safety_incidents, zero: true, max_rate: 1%}": {Gates: []gates.Gate{limited}},
		"- {metric: safety_incidents, zero: true, lost: ignore}": {Gates: []gates.Gate{ignoring}},
		"gates:\n  - overcall_rate <= 0.1\n  - {metric: overcall, at_most: 0.2}": {Gates: []gates.Gate{
			bound("over_call_rate", gate.AtMost, 0.1, ""), bound("over_call", gate.AtMost, 0.2, ""),
		}},
		"policy: lenient\ngates:\n  - {gate: over_call_rate <= 0.1, min_n: 0}": {
			Policy: gate.Lenient,
			Gates: []gates.Gate{
				{
					Metric: "over_call_rate", Kind: gates.Bound, Direction: gate.AtMost, Bound: 0.1, Severity: gates.Hard,
					MinUnits: gatefilePtr(0),
				},
			},
		},
		"- {metric: pass_rate, at_least: 0.9, correlation: measured}": {Gates: []gates.Gate{
			{
				Metric: "pass_rate", Kind: gates.Bound, Direction: gate.AtLeast, Bound: 0.9, Severity: gates.Hard,
				Correlation: gates.CorrelationMeasured,
			},
		}},
		"- {metric: pass_rate, baseline: true}": {Gates: []gates.Gate{{
			Metric: "pass_rate", Kind: gates.Regression,
			Severity: gates.Hard,
		}}},
		"- {metric: pass_rate, slice: 'language=*', baseline: {margin: 5%, min_effect: 0.01}}": {Gates: []gates.Gate{
			{
				Metric: "pass_rate", Kind: gates.Regression, Severity: gates.Hard, Key: "language", Value: "*",
				Margin: gatefilePtr(0.05), MinEffect: gatefilePtr(0.01),
			},
		}},
		`{"callvet": 1, "gates": [{"metric": "true_success", "name": "Argentina", "target": "agent", "slice": "language=es-AR", "at_least": "80%", "severity": "soft", "min_n": 17, "min_coverage": 0.5}]}`: {Gates: []gates.Gate{
			func() gates.Gate { g := full; g.Unit = panel.UnitRate; return g }(),
		}},
		"gates: []": {},
		"gates: []\nquarantine:\n  - {case: a, owner: ana, until: 2026-12-01}\n  - {case: b, owner: ben, until: '2026-12-02', reason: flaky}": {Quarantine: []suite.Quarantine{
			{Case: "a", Owner: "ana", Until: "2026-12-01"},
			{Case: "b", Owner: "ben", Until: "2026-12-02", Reason: "flaky"},
		}},
	} {
		got, problems := suite.ReadGates("gates.yaml", []byte(text))
		if strings.HasPrefix(text, "{") {
			got, problems = suite.ReadGates("gates.json", []byte(text))
		}
		if len(problems) > 0 {
			t.Errorf("%s: %v", text, problems)
			continue
		}
		if d := cmp.Diff(want, *got, cmpopts.IgnoreFields(gates.Gate{}, "Position"),
			cmpopts.IgnoreFields(suite.Quarantine{}, "Position")); d != "" {
			t.Errorf("%s (-want +got):\n%s", text, d)
		}
		if err := gatefileAccepts(t, text); err != "" {
			t.Errorf("the schema refuses %s: %s", text, err)
		}
	}
}

func TestProblemsHaveTheirPlace(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"gates:\n  - metrik: a\n    at_least: 1":                     `g.yaml:2:5: unknown key "metrik" (did you mean "metric"?)`,
		"gate:\n  - a >= 1":                                          `g.yaml:1:1: unknown key "gate" (did you mean "gates"?)`,
		"gates:\n  - a => 1":                                         `g.yaml:2:5: expected a bound, found > 1 (0.98, 98%, 500ms, 1.5s, $0.05 or 800 tokens)`,
		"gates:\n  - a > 1":                                          `g.yaml:2:5: bounds are held by >= and <=, not by > (>=)`,
		"gates:\n  - a >= many":                                      `g.yaml:2:5: expected a bound, found many (0.98, 98%, 500ms, 1.5s, $0.05 or 800 tokens)`,
		"gates:\n  - a >= -1":                                        `g.yaml:2:5: expected a bound, found -1 (0.98, 98%, 500ms, 1.5s, $0.05 or 800 tokens)`,
		"gates:\n  - a = 3":                                          `g.yaml:2:5: only 0 can be asked for exactly (write >= or <=)`,
		"gates:\n  - {metric: a}":                                    `g.yaml:2:5: the gate on a has no bound (one of at_least, at_most, zero, baseline, newly_failing)`,
		"gates:\n  - {at_least: 1}":                                  `g.yaml:2:5: the gate names no metric (metric: schema_valid)`,
		"gates:\n  - {metric: a, at_least: 1, at_most: 2}":           `g.yaml:2:5: the gate on a asks for two things (keep one of gate, at_least, at_most, zero, baseline, or make two gates)`,
		"gates:\n  - {metric: a, at_least: 1, slice: tool=pay}":      "g.yaml:2:37: the slice tool=pay does not name the role of the tool (expected_tool=pay for all cases that expect the tool, called_tool=pay for its calls)",
		"gates:\n  - {metric: a, at_least: 1, slice: es-AR}":         `g.yaml:2:37: expected KEY=VALUE, found "es-AR" (slice: language=es-AR, or language=* for every value)`,
		"gates:\n  - {metric: a, at_least: 1, severity: harder}":     `g.yaml:2:40: there is no "harder" here (one of hard, soft)`,
		"gates:\n  - {metric: a, zero: true, correlation: measured}": `g.yaml:2:5: correlation belongs to gates with a bound on a rate of tasks (at_least: 0.9)`,
		"gates:\n  - {metric: a, at_least: 1, min_n: -3}":            `g.yaml:2:37: expected a whole number from 0 on, found -3 (min_n: 30)`,
		"gates:\n  - {metric: a, at_least: 1, min_coverage: 90}":     `g.yaml:2:44: expected a share from 0 to 1, found 90 (0.05 or 5%)`,
		"gates:\n  - {metric: a, at_least: 1, max_rate: 1%}":         `g.yaml:2:5: max_rate belongs to gates that allow nothing (zero: true)`,
		"policy: strictly\ngates: [a >= 1]":                          `g.yaml:1:9: there is no "strictly" here (one of strict, lenient)`,
		"policy: strict":                                             `g.yaml:1:1: the file has no list of gates (gates: [schema_valid >= 0.98])`,
		"policy: strict\npolicy: strict\ngates: [a >= 1]":            `g.yaml:2:1: the key "policy" stands here for the second time, first on line 1 (remove one)`,
		"gates: {a: 1}":                                              `g.yaml:1:8: expected a list of gates, found a mapping (- schema_valid >= 0.98)`,
		"":                                                           "g.yaml: the file is empty (`callvet gates init` writes one to start from)",
	} {
		_, problems := suite.ReadGates("g.yaml", []byte(text))
		if len(problems) != 1 || problems[0].Error() != want {
			t.Errorf("%q:\n got %v\nwant %s", text, problems, want)
		}
		if len(problems) > 0 && problems[0].Code != "duplicate-key" && text != "" && gatefileAccepts(t, text) == "" {
			t.Errorf("the schema takes %q, which the reader refuses: %v", text, problems)
		}
	}
	if _, problems := suite.ReadGates("g.yaml", []byte("gates: [\n")); len(problems) != 1 || problems[0].Line == 0 {
		t.Errorf("not YAML: %v", problems)
	}
}

// gatefileAccepts returns what the published schema has against a text; "" for nothing.
func gatefileAccepts(t *testing.T, text string) string {
	t.Helper()
	doc, bad := doc.Read("g.yaml", []byte(text))
	if bad != nil {
		return bad.Error()
	}
	s, err := contract.Compile(json.RawMessage(suite.GatesSchema()))
	if err != nil {
		t.Fatal(err)
	}
	v, err := value.Parse(doc.Root.JSON())
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, violation := range s.Check(v) {
		got += violation.Path + ": " + violation.Message + "; "
	}
	return got
}

func TestTemplates(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"basic": {"schema_valid >= 0.98 =", "arg_em >= 0.90 =", "over_call_rate <= 0.10 ="},
		"regression": {
			"schema_valid >= 0.98 =", "arg_em >= 0.90 =", "execution_success >= 0.97 =", "tool_latency_p90 <= 500 ms =",
			"true_success >= 0.85 =", "true_success >= 0.80 language=pt-BR", "true_success >= 0.80 language=es-AR",
			"over_call_rate <= 0.10 =", "safety_incidents = 0 =",
		},
	} {
		text := template(t, name)
		if d := cmp.Diff(want, labels(t, text)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		for _, n := range []struct {
			bound    float64
			failures int
			message  string
		}{
			{0.98, 0, "n = 183"},
			{0.98, 1, "277"},
			{0.90, 0, "n = 36"},
			{0.90, 1, "54"},
			{0.97, 0, "n = 122"},
			{0.97, 1, "184"},
			{0.85, 0, "n = 23"},
			{0.85, 1, "35"},
			{0.80, 0, "n = 17"},
		} {
			got, _ := gate.MinN(n.bound, n.failures, gate.Alpha)
			if !strings.HasSuffix(n.message, fmt.Sprint(got)) || !strings.Contains(text, n.message) {
				t.Errorf("bound %v with %d failures needs %d; the template %s should say %q", n.bound, n.failures, got,
					name, n.message)
			}
		}
	}
	if _, ok := suite.GatesTemplate("nothing"); ok {
		t.Error("there is a template of any name")
	}
}

// TestTemplateTurnedOn: what the basic template has off is, with "# " removed as the template
// describes, good gates, and has all that the table has.
func TestTemplateTurnedOn(t *testing.T) {
	t.Parallel()
	on := labels(t, regexp.MustCompile(`(?m)^  # (- |  [a-z_]+: )`).ReplaceAllString(template(t, "basic"), "  $1"))
	for _, label := range labels(t, template(t, "regression")) {
		if !slices.Contains(on, label) && !strings.HasSuffix(label, "es-AR") {
			t.Errorf("%s is not there to be turned on: %q", label, on)
		}
	}
}

func template(t testing.TB, name string) string {
	t.Helper()
	text, ok := suite.GatesTemplate(name)
	if !ok {
		t.Fatal("no template " + name)
	}
	return string(text)
}

// labels are the gates of a file, which must be good by the reader and by the schema.
func labels(t *testing.T, text string) []string {
	t.Helper()
	f, problems := suite.ReadGates("gates.yaml", []byte(text))
	if len(problems) > 0 || f.Policy != gate.Strict {
		t.Fatal(f.Policy, problems)
	}
	if err := gatefileAccepts(t, text); err != "" {
		t.Error(err)
	}
	var out []string
	for _, g := range f.Gates {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s=%s", g.Label(), g.Key, g.Value)))
	}
	return out
}

func FuzzGatefileRead(f *testing.F) {
	f.Add([]byte(template(f, "basic")))
	f.Add([]byte(template(f, "regression")))
	f.Add([]byte(`{"gates": [{"metric": "a", "at_least": "98%", "slice": "k=*"}]}`))
	f.Add([]byte("- a >= 1e999\n- {gate: b = 0}"))
	f.Add([]byte("gates: [[], {}, 3, null, {metric: [], zero: yes, baseline: {margin: x}}]"))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, problems := suite.ReadGates("g.yaml", b)
		for i := range problems {
			if problems[i].Message == "" {
				t.Error("a problem without a message")
			}
		}
		for i := range file.Gates {
			g := &file.Gates[i]
			if len(problems) == 0 && (g.Metric == "" || g.Kind == "" || !(g.Bound >= 0)) {
				t.Errorf("gate %+v", g)
			}
			_ = g.Label()
		}
	})
}
