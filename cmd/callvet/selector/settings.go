// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package selector

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/retrieve/tune"
)

// Settings say how a catalog is searched.
type Settings struct {
	// Preset is "default" or "bigtool"; empty for the first.
	Preset string
	// K is how many tools are given; 0: 5, or 2 for bigtool.
	K int
	// Threshold is the score under which a tool is not given; 0: none.
	Threshold float64
	// Abstain in [0,1) is the confidence under which no tool is given; 0: none. Only
	// the default preset with its own weights and vectors knows its confidence.
	Abstain float64
	// Embed and Rerank are the models that make vectors and order the best tools, by
	// the specs of Models; empty for vectors without a model, and no reranker.
	Embed, Rerank string
	// Routes is a file with rules of routes, "none", or empty for those of callvet.
	Routes string
	// AgentGate in [0,1] is what a tool loses of its score when none of its agents was
	// chosen; at 1 it is not given, 0 is no gate. Agents is how many may be chosen; 0: as
	// the preset says.
	AgentGate float64
	Agents    int
	// Weights change the preset, by name; see WeightNames.
	Weights map[string]float64
}

const defaultK = 5

// Depth is how many tools are given.
func (s *Settings) Depth() int {
	switch {
	case s.K > 0:
		return s.K
	case s.Preset == "bigtool":
		return retrieve.BigTool().Limit
	}
	return defaultK
}

// Depths are the depths at which k tools are measured: 1, 3, 5 and 10 as far as
// there are that many, and k.
func Depths(k int) []int {
	out := slices.DeleteFunc([]int{1, 3, 5, 10}, func(d int) bool { return d >= k })
	return append(out, max(k, 1))
}

// Parse takes the rest of a target behind "retrieve:" apart: a file, and settings as
// the query of a URL. The error wraps callvet.ErrInvalid.
func Parse(rest string) (file string, s Settings, err error) {
	if file, s, err = parse(rest); err != nil {
		return "", s, err
	}
	_, err = s.Options(&retrieve.Catalogue{})
	return file, s, err
}

// parse reads settings without asking whether the preset has them.
func parse(rest string) (file string, s Settings, err error) {
	file, query, _ := strings.Cut(rest, "?")
	q, err := url.ParseQuery(query)
	if err != nil || file == "" {
		return "", s, fmt.Errorf("read target retrieve:%s: %w: expected FILE or FILE?preset=bigtool&k=2", rest, callvet.ErrInvalid)
	}
	for _, key := range slices.Sorted(maps.Keys(q)) {
		v := q.Get(key)
		switch key {
		case "preset":
			s.Preset = v
		case "routes":
			s.Routes = v
		case "embed":
			s.Embed = v
		case "rerank":
			s.Rerank = v
		case "agents":
			if s.Agents, err = strconv.Atoi(v); err != nil || s.Agents < 1 {
				return "", s, fmt.Errorf("read target retrieve:%s: %w: agents is a number from 1 to %d", rest, callvet.ErrInvalid, maxAgents)
			}
		case "k":
			if s.K, err = strconv.Atoi(v); err != nil || s.K < 1 || s.K > 1000 {
				return "", s, fmt.Errorf("read target retrieve:%s: %w: k is a number from 1 to 1000", rest, callvet.ErrInvalid)
			}
		default:
			f, err := strconv.ParseFloat(v, 64)
			if err != nil {
				return "", s, fmt.Errorf("read target retrieve:%s: %w: %s is no number", rest, callvet.ErrInvalid, key)
			}
			if to, ok := map[string]*float64{"threshold": &s.Threshold, "abstain": &s.Abstain, "agent_gate": &s.AgentGate}[key]; ok {
				*to = f
				continue
			}
			if s.Weights == nil {
				s.Weights = map[string]float64{}
			}
			s.Weights[key] = f
		}
	}
	return file, s, nil
}

// Target is the target that Parse reads.
func (s *Settings) Target(file string) string {
	q := url.Values{}
	if s.Preset != "" {
		q.Set("preset", s.Preset)
	}
	if s.K > 0 {
		q.Set("k", strconv.Itoa(s.K))
	}
	if s.Threshold != 0 {
		q.Set("threshold", strconv.FormatFloat(s.Threshold, 'g', -1, 64))
	}
	if s.Abstain != 0 {
		q.Set("abstain", strconv.FormatFloat(s.Abstain, 'g', -1, 64))
	}
	if s.AgentGate != 0 {
		q.Set("agent_gate", strconv.FormatFloat(s.AgentGate, 'g', -1, 64))
	}
	if s.Agents > 0 {
		q.Set("agents", strconv.Itoa(s.Agents))
	}
	for key, v := range map[string]string{"routes": s.Routes, "embed": s.Embed, "rerank": s.Rerank} {
		if v != "" {
			q.Set(key, v)
		}
	}
	for name, w := range s.Weights {
		q.Set(name, strconv.FormatFloat(w, 'g', -1, 64))
	}
	if len(q) == 0 {
		return "retrieve:" + file
	}
	return "retrieve:" + file + "?" + q.Encode()
}

