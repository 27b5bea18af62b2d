// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"cmp"
	"embed"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/stats/gate"
)

//go:embed gates.schema.json
var gatefileSchema string

//go:embed templates/*.yaml
var templates embed.FS

// GatesSchema is the published JSON Schema (draft 2020-12) of gate files.
func GatesSchema() []byte { return []byte(gatefileSchema) }

// GatesTemplates names the commented gate files to start from, the default first: basic uses
// metrics that every run measures, regression contains all sample thresholds.
func GatesTemplates() []string { return []string{"basic", "regression"} }

// GatesTemplate is the gate file of that name; ok is false where there is none.
// Source: Evaluating Tool Calling, section 9.
func GatesTemplate(name string) (text []byte, ok bool) {
	if !slices.Contains(GatesTemplates(), name) {
		return nil, false
	}
	text, err := templates.ReadFile("templates/" + name + ".yaml")
	return text, err == nil
}

// MaxBytes and MaxGates bound a gate file.
const (
	MaxGatesBytes = 1 << 20
	MaxGates      = 1000
)

// GateFile is the content of a gate file.
type GateFile struct {
	// Policy and Correction are empty where the file has none.
	Policy     gate.Policy
	Correction gates.Correction
	Gates      []gates.Gate
	// Quarantine are cases that are in no gate until a day.
	Quarantine []Quarantine
}

// Quarantine takes a case out of gates for a while; its owner is responsible for it.
type Quarantine struct {
	Case, Owner string
	// Until is the last day, as 2026-12-01.
	Until  string
	Reason string
	callvet.Position
}

// Over reports whether the last day is over.
func (q *Quarantine) Over(now time.Time) bool { return now.UTC().Format(time.DateOnly) > q.Until }

const (
	gatefileFileKeys = "callvet policy correction looks gates quarantine"
	gateKeys         = "gate name metric slice target at_least at_most zero baseline severity min_n min_coverage max_rate lost newly_failing attempts removed population correlation looks"
	baselineKeys     = "margin min_effect"
)

// ReadGates reads a gate file: a mapping with the list gates, or that list alone. With problems,
// the file contains the readable part.
func ReadGates(name string, data []byte) (*GateFile, []callvet.Problem) {
	if len(data) > MaxGatesBytes {
		return &GateFile{}, []callvet.Problem{{
			Position: callvet.Position{File: name}, Code: "too-large",
			Message: fmt.Sprintf("a gate file has at most %d bytes", MaxGatesBytes),
		}}
	}
	if len(strings.TrimSpace(string(data))) == 0 {
		return &GateFile{}, []callvet.Problem{{
			Position: callvet.Position{File: name}, Code: "empty",
			Message: "the file is empty", Fix: "`callvet gates init` writes one to start from",
		}}
	}
	document, bad := doc.Read(name, data)
	if bad != nil {
		return &GateFile{}, []callvet.Problem{document.Problem(bad)}
	}
	r := &gatefileReader{doc.Reader{File: document, Format: "gates"}}
	r.Duplicates()
	f := &GateFile{}
	if document.Root.Kind == doc.List {
		r.gates(f, &document.Root)
		return f, r.Problems
	}
	listed, looks := false, gates.Looks("")
	r.Fields(&document.Root, strings.Fields(gatefileFileKeys), func(key string, v *doc.Node) bool {
		switch key {
		case "callvet":
			if v.Text() != "1" {
				r.Note(v.At, "unknown-version", "callvet: 1", "this format has version 1")
			}
		case "policy":
			f.Policy = gate.Policy(r.oneOf(v, string(gate.Strict), string(gate.Lenient)))
		case "correction":
			f.Correction = gates.Correction(r.oneOf(v, string(gates.Holm), string(gates.BH)))
		case "looks":
			looks = gates.Looks(r.oneOf(v, string(gates.LooksAny)))
		case "gates":
			listed = true
			r.gates(f, v)
		case "quarantine":
			r.quarantine(f, v)
		default:
			return false
		}
		return true
	})
	if looks != "" {
		f.LookAnyTime()
	}
	if !listed && len(r.Problems) == 0 {
		r.Note(document.Root.At, "no-gates", "gates: [schema_valid >= 0.98]", "the file has no list of gates")
	}
	return f, r.Problems
}

// LookAnyTime makes each gate one that may be looked at any number of times.
func (f *GateFile) LookAnyTime() {
	for i := range f.Gates {
		f.Gates[i].Looks = gates.LooksAny
	}
}

