// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"strconv"

	"github.com/callvet/callvet"
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

// selectionConfig reads the weights of the layers into the suite's settings, and which layers are
// off. The settings of retrieval belong to the target: they are kept and not used.
func (r *reader) selectionConfig(n Node, s *callvet.Suite) (off layersOff) {
	if !n.Given() || n.Kind() != '{' {
		return off
	}
	o := r.Loose(n)
	if o.Get("tool_retrieval").Given() {
		r.Keep(o.At("tool_retrieval"), "config.tool_retrieval",
			"kept; callvet select, select sweep, tools whatif and tools suggest take limit, use_embeddings and the "+
				"namespaces of bigtool from it, unless a flag sets them. Other commands do not")
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

// layerWeights reads the weights; a key that is not given keeps its default.
// Source: Tool Selection Evaluation System, "Creating Custom Test Suites".
func layerWeights(n Node) *callvet.SelectionScoring {
	var out callvet.SelectionScoring
	any := false
	for _, k := range []struct {
		key string
		to  **float64
	}{
		{"route_correct_weight", &out.Route},
		{"sub_route_correct_weight", &out.SubRoute},
		{"agent_correct_weight", &out.Agents},
		{"exact_match_weight", &out.Exact},
		{"acceptable_match_weight", &out.Acceptable},
		{"tool_weight", &out.Tools},
	} {
		if v, err := strconv.ParseFloat(string(n.Get(k.key).Raw), 64); err == nil && v >= 0 {
			*k.to, any = &v, true
		}
	}
	if out.Tools != nil { // the later name for both
		out.Exact, out.Acceptable = nil, nil
	}
	if !any {
		return nil
	}
	return &out
}
