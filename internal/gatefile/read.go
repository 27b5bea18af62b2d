// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gatefile

import (
	_ "embed"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/suite/source"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/stats/gate"
)

//go:embed gates.schema.json
var schema string

//go:embed template.yaml
var template string

// Schema is the published JSON Schema (draft 2020-12) of gate files.
func Schema() []byte { return []byte(schema) }

// Template is a commented gate file with the sample thresholds.
// Source: Evaluating Tool Calling, section 9.
func Template() []byte { return []byte(template) }

// MaxBytes and MaxGates bound a gate file.
const (
	MaxBytes = 1 << 20
	MaxGates = 1000
)

// File is what a gate file says.
type File struct {
	// Policy and Correction are empty where the file does not say.
	Policy     gate.Policy
	Correction gates.Correction
	Gates      []gates.Gate
}

const (
	fileKeys     = "callvet policy correction gates"
	gateKeys     = "gate name metric slice target at_least at_most zero baseline severity min_n min_coverage max_rate"
	baselineKeys = "margin min_effect"
)

// Read reads a gate file: a mapping with the list gates, or that list alone. With
// problems, the File holds what could be read.
func Read(name string, data []byte) (*File, []callvet.Problem) {
	if len(data) > MaxBytes {
		return &File{}, []callvet.Problem{{Position: callvet.Position{File: name}, Code: "too-large", Message: fmt.Sprintf("a gate file has at most %d bytes", MaxBytes)}}
	}
	if len(strings.TrimSpace(string(data))) == 0 {
		return &File{}, []callvet.Problem{{Position: callvet.Position{File: name}, Code: "empty", Message: "the file is empty", Fix: "`callvet gates init` writes one to start from"}}
	}
	doc, bad := source.Read(name, data)
	if bad != nil {
		return &File{}, []callvet.Problem{doc.Problem(bad)}
	}
	r := &reader{doc: doc}
	for _, d := range doc.Dups {
		r.problem(d.At, "duplicate-key", "remove one", "the key %q stands here for the second time, first on line %d", d.Name, doc.Position(d.First).Line)
	}
	f := &File{}
	if doc.Root.Kind == source.List {
		r.gates(f, &doc.Root)
		return f, r.problems
	}
	listed := false
	r.fields(&doc.Root, fileKeys, func(key string, v *source.Node) bool {
		switch key {
		case "callvet":
			if v.Text() != "1" {
				r.problem(v.At, "unknown-version", "callvet: 1", "this format has version 1")
			}
		case "policy":
			f.Policy = gate.Policy(r.oneOf(v, string(gate.Strict), string(gate.Lenient)))
		case "correction":
			f.Correction = gates.Correction(r.oneOf(v, string(gates.Holm), string(gates.BH)))
		case "gates":
			listed = true
			r.gates(f, v)
		default:
			return false
		}
		return true
	})
	if !listed && len(r.problems) == 0 {
		r.problem(doc.Root.At, "no-gates", "gates: [schema_valid >= 0.98]", "the file has no list of gates")
	}
	return f, r.problems
}

// reader turns nodes into gates and notes what it cannot accept.
type reader struct {
	doc      *source.File
	problems []callvet.Problem
}

// maxProblems is how many problems one file lists.
const maxProblems = 100

func (r *reader) problem(at int, code, fix, format string, args ...any) {
	if len(r.problems) < maxProblems {
		r.problems = append(r.problems, callvet.Problem{Position: r.doc.Position(at), Code: code, Message: fmt.Sprintf(format, args...), Fix: fix})
	}
}

func (r *reader) fields(n *source.Node, known string, f func(key string, v *source.Node) bool) {
	if n.Kind != source.Map {
		r.problem(n.At, "wrong-type", "", "expected a mapping, found %s", shown(n))
		return
	}
	for i := range n.Items {
		name := n.Names[i].Name
		if f(name, &n.Items[i]) {
			continue
		}
		keys := strings.Fields(known)
		fix := "known keys: " + strings.Join(keys, ", ")
		if best := callvet.Nearest(name, keys); best != "" {
			fix = fmt.Sprintf("did you mean %q?", best)
		}
		r.problem(n.Names[i].At, "unknown-key", fix, "unknown key %q", source.Clip(name, 60))
	}
}

func shown(n *source.Node) string {
	if n.Kind == source.String || n.Kind == source.Number {
		return source.Clip(string(n.Raw), 40)
	}
	return n.Kind.String()
}

func (r *reader) text(n *source.Node) string {
	if n.Kind != source.String || n.Text() == "" {
		r.problem(n.At, "wrong-type", "", "expected text, found %s", shown(n))
		return ""
	}
	return n.Text()
}

func (r *reader) oneOf(n *source.Node, known ...string) string {
	s := r.text(n)
	for _, k := range known {
		if s == k {
			return s
		}
	}
	if s != "" {
		r.problem(n.At, "unknown-value", "one of "+strings.Join(known, ", "), "there is no %q here", source.Clip(s, 60))
	}
	return ""
}

func (r *reader) gates(f *File, n *source.Node) {
	if n.Kind != source.List {
		r.problem(n.At, "wrong-type", "- schema_valid >= 0.98", "expected a list of gates, found %s", shown(n))
		return
	}
	r.doc.Elements(n, func(i int, v *source.Node) {
		switch {
		case i == MaxGates:
			r.problem(v.At, "too-many", "", "a gate file has at most %d gates", MaxGates)
		case i < MaxGates:
			if g, ok := r.gate(v); ok {
				f.Gates = append(f.Gates, g)
			}
		}
	})
}

