// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
)

// Settings are the settings of a search of a catalog.
type Settings struct {
	// Preset is "default" or "bigtool"; empty for the first.
	Preset string `json:"preset,omitempty"`
	// K is how many tools are returned; 0: 5, or 2 for bigtool.
	K int `json:"k,omitempty"`
	// Threshold is the score below which a tool is not returned; 0: none.
	Threshold float64 `json:"threshold,omitempty"`
	// Abstain in [0,1) is the confidence below which no tool is returned; 0: none. Only the
	// default preset with its own weights and vectors knows its confidence.
	Abstain float64 `json:"abstain,omitempty"`
	// AbstainPercent in (0,100), in place of Abstain, is the percentage of the catalog's own
	// examples for which no tool would be returned.
	AbstainPercent float64 `json:"abstain_percent,omitempty"`
	// AbstainRoutes are routes of questions that need no tool.
	AbstainRoutes []string `json:"abstain_routes,omitempty"`
	// Embed and Rerank are the models that make vectors and order the best tools, by
	// the specs of Models; empty for vectors without a model, and no reranker.
	Embed  string `json:"embed,omitempty"`
	Rerank string `json:"rerank,omitempty"`
	// Routes is a file with rules of routes, "none", or empty for those of callvet.
	Routes string `json:"routes,omitempty"`
	// Fusion is how words and vectors become one order under the default preset: mixed,
	// which is also what empty means, or reciprocal_rank.
	Fusion string `json:"fusion,omitempty"`
	// Primary and Fallback are namespaces under bigtool, instead of the catalog's own:
	// tools/trafik,tools/bolag.
	Primary  string `json:"primary,omitempty"`
	Fallback string `json:"fallback,omitempty"`
	// AgentGate in [0,1] is the share of its score that a tool loses if none of its agents was
	// chosen. At 1 the tool is not returned, 0 is no gate. Agents is the highest number of chosen
	// agents; 0: the preset's number.
	AgentGate float64 `json:"agent_gate,omitempty"`
	Agents    int     `json:"agents,omitempty"`
	// Weights change the preset, by name; see WeightNames.
	Weights map[string]float64 `json:"retrieval,omitempty"`
}

const defaultK = 5

// Depth is how many tools are returned.
func (s *Settings) Depth() int {
	switch {
	case s.K > 0:
		return s.K
	case s.Preset == "bigtool":
		return retrieve.BigTool().Limit
	}
	return defaultK
}

// Depths are the depths at which k tools are measured: 1, 3, 5 and 10 up to k, and k.
func Depths(k int) []int {
	out := slices.DeleteFunc([]int{1, 3, 5, 10}, func(d int) bool { return d >= k })
	return append(out, max(k, 1))
}

// Parse reads the rest of a target after "retrieve:": a file, and settings as the query of a URL.
// The error wraps callvet.ErrInvalid.
func Parse(rest string) (file string, s Settings, err error) {
	if file, s, err = ParseUnchecked(rest); err != nil {
		return "", s, err
	}
	_, err = s.Options(&retrieve.Catalogue{})
	return file, s, err
}

// ParseUnchecked is Parse without checking that the preset has the settings.
func ParseUnchecked(rest string) (file string, s Settings, err error) {
	file, query, _ := strings.Cut(rest, "?")
	q, err := url.ParseQuery(query)
	if err != nil || file == "" {
		return "", s, fmt.Errorf("read target retrieve:%s: %w: expected FILE or FILE?preset=bigtool&k=2", rest,
			callvet.ErrInvalid)
	}
	for _, key := range slices.Sorted(maps.Keys(q)) {
		v := q.Get(key)
		if to, ok := s.texts()[key]; ok {
			*to = v
			continue
		}
		switch key {
		case "abstain":
			err = s.SetAbstain(v)
		case "abstain_route":
			s.AbstainRoutes = strings.Split(v, ",")
		case "agents":
			if s.Agents, err = strconv.Atoi(v); err != nil || s.Agents < 1 {
				return "", s, fmt.Errorf("read target retrieve:%s: %w: agents is a number from 1 to %d", rest,
					callvet.ErrInvalid, maxAgents)
			}
		case "k":
			if s.K, err = strconv.Atoi(v); err != nil || s.K < 1 || s.K > MaxDepth {
				return "", s, fmt.Errorf("read target retrieve:%s: %w: k is a number from 1 to %d", rest,
					callvet.ErrInvalid, MaxDepth)
			}
		default:
			f, err := strconv.ParseFloat(v, 64)
			if err != nil {
				return "", s, fmt.Errorf("read target retrieve:%s: %w: %s is no number", rest, callvet.ErrInvalid, key)
			}
			if to, ok := map[string]*float64{"threshold": &s.Threshold, "agent_gate": &s.AgentGate}[key]; ok {
				*to = f
				continue
			}
			if s.Weights == nil {
				s.Weights = map[string]float64{}
			}
			s.Weights[key] = f
		}
		if err != nil {
			return "", s, fmt.Errorf("read target retrieve:%s: %w", rest, err)
		}
	}
	return file, s, nil
}

