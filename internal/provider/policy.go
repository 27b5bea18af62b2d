// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"slices"
	"strconv"

	"github.com/callvet/callvet"
)

// policy are the rows of the table for one model.
type policy []rule

func policyOf(provider, model string) policy {
	var p policy
	for _, r := range rules() {
		if r.providers != nil && !slices.Contains(r.providers, provider) ||
			r.families != nil && !inAny(model, r.families) || inAny(model, r.except) {
			continue
		}
		if r.unless == nil {
			r.unless = always
		}
		p = append(p, r)
	}
	return p
}

// named returns the wire's names after the policy's renames.
func (pol policy) named(n names) names {
	for _, r := range pol {
		if r.action != actRename {
			continue
		}
		switch r.param {
		case paramTopP:
			n.topP = r.to
		case paramMaxTokens:
			n.maxTokens = r.to
		case paramSeed:
			n.seed = r.to
		case paramStop:
			n.stop = r.to
		}
	}
	return n
}

// adjust applies the policy; note, if not nil, is called for every change. A second application
// changes nothing.
func (pol policy) adjust(p callvet.Params, note func(callvet.Adjustment)) callvet.Params {
	for i := range pol {
		r := &pol[i]
		if r.unless(&p) {
			continue
		}
		from, set := show(&p, r.param)
		if !set && r.action != actWarn {
			continue
		}
		to := r.to
		switch r.action {
		case actDrop:
			drop(&p, r.param)
		case actClamp:
			if to = r.clamp(&p); to == from {
				continue
			}
		case actWarn:
			if r.param == paramMaxTokens {
				n := defaultMaxTokens
				p.MaxTokens = &n
			}
		}
		if note != nil {
			action := r.action
			if action == actClamp && to == "" {
				action = actDrop
			}
			note(callvet.Adjustment{Param: r.param, Action: action, From: from, To: to, Reason: r.reason})
		}
	}
	return p
}

// temperature sets the default temperature; std reports whether it did. A default that the table
// warns about is not sent, and note is called.
func (pol policy) temperature(cfg *Config, note func(callvet.Adjustment)) (p callvet.Params, std bool) {
	p = cfg.Params
	_, own := p.Extra[paramTemperature]
	_, thinks := p.Extra["thinking"] // Anthropic's thinking excludes a temperature
	if cfg.DefaultTemperature == nil || p.Temperature != nil || p.TopP != nil || own || thinks {
		return p, false
	}
	p.Temperature = cfg.DefaultTemperature
	for i := range pol {
		if r := &pol[i]; r.param == paramTemperature && r.action == actWarn && !r.unless(&p) {
			from, _ := show(&p, paramTemperature)
			note(callvet.Adjustment{
				Param: paramTemperature, Action: actDrop, From: from, Reason: r.reason,
				Default: true,
			})
			return cfg.Params, false
		}
	}
	return p, true
}

// clamp changes a set parameter to an allowed value, and returns that value as text.
func (r *rule) clamp(p *callvet.Params) (to string) {
	switch r.param {
	case paramEffort:
		if e, ok := r.efforts[p.ReasoningEffort]; ok {
			p.ReasoningEffort = e
		}
	case paramMaxTokens:
		n := min(max(*p.MaxTokens, int(r.min)), int(r.max))
		p.MaxTokens = &n
	default:
		f := &p.Temperature
		if r.param == paramTopP {
			f = &p.TopP
		}
		v := min(max(**f, r.min), r.max)
		*f = &v
	}
	to, _ = show(p, r.param)
	return to
}

func drop(p *callvet.Params, param string) {
	switch param {
	case paramTemperature:
		p.Temperature = nil
	case paramTopP:
		p.TopP = nil
	case paramMaxTokens:
		p.MaxTokens = nil
	case paramSeed:
		p.Seed = nil
	case paramStop:
		p.Stop = nil
	case paramEffort:
		p.ReasoningEffort = ""
	case paramParallel:
		p.ParallelCalls = nil
	}
}

// show writes a parameter's value; set is false when it is not set.
func show(p *callvet.Params, param string) (text string, set bool) {
	float := func(f *float64) (string, bool) {
		if f == nil {
			return "", false
		}
		return strconv.FormatFloat(*f, 'g', -1, 64), true
	}
	switch {
	case param == paramTemperature:
		return float(p.Temperature)
	case param == paramTopP:
		return float(p.TopP)
	case param == paramMaxTokens && p.MaxTokens != nil:
		return strconv.Itoa(*p.MaxTokens), true
	case param == paramSeed && p.Seed != nil:
		return strconv.FormatInt(*p.Seed, 10), true
	case param == paramStop && len(p.Stop) > 0:
		return string(appendTexts(nil, p.Stop)), true
	case param == paramEffort && p.ReasoningEffort != "":
		return p.ReasoningEffort, true
	case param == paramParallel && p.ParallelCalls != nil:
		return strconv.FormatBool(*p.ParallelCalls), true
	}
	return "", false
}