// quarantine reads the cases that are out of gates for a while.
func (r *gatefileReader) quarantine(f *GateFile, n *doc.Node) {
	if n.Kind != doc.List {
		r.Note(n.At, "wrong-type", "- {case: ID, owner: NAME, until: 2026-12-01}",
			"expected a list of cases, found %s", n.Shown())
		return
	}
	seen := map[string]bool{}
	r.File.Elements(n, func(i int, v *doc.Node) {
		if i >= MaxGates {
			return
		}
		q := Quarantine{Position: r.File.Position(v.At)}
		r.Fields(v, []string{"case", "owner", "until", "reason"}, func(key string, v *doc.Node) bool {
			switch key {
			case "case":
				q.Case = r.text(v)
			case "owner":
				q.Owner = r.text(v)
			case "until":
				q.Until = v.Text()
			case "reason":
				q.Reason = r.text(v)
			default:
				return false
			}
			return true
		})
		_, err := time.Parse(time.DateOnly, q.Until)
		switch {
		case v.Kind != doc.Map:
			return
		case q.Case == "":
			r.Note(v.At, "no-case", "case: ID", "the quarantine names no case")
		case seen[q.Case]:
			r.Note(v.At, "duplicate-case", "keep one", "the case %q is in quarantine twice", doc.Clip(q.Case, 60))
		case q.Owner == "":
			r.Note(v.At, "no-owner", "owner: NAME", "the case %q in quarantine has no owner", doc.Clip(q.Case, 60))
		case err != nil:
			r.Note(v.At, "no-end", "until: 2026-12-01", "the quarantine of %q has no last day", doc.Clip(q.Case, 60))
		default:
			seen[q.Case] = true
			f.Quarantine = append(f.Quarantine, q)
		}
	})
	if len(n.Items) > MaxGates {
		r.Note(n.At, "too-many", "", "at most %d cases are in quarantine", MaxGates)
	}
}

// gatefileReader turns nodes into gates and notes what it cannot accept.
type gatefileReader struct {
	doc.Reader
}

func (r *gatefileReader) text(n *doc.Node) string {
	if n.Kind != doc.String || n.Text() == "" {
		r.Note(n.At, "wrong-type", "", "expected text, found %s", n.Shown())
		return ""
	}
	return n.Text()
}

func (r *gatefileReader) oneOf(n *doc.Node, known ...string) string {
	s := r.text(n)
	for _, k := range known {
		if s == k {
			return s
		}
	}
	if s != "" {
		r.Note(n.At, "unknown-value", "one of "+strings.Join(known, ", "), "there is no %q here", doc.Clip(s, 60))
	}
	return ""
}

func (r *gatefileReader) gates(f *GateFile, n *doc.Node) {
	if n.Kind != doc.List {
		r.Note(n.At, "wrong-type", "- schema_valid >= 0.98", "expected a list of gates, found %s", n.Shown())
		return
	}
	r.File.Elements(n, func(i int, v *doc.Node) {
		switch {
		case i == MaxGates:
			r.Note(v.At, "too-many", "", "a gate file has at most %d gates", MaxGates)
		case i < MaxGates:
			if g, ok := r.gate(v); ok {
				f.Gates = append(f.Gates, g)
			}
		}
	})
}

// gate reads one gate: "metric >= bound", or a mapping.
func (r *gatefileReader) gate(n *doc.Node) (gates.Gate, bool) {
	before := len(r.Problems)
	g := gates.Gate{Severity: gates.Hard, Position: r.File.Position(n.At)}
	conditions := 0 // how many conditions were given
	if n.Kind == doc.String {
		r.sentence(&g, n)
		return g, len(r.Problems) == before
	}
	r.Fields(n, strings.Fields(gateKeys), func(key string, v *doc.Node) bool {
		switch key {
		case "at_least", "at_most", "zero", "baseline", "gate", "newly_failing":
			conditions++
		}
		return r.condition(&g, key, v) || r.setting(&g, key, v)
	})
	if n.Kind != doc.Map || len(r.Problems) > before {
		return g, false
	}
	r.conflicts(n, &g, conditions)
	return g, len(r.Problems) == before
}

