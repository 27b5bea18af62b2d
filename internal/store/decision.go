// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package store

import "github.com/callvet/callvet"

func appendDecision(b []byte, d *callvet.Decision) []byte {
	start := len(b)
	b = optString(b, "route", d.Route)
	b = optString(b, "sub_route", d.SubRoute)
	b = appendList(b, "agents", d.Agents, appendStringRef)
	b = appendList(b, "tools", d.Tools, appendRanked)
	b = optInt(b, "asked", d.Asked)
	b = optTrue(b, "abstained", d.Abstained)
	b = appendList(b, "odd", d.Odd, appendStringRef)
	b = appendList(b, "layers", d.Layers, func(b []byte, l *callvet.LayerTime) []byte {
		b = appendString(append(b, `{"layer":`...), l.Layer)
		return append(optFloat(b, "ms", l.MS), '}')
	})
	if len(b) == start {
		return append(b, '{', '}')
	}
	b[start] = '{' // in place of the first member's comma
	return append(b, '}')
}

func appendRanked(b []byte, h *callvet.Ranked) []byte {
	b = appendString(append(b, `{"tool":`...), h.Tool)
	b = appendFloat(append(b, `,"score":`...), h.Score)
	b = appendList(b, "parts", h.Parts, func(b []byte, p *callvet.Part) []byte {
		b = appendString(append(b, `{"name":`...), p.Name)
		b = appendFloat(append(b, `,"value":`...), p.Value)
		return append(b, '}')
	})
	return append(b, '}')
}

func readDecision(r *reader) *callvet.Decision {
	if !r.begin('{') {
		return nil
	}
	d := &callvet.Decision{}
	for r.more('}') {
		switch string(r.key()) {
		case "route":
			d.Route = r.str()
		case "sub_route":
			d.SubRoute = r.str()
		case "agents":
			d.Agents = list(r, readString)
		case "tools":
			d.Tools = list(r, readRanked)
		case "asked":
			d.Asked = r.integer()
		case "abstained":
			d.Abstained = r.truth()
		case "odd":
			d.Odd = list(r, readString)
		case "layers":
			d.Layers = list(r, readLayer)
		default:
			r.skip()
		}
	}
	return d
}

func readRanked(r *reader, h *callvet.Ranked) {
	if !r.begin('{') {
		return
	}
	for r.more('}') {
		switch string(r.key()) {
		case "tool":
			h.Tool = r.str()
		case "score":
			h.Score = r.number()
		case "parts":
			h.Parts = list(r, readPart)
		default:
			r.skip()
		}
	}
}

func readPart(r *reader, p *callvet.Part) {
	if !r.begin('{') {
		return
	}
	for r.more('}') {
		switch string(r.key()) {
		case "name":
			p.Name = r.str()
		case "value":
			p.Value = r.number()
		default:
			r.skip()
		}
	}
}

func readLayer(r *reader, l *callvet.LayerTime) {
	if !r.begin('{') {
		return
	}
	for r.more('}') {
		switch string(r.key()) {
		case "layer":
			l.Layer = r.str()
		case "ms":
			l.MS = r.number()
		default:
			r.skip()
		}
	}
}
