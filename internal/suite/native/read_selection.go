// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package native

import (
	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
)

// selection reads what is expected of a router or retriever.
func (r *reader) selection(n *doc.Node) *callvet.Selection {
	if n.Kind == doc.Null {
		return nil
	}
	s := &callvet.Selection{}
	r.fields(n, "route sub_route agents tools acceptable", func(key string, v *doc.Node) bool {
		switch key {
		case "route":
			s.Route = r.str(v)
		case "sub_route":
			s.SubRoute = r.str(v)
		case "agents":
			s.Agents = r.strs(v)
		case "tools":
			s.Tools = r.strs(v)
		case "acceptable":
			s.Acceptable = r.strs(v)
		default:
			return false
		}
		return true
	})
	return s
}

// selectionScoring reads the weights of the layers and the depths of ranks.
func (r *reader) selectionScoring(n *doc.Node) *callvet.SelectionScoring {
	if n.Kind == doc.Null {
		return nil
	}
	s := &callvet.SelectionScoring{}
	r.fields(n, "route sub_route agents exact acceptable tools k", func(key string, v *doc.Node) bool {
		switch key {
		case "route":
			s.Route = r.number(v, 0)
		case "sub_route":
			s.SubRoute = r.number(v, 0)
		case "agents":
			s.Agents = r.number(v, 0)
		case "exact":
			s.Exact = r.number(v, 0)
		case "acceptable":
			s.Acceptable = r.number(v, 0)
		case "tools":
			s.Tools = r.number(v, 0)
		case "k":
			s.K = []int{}
			r.each(v, func(_ int, v *doc.Node) { s.K = append(s.K, r.count(v, 1)) })
		default:
			return false
		}
		return true
	})
	return s
}