// conflicts finds settings that exclude each other in a gate with this number of conditions.
func (r *gatefileReader) conflicts(n *doc.Node, g *gates.Gate, conditions int) {
	switch {
	case g.Metric == "":
		r.Note(n.At, "no-metric", "metric: schema_valid", "the gate names no metric")
	case conditions == 0:
		r.Note(n.At, "no-bound", "one of at_least, at_most, zero, baseline, newly_failing",
			"the gate on %s has no bound", g.Metric)
	case conditions > 1:
		r.Note(n.At, "conflicting-keys", "keep one of gate, at_least, at_most, zero, baseline, or make two gates",
			"the gate on %s asks for two things", g.Metric)
	case g.Attempts > 0 && g.Kind != gates.Ratchet:
		r.Note(n.At, "conflicting-keys", "newly_failing: 0", "attempts belongs to gates on newly failing cases")
	case g.RemovedOK && g.Kind != gates.Regression:
		r.Note(n.At, "conflicting-keys", "baseline: true", "removed belongs to gates against a baseline")
	case g.Correlation != "" && (g.Kind != gates.Bound || g.Key == gates.KeyCase):
		r.Note(n.At, "conflicting-keys", "at_least: 0.9",
			"correlation belongs to gates with a bound on a rate of tasks")
	case g.Population == panel.ThisSuite && g.Kind != gates.Regression && g.Kind != gates.Ratchet:
		r.Note(n.At, "conflicting-keys", "baseline: true",
			"this suite is a population for gates against a baseline: %s is about tasks like these", g.Metric)
	case g.MaxRate > 0 && g.Kind != gates.Zero:
		r.Note(n.At, "conflicting-keys", "zero: true", "max_rate belongs to gates that allow nothing")
	}
}

// condition reads the metric's limit.
func (r *gatefileReader) condition(g *gates.Gate, key string, v *doc.Node) bool {
	switch key {
	case "gate":
		r.sentence(g, v)
	case "at_least", "at_most":
		g.Kind, g.Direction = gates.Bound, gate.AtLeast
		if key == "at_most" {
			g.Direction = gate.AtMost
		}
		g.Bound, g.Unit = r.amount(v)
	case "zero":
		g.Kind, g.Direction = gates.Zero, gate.AtMost
		if v.Kind != doc.Bool || v.Raw[0] != 't' {
			r.Note(v.At, "wrong-type", "zero: true", "expected true, found %s", v.Shown())
		}
	case "newly_failing":
		g.Kind, g.Metric, g.Bound = gates.Ratchet, cmp.Or(g.Metric, gates.NewlyFailing),
			float64(r.whole(v, 0, "newly_failing: 0"))
		if g.Metric != gates.NewlyFailing {
			r.Note(v.At, "conflicting-keys", "leave metric out", "newly_failing is about cases, not about %s", g.Metric)
		}
	case "baseline":
		g.Kind = gates.Regression
		r.baseline(g, v)
	default:
		return false
	}
	return true
}

func (r *gatefileReader) setting(g *gates.Gate, key string, v *doc.Node) bool {
	switch key {
	case "name":
		g.Name = r.text(v)
	case "metric":
		if g.Metric != "" {
			r.Note(v.At, "conflicting-keys", "keep one", "gate names the metric already")
		}
		g.Metric = panel.MetricName(r.text(v))
	case "target":
		g.Target = r.text(v)
	case "slice":
		r.slice(g, v)
	case "severity":
		g.Severity = gates.Severity(r.oneOf(v, string(gates.Hard), string(gates.Soft)))
	case "min_n":
		n := r.whole(v, 0, "min_n: 30")
		g.MinUnits = &n
	case "attempts":
		g.Attempts = r.whole(v, 1, "attempts: 1")
	case "min_coverage":
		x := r.share(v)
		g.MinCoverage = &x
	case "population":
		g.Population = panel.Population(r.oneOf(v, panel.Populations()...))
	case "removed":
		g.RemovedOK = r.oneOf(v, "ok") == "ok"
	case "correlation":
		g.Correlation = gates.Correlation(r.oneOf(v, string(gates.CorrelationMeasured)))
	case "looks":
		g.Looks = gates.Looks(r.oneOf(v, string(gates.LooksAny)))
	case "lost":
		g.Lost = gates.Lost(r.oneOf(v, string(gates.LostIgnore)))
	case "max_rate":
		if g.MaxRate = r.share(v); g.MaxRate == 1 {
			r.Note(v.At, "bound-range", "max_rate: 1%", "expected a share below 1, found %s", v.Shown())
		}
	default:
		return false
	}
	return true
}

// whole reads a whole number that is not below least.
func (r *gatefileReader) whole(v *doc.Node, least int, fix string) int {
	n, err := strconv.Atoi(string(v.Raw))
	if v.Kind != doc.Number || err != nil || n < least {
		r.Note(v.At, "wrong-type", fix, "expected a whole number from %d on, found %s", least, v.Shown())
	}
	return n
}

func (r *gatefileReader) slice(g *gates.Gate, v *doc.Node) {
	s := r.text(v)
	if s == "" {
		return
	}
	key, value, ok := strings.Cut(s, "=")
	if g.Key, g.Value = strings.TrimSpace(key), strings.TrimSpace(value); !ok || g.Key == "" || g.Value == "" {
		r.Note(v.At, "bad-slice", "slice: language=es-AR, or language=* for every value",
			"expected KEY=VALUE, found %s", v.Shown())
	}
	if callvet.AmbiguousSlice(g.Key) {
		r.Note(v.At, "ambiguous-slice",
			fmt.Sprintf("%s=%s for all cases that expect the tool, %s=%s for its calls", callvet.SliceExpectedTool,
				g.Value, callvet.SliceCalledTool, g.Value),
			"the slice %s does not name the role of the tool", doc.Clip(s, 60))
	}
}