// texts are the settings that are texts, by their names.
func (s *Settings) texts() map[string]*string {
	return map[string]*string{
		"preset": &s.Preset, "routes": &s.Routes, "embed": &s.Embed, "rerank": &s.Rerank,
		"fusion": &s.Fusion, "primary": &s.Primary, "fallback": &s.Fallback,
	}
}

// Target is the target that Parse reads.
func (s *Settings) Target(file string) string {
	q := url.Values{}
	if s.K > 0 {
		q.Set("k", strconv.Itoa(s.K))
	}
	if s.Threshold != 0 {
		q.Set("threshold", strconv.FormatFloat(s.Threshold, 'g', -1, 64))
	}
	if abstain := s.Refuses(); abstain != "" {
		q.Set("abstain", abstain)
	}
	if len(s.AbstainRoutes) > 0 {
		q.Set("abstain_route", strings.Join(s.AbstainRoutes, ","))
	}
	if s.AgentGate != 0 {
		q.Set("agent_gate", strconv.FormatFloat(s.AgentGate, 'g', -1, 64))
	}
	if s.Agents > 0 {
		q.Set("agents", strconv.Itoa(s.Agents))
	}
	for key, v := range s.texts() {
		if *v != "" {
			q.Set(key, *v)
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

// Options are the preset with the settings applied, and the namespaces of the catalog. The error
// wraps callvet.ErrInvalid.
func (s *Settings) Options(c *retrieve.Catalogue) (retrieve.Options, error) {
	var o retrieve.Options
	switch s.Preset {
	case "", "default":
		o = retrieve.Default()
	case "bigtool":
		o = retrieve.BigTool()
	default:
		return o, Invalid("preset", "default or bigtool", "choose preset: invalid: none is called %q", s.Preset)
	}
	if err := s.check(); err != nil {
		return o, err
	}
	if s.Fusion == reciprocal {
		o.Formula = retrieve.ReciprocalRank
	}
	o, err := c.Options(o)
	if err != nil {
		return o, err
	}
	if s.Primary+s.Fallback != "" {
		o.Primary, o.Fallback = namespaces(s.Primary), namespaces(s.Fallback)
	}
	o.Limit, o.Threshold, o.MinConfidence = s.Depth(), s.Threshold, s.Abstain
	if !s.calibrated() {
		o.Confidence = nil
	}
	if o.Agents.Gate = s.AgentGate; s.Agents > 0 {
		o.Agents.Limit = s.Agents
	}
	return o, s.weigh(&o)
}

// Bounds of settings.
const (
	// MaxDepth is the largest number of returned tools.
	MaxDepth = 1000
	// maxAgents is the most agents that may be chosen for a question.
	maxAgents  = 100
	reciprocal = string(retrieve.ReciprocalRank)
)

// check checks the settings without files.
func (s *Settings) check() error {
	bigtool := s.Preset == "bigtool"
	switch {
	case s.K < 0 || s.K > MaxDepth:
		return Invalid("k", "", "give %d tools: invalid: {k} is a number from 1 to %d", s.K, MaxDepth)
	case !(s.Threshold >= 0) || math.IsInf(s.Threshold, 0):
		return Invalid("threshold", "", "leave out tools under a score of %v: invalid: {threshold} is a number from 0",
			s.Threshold)
	case s.Fusion != "" && s.Fusion != string(retrieve.Mixed) && s.Fusion != reciprocal:
		return Invalid("fusion", "mixed or "+reciprocal, "choose fusion: invalid: none is called %q", s.Fusion)
	case s.Fusion != "" && bigtool:
		return Invalid("fusion", "", "choose fusion: invalid: bigtool adds points, there are no two orders to mix")
	case s.Primary+s.Fallback != "" && !bigtool:
		return Invalid("primary", "{preset} bigtool",
			"choose namespaces: invalid: they say nothing under the preset default")
	case !(s.AgentGate >= 0 && s.AgentGate <= 1):
		return Invalid("agent_gate", "",
			"gate tools by agents: invalid: {agent_gate} is %v, and from 0 (none) to 1 (whole)", s.AgentGate)
	case s.Agents < 0 || s.Agents > maxAgents:
		return Invalid("agents", "", "gate tools by agents: invalid: {agents} is %d, and a number from 1 to %d",
			s.Agents, maxAgents)
	}
	return s.checkAbstain()
}

// Invalid is a request that cannot be carried out because of a field.
func Invalid(field, fix, format string, args ...any) error {
	return &callvet.FieldError{Field: field, Text: fmt.Sprintf(format, args...), Fix: fix}
}

// namespaces reads a list such as tools/trafik,tools/bolag.
func namespaces(list string) [][]string {
	out := [][]string{}
	for one := range strings.SplitSeq(list, ",") {
		if parts := strings.FieldsFunc(one, func(r rune) bool { return r == '/' }); len(parts) > 0 {
			out = append(out, parts)
		}
	}
	return out
}

// calibrated reports whether the fitted confidence is valid for the settings.
func (s *Settings) calibrated() bool {
	return (s.Preset == "" || s.Preset == "default") && len(s.Weights) == 0 && s.Embed == "" && s.Rerank == "" &&
		s.Fusion != reciprocal && s.AgentGate == 0
}