// Options are the preset with the settings laid over it and the namespaces of the
// catalog. The error wraps callvet.ErrInvalid.
func (s *Settings) Options(c *retrieve.Catalogue) (retrieve.Options, error) {
	var o retrieve.Options
	switch s.Preset {
	case "", "default":
		o = retrieve.Default()
	case "bigtool":
		o = retrieve.BigTool()
	default:
		return o, &callvet.Hinted{Err: fmt.Errorf("choose preset: %w: none is called %q", callvet.ErrInvalid, s.Preset), Hint: "default or bigtool"}
	}
	switch {
	case c.Primary != nil:
		o.Primary, o.Fallback = c.Primary, c.Fallback
	case !slices.ContainsFunc(c.Entries, func(e retrieve.Entry) bool { return len(e.Namespace) > 0 }):
		o.Primary = [][]string{{}} // a catalogue without namespaces is one
	}
	o.Limit, o.Threshold, o.MinConfidence = s.Depth(), s.Threshold, s.Abstain
	if !(s.Abstain >= 0 && s.Abstain < 1) || s.Abstain > 0 && !s.calibrated() {
		return o, &callvet.Hinted{
			Err:  fmt.Errorf("abstain under %v: %w", s.Abstain, callvet.ErrInvalid),
			Hint: fmt.Sprintf("a confidence from 0 to under 1, such as %v, and the default preset with its own weights and vectors; otherwise a threshold", retrieve.DefaultMinConfidence),
		}
	}
	if !s.calibrated() {
		o.Confidence = nil
	}
	if err := s.agents(&o.Agents, c); err != nil {
		return o, err
	}
	known := weights(&o)
	for _, name := range slices.Sorted(maps.Keys(s.Weights)) {
		to, ok := known[name]
		if !ok || s.Weights[name] < 0 {
			return o, &callvet.Hinted{Err: fmt.Errorf("set weight %q: %w", name, callvet.ErrInvalid), Hint: "numbers from 0 for " + strings.Join(WeightNames(s.Preset), ", ")}
		}
		*to = s.Weights[name]
	}
	return o, nil
}

// calibrated tells whether the confidence that was fitted holds for the settings.
func (s *Settings) calibrated() bool {
	return (s.Preset == "" || s.Preset == "default") && len(s.Weights) == 0 && s.Embed == "" && s.Rerank == "" && s.AgentGate == 0
}

// WeightNames lists the weights of a preset.
func WeightNames(preset string) []string {
	o := retrieve.Default()
	if preset == "bigtool" {
		o = retrieve.BigTool()
	}
	return slices.Sorted(maps.Keys(weights(&o)))
}

func weights(o *retrieve.Options) map[string]*float64 {
	out := map[string]*float64{}
	for _, k := range tune.Weights(o.Formula) {
		out[k.Name] = k.At(o)
	}
	return out
}

// maxWeights is the size of the largest file of weights in bytes.
const maxWeights = 64 << 10

// WeightsFile is what a file of weights says; nil where it says nothing.
type WeightsFile struct {
	// Composite weighs the layers of a decision, Retrieval what a tool's score is made of.
	Composite *callvet.SelectionScoring
	Retrieval map[string]float64
	// Tuned tells how those of retrieval were chosen.
	Tuned *Tuned
}

// ReadWeights reads a JSON object: {"composite": {"route", "sub_route", "agents",
// "tools"}, "retrieval": {…}, "tuned": {…}}, or the flat object of the Tool Selection
// Evaluation System ("route_correct_weight", …). Every part may be missing. The error
// wraps callvet.ErrInvalid.
func ReadWeights(b []byte) (WeightsFile, error) {
	var f struct {
		Composite  *callvet.SelectionScoring `json:"composite"`
		Retrieval  map[string]float64        `json:"retrieval"`
		Tuned      *Tuned                    `json:"tuned"`
		Route      *float64                  `json:"route_correct_weight"`
		SubRoute   *float64                  `json:"sub_route_correct_weight"`
		Agent      *float64                  `json:"agent_correct_weight"`
		Exact      *float64                  `json:"exact_match_weight"`
		Acceptable *float64                  `json:"acceptable_match_weight"`
	}
	if len(b) > maxWeights {
		return WeightsFile{}, fmt.Errorf("read weights: %w: more than %d bytes", callvet.ErrLimited, maxWeights)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return WeightsFile{}, &callvet.Hinted{Err: fmt.Errorf("read weights: %w: %w", callvet.ErrInvalid, err), Hint: `write {"composite": {"route": 0.15, "tools": 0.5}, "retrieval": {"vector": 0.2}}`}
	}
	if f.Composite == nil && (f.Route != nil || f.SubRoute != nil || f.Agent != nil || f.Exact != nil || f.Acceptable != nil) {
		f.Composite = &callvet.SelectionScoring{Route: f.Route, SubRoute: f.SubRoute, Agents: f.Agent}
		if f.Exact != nil || f.Acceptable != nil {
			tools := or(f.Exact, 0.30) + or(f.Acceptable, 0.20)
			f.Composite.Tools = &tools
		}
	}
	return WeightsFile{f.Composite, f.Retrieval, f.Tuned}, nil
}

func or(p *float64, usual float64) float64 {
	if p == nil {
		return usual
	}
	return *p
}