// baseline reads true, or the largest allowed loss.
func (r *gatefileReader) baseline(g *gates.Gate, v *doc.Node) {
	if v.Kind == doc.Bool && v.Raw[0] == 't' {
		return
	}
	r.Fields(v, strings.Fields(baselineKeys), func(key string, v *doc.Node) bool {
		switch key {
		case "margin":
			x := r.share(v)
			g.Margin = &x
		case "min_effect":
			x := r.share(v)
			g.MinEffect = &x
		default:
			return false
		}
		return true
	})
}

// share reads a number from 0 to 1, or up to 100 %.
func (r *gatefileReader) share(v *doc.Node) float64 {
	x, unit := r.amount(v)
	if unit != "" && unit != panel.UnitRate || x > 1 {
		r.Note(v.At, "bound-range", "0.05 or 5%", "expected a share from 0 to 1, found %s", v.Shown())
	}
	return x
}

var sentence = regexp.MustCompile(`^([^\s<>=≤≥]+)\s*(>=|<=|==|=|≥|≤|>|<)\s*(\S.*)$`)

// sentence reads "metric >= bound".
func (r *gatefileReader) sentence(g *gates.Gate, n *doc.Node) {
	m := sentence.FindStringSubmatch(strings.TrimSpace(r.text(n)))
	if m == nil {
		r.Note(n.At, "bad-gate", "schema_valid >= 0.98", "expected METRIC >= BOUND, found %s", n.Shown())
		return
	}
	if g.Metric != "" {
		r.Note(n.At, "conflicting-keys", "keep one", "metric names the metric already")
	}
	g.Metric = panel.MetricName(m[1])
	x, unit, ok := parseAmount(strings.TrimSpace(m[3]))
	if !ok {
		r.badAmount(n.At, m[3])
		return
	}
	g.Bound, g.Unit = x, unit
	switch m[2] {
	case ">=", "≥":
		g.Kind, g.Direction = gates.Bound, gate.AtLeast
	case "<=", "≤":
		g.Kind, g.Direction = gates.Bound, gate.AtMost
	case "<", ">":
		r.Note(n.At, "bad-gate", m[2]+"=", "bounds are held by >= and <=, not by %s", m[2])
	default:
		g.Kind, g.Direction = gates.Zero, gate.AtMost
		if x != 0 {
			r.Note(n.At, "bad-gate", "write >= or <=", "only 0 can be asked for exactly")
		}
		g.Unit = ""
	}
}

// amount reads a number with or without a unit.
func (r *gatefileReader) amount(v *doc.Node) (float64, panel.Unit) {
	if v.Kind == doc.Number || v.Kind == doc.String {
		if x, unit, ok := parseAmount(strings.TrimSpace(v.Text())); ok {
			return x, unit
		}
	}
	r.badAmount(v.At, v.Shown())
	return 0, ""
}

func (r *gatefileReader) badAmount(at int, found string) {
	r.Note(at, "bad-bound", "0.98, 98%, 500ms, 1.5s, $0.05 or 800 tokens", "expected a bound, found %s",
		doc.Clip(found, 40))
}

var decimal = regexp.MustCompile(`^(\d+(?:\.\d+)?|\.\d+)\s*(%|ms|s|usd|tokens)?$`)

// parseAmount reads an amount that is not negative; the unit is empty where none
// is written.
func parseAmount(s string) (x float64, unit panel.Unit, ok bool) {
	dollars, isDollars := strings.CutPrefix(s, "$")
	m := decimal.FindStringSubmatch(strings.ToLower(dollars))
	if m == nil || isDollars && m[2] != "" {
		x, err := strconv.ParseFloat(s, 64) // 1e3
		return x, "", err == nil && x >= 0 && !math.IsInf(x, 0) && !strings.ContainsAny(s, "xXpP_")
	}
	digits := m[1]
	switch m[2] {
	case "%":
		digits, unit = digits+"e-2", panel.UnitRate
	case "ms":
		unit = panel.UnitMS
	case "s":
		digits, unit = digits+"e3", panel.UnitMS
	case "usd":
		unit = panel.UnitUSD
	case "tokens":
		unit = panel.UnitTokens
	}
	if isDollars {
		unit = panel.UnitUSD
	}
	x, err := strconv.ParseFloat(digits, 64)
	return x, unit, err == nil && !math.IsInf(x, 0)
}