// gate reads one gate: "metric >= bound", or a mapping.
func (r *reader) gate(n *source.Node) (gates.Gate, bool) {
	before := len(r.problems)
	g := gates.Gate{Severity: gates.Hard, Position: r.doc.Position(n.At)}
	said := 0 // how many conditions were given
	if n.Kind == source.String {
		r.sentence(&g, n)
		return g, len(r.problems) == before
	}
	r.fields(n, gateKeys, func(key string, v *source.Node) bool {
		switch key {
		case "at_least", "at_most", "zero", "baseline", "gate":
			said++
		}
		return r.condition(&g, key, v) || r.setting(&g, key, v)
	})
	if n.Kind != source.Map || len(r.problems) > before {
		return g, false
	}
	switch {
	case g.Metric == "":
		r.problem(n.At, "no-metric", "metric: schema_valid", "the gate names no metric")
	case said == 0:
		r.problem(n.At, "no-bound", "one of at_least, at_most, zero, baseline", "the gate on %s has no bound", g.Metric)
	case said > 1:
		r.problem(n.At, "conflicting-keys", "keep one of gate, at_least, at_most, zero, baseline, or make two gates", "the gate on %s asks for two things", g.Metric)
	case g.MaxRate > 0 && g.Kind != gates.Zero:
		r.problem(n.At, "conflicting-keys", "zero: true", "max_rate belongs to gates that allow nothing")
	}
	return g, len(r.problems) == before
}

// condition reads what the metric is held against.
func (r *reader) condition(g *gates.Gate, key string, v *source.Node) bool {
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
		if v.Kind != source.Bool || v.Raw[0] != 't' {
			r.problem(v.At, "wrong-type", "zero: true", "expected true, found %s", shown(v))
		}
	case "baseline":
		g.Kind = gates.Regression
		r.baseline(g, v)
	default:
		return false
	}
	return true
}

func (r *reader) setting(g *gates.Gate, key string, v *source.Node) bool {
	switch key {
	case "name":
		g.Name = r.text(v)
	case "metric":
		if g.Metric != "" {
			r.problem(v.At, "conflicting-keys", "keep one", "gate names the metric already")
		}
		g.Metric = r.text(v)
	case "target":
		g.Target = r.text(v)
	case "slice":
		r.slice(g, v)
	case "severity":
		g.Severity = gates.Severity(r.oneOf(v, string(gates.Hard), string(gates.Soft)))
	case "min_n":
		n, err := strconv.Atoi(string(v.Raw))
		if v.Kind != source.Number || err != nil || n < 0 {
			r.problem(v.At, "wrong-type", "min_n: 30", "expected a number of tasks, found %s", shown(v))
		}
		g.MinUnits = &n
	case "min_coverage":
		x := r.share(v)
		g.MinCoverage = &x
	case "max_rate":
		if g.MaxRate = r.share(v); g.MaxRate == 1 {
			r.problem(v.At, "bound-range", "max_rate: 1%", "expected a share below 1, found %s", shown(v))
		}
	default:
		return false
	}
	return true
}

func (r *reader) slice(g *gates.Gate, v *source.Node) {
	s := r.text(v)
	if s == "" {
		return
	}
	key, value, ok := strings.Cut(s, "=")
	if g.Key, g.Value = strings.TrimSpace(key), strings.TrimSpace(value); !ok || g.Key == "" || g.Value == "" {
		r.problem(v.At, "bad-slice", "slice: language=es-AR, or language=* for every value", "expected KEY=VALUE, found %s", shown(v))
	}
}

// baseline reads true, or what may be lost.
func (r *reader) baseline(g *gates.Gate, v *source.Node) {
	if v.Kind == source.Bool && v.Raw[0] == 't' {
		return
	}
	r.fields(v, baselineKeys, func(key string, v *source.Node) bool {
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
func (r *reader) share(v *source.Node) float64 {
	x, unit := r.amount(v)
	if unit != "" && unit != panel.UnitRate || x > 1 {
		r.problem(v.At, "bound-range", "0.05 or 5%", "expected a share from 0 to 1, found %s", shown(v))
	}
	return x
}

var sentence = regexp.MustCompile(`^([^\s<>=≤≥]+)\s*(>=|<=|==|=|≥|≤|>|<)\s*(\S.*)$`)

// sentence reads "metric >= bound".
func (r *reader) sentence(g *gates.Gate, n *source.Node) {
	m := sentence.FindStringSubmatch(strings.TrimSpace(r.text(n)))
	if m == nil {
		r.problem(n.At, "bad-gate", "schema_valid >= 0.98", "expected METRIC >= BOUND, found %s", shown(n))
		return
	}
	if g.Metric != "" {
		r.problem(n.At, "conflicting-keys", "keep one", "metric names the metric already")
	}
	g.Metric = m[1]
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
		r.problem(n.At, "bad-gate", m[2]+"=", "bounds are held by >= and <=, not by %s", m[2])
	default:
		g.Kind, g.Direction = gates.Zero, gate.AtMost
		if x != 0 {
			r.problem(n.At, "bad-gate", "write >= or <=", "only 0 can be asked for exactly")
		}
		g.Unit = ""
	}
}

// amount reads a number with or without a unit.
func (r *reader) amount(v *source.Node) (float64, panel.Unit) {
	if v.Kind == source.Number || v.Kind == source.String {
		if x, unit, ok := parseAmount(strings.TrimSpace(v.Text())); ok {
			return x, unit
		}
	}
	r.badAmount(v.At, shown(v))
	return 0, ""
}

func (r *reader) badAmount(at int, found string) {
	r.problem(at, "bad-bound", "0.98, 98%, 500ms, 1.5s, $0.05 or 800 tokens", "expected a bound, found %s", source.Clip(found, 40))
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
