// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package origin

import (
	"strconv"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/suite/dialect/tree"
)

const selectOnly = "kept, used by select, not by run"

// layersOff are the layers that a suite's configuration switches off.
type layersOff struct{ routes, agents bool }

func (l layersOff) apply(s *callvet.Selection) {
	if s != nil && l.routes {
		s.Route, s.SubRoute = "", ""
	}
	if s != nil && l.agents {
		s.Agents = nil
	}
}

// selectionConfig reads the weights of the layers into the suite's settings, and
// which layers are off. How tools are retrieved is the target's matter, and kept.
func (r *reader) selectionConfig(n tree.Node, s *callvet.Suite) (off layersOff) {
	if !n.Given() || n.Kind() != '{' {
		return off
	}
	o := r.Loose(n)
	if o.Get("tool_retrieval").Given() {
		r.Keep(o.At("tool_retrieval"), "config.tool_retrieval", "kept; callvet select, select sweep, tools whatif and tools suggest take limit, use_embeddings and the namespaces of bigtool from it, as far as no flag names them; other commands do not")
	}
	for key, to := range map[string]*bool{"test_routing": &off.routes, "test_agents": &off.agents} {
		if on, given := o.Boolean(key); given {
			*to = !on
		}
	}
	if w := o.Get("scoring"); w.Given() && w.Kind() == '{' {
		s.Defaults.Scoring.Selection = layerWeights(w)
	}
	return off
}

// layerWeights: the weights for exact and for acceptable matches together are that
// of the tools. A key that is not given keeps its default.
// Source: Tool Selection Evaluation System, "Creating Custom Test Suites".
func layerWeights(n tree.Node) *callvet.SelectionScoring {
	weight := func(key string, usual float64) (float64, bool) {
		v, err := strconv.ParseFloat(string(n.Get(key).Raw), 64)
		if err != nil || v < 0 {
			return usual, false
		}
		return v, true
	}
	var out callvet.SelectionScoring
	any := false
	for _, k := range []struct {
		key   string
		usual float64
		to    **float64
	}{{"route_correct_weight", 0.15, &out.Route}, {"sub_route_correct_weight", 0.10, &out.SubRoute}, {"agent_correct_weight", 0.25, &out.Agents}, {"tool_weight", 0.50, &out.Tools}} {
		if v, ok := weight(k.key, k.usual); ok {
			*k.to, any = &v, true
		}
	}
	exact, one := weight("exact_match_weight", 0.30)
	acceptable, two := weight("acceptable_match_weight", 0.20)
	if sum := exact + acceptable; out.Tools == nil && (one || two) {
		out.Tools, any = &sum, true
	}
	if !any {
		return nil
	}
	return &out
}
