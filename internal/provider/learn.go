// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/callvet/callvet"
)

// The parameter table is valid for the models of its date. A newer model gets the same requests as
// earlier ones, and its refusals are learned:
//
//	request with temperature ─► 400 "temperature is deprecated for this model"
//	      └─ refusals: temperature ─► the same request without it, and all later ones
//
// Each refusal is reported once, and every attempt records the omitted parameters.

// The names of refusals that are not parameters.
const (
	newMaxTokens = "max_completion_tokens"
	answerForm   = "answer_form"
	responsesAPI = "chat_completions"
)

// learnable are the parameters that a request can do without.
func learnable() []string {
	return []string{paramTemperature, paramTopP, paramSeed, paramStop, paramEffort, paramParallel}
}

// refusals are the parameters and features that a provider refuses. It is safe for concurrent use.
type refusals struct {
	mu    sync.RWMutex
	known map[string]bool
}

func (r *refusals) has(name string) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.known[name]
}

// add reports whether name is new.
func (r *refusals) add(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known[name] {
		return false
	}
	if r.known == nil {
		r.known = map[string]bool{}
	}
	r.known[name] = true
	return true
}

// yield removes known refusals from a request.
func (m *model) yield(q *query) {
	if q.choice == choiceRequired && m.refused.has(paramToolChoice) {
		q.choice = choiceAuto
	}
	if q.form != nil && m.refused.has(answerForm) {
		m.unshape(q)
	}
	for _, name := range learnable() {
		if m.refused.has(name) {
			drop(&q.params, name)
		}
	}
	if q.params.MaxTokens != nil && m.refused.has(newMaxTokens) {
		extra := maps.Clone(q.params.Extra)
		if extra == nil {
			extra = map[string]json.RawMessage{}
		}
		extra[newMaxTokens] = strconv.AppendInt(nil, int64(*q.params.MaxTokens), 10)
		q.params.Extra, q.params.MaxTokens = extra, nil
	}
}

// learns records the refusal in a fault; true if the request can be sent without the refused part.
func (m *model) learns(q *query, fault *callvet.Fault) bool {
	if fault.HTTP != http.StatusBadRequest && fault.HTTP != http.StatusUnprocessableEntity {
		return false
	}
	if q.params.MaxTokens != nil && strings.Contains(fault.Message, newMaxTokens) {
		m.learn(newMaxTokens, "max_tokens is sent as max_completion_tokens", fault)
		return true
	}
	for _, name := range learnable() {
		value, set := show(&q.params, name)
		if set && refuses(fault, wireNames(name)) {
			m.learn(name, name+" "+value+" is not sent", fault)
			return true
		}
	}
	if q.form != nil && refusesForm(fault) {
		m.learn(answerForm, "the form of the answer is not sent, and it is read out of a text", fault)
		return true
	}
	if q.choice == choiceRequired && refusesChoice(fault) {
		m.learn(paramToolChoice, "tool_choice auto is sent for required", fault)
		return true
	}
	return false
}

// learn records a refusal, and reports it the first time.
func (m *model) learn(name, what string, fault *callvet.Fault) {
	if m.refused.add(name) && m.note != nil {
		m.note(fmt.Sprintf("%s: %s: the provider refused it (%s); the table of models is of %s", m.spec, what,
			m.hide.text(fault.Message), rulesDate))
	}
}

// omitted names the requested parameters that are not in the request as finally sent.
func (m *model) omitted(req *callvet.Request, asked *callvet.Params, q *query) (out []string) {
	for _, name := range learnable() {
		_, wanted := show(asked, name)
		if _, sent := show(&q.params, name); wanted && !sent {
			out = append(out, name)
		}
	}
	if req.Form != nil && q.form == nil {
		out = append(out, answerForm)
	}
	if q.choice == choiceAuto && req.ToolChoice != choiceAuto && req.ToolChoice != "" {
		out = append(out, paramToolChoice)
	}
	return out
}

// wireNames are the names of a parameter in providers' errors.
func wireNames(param string) []string {
	switch param {
	case paramTopP:
		return []string{"top_p", "topP"}
	case paramStop:
		return []string{"stop", "stop_sequences", "stopSequences"}
	case paramSeed:
		return []string{"seed", "random_seed"}
	case paramEffort:
		return []string{
			"reasoning_effort", "reasoning.effort", "output_config", "output_config.effort", "effort",
			"thinkingLevel", "thinking_level", "thinkingConfig",
		}
	case paramParallel:
		return []string{"parallel_tool_calls", "disable_parallel_tool_use"}
	}
	return []string{param}
}

// outOfRange matches errors about a value that is too large or too small. A different value would
// be accepted, so the user must change it.
var outOfRange = regexp.MustCompile(
	`(?i)\b(range|between|maximum|minimum|greater than|less than|at least|at most|non-negative)\b`)

// refuses reports whether a fault is about the parameter of one of these names: as its parameter,
// in quotes, or at the start of the error.
func refuses(f *callvet.Fault, names []string) bool {
	if outOfRange.MatchString(f.Message) {
		return false
	}
	if slices.Contains(names, f.Param) {
		return true
	}
	for _, name := range names {
		quoted := regexp.QuoteMeta(name)
		if regexp.MustCompile("(?i)[`'\"]" + quoted + "[`'\"]|(^|: )" + quoted +
			"(:|$| is | does not | not )").MatchString(f.Message) {
			return true
		}
	}
	return false
}

// refusesChoice reports whether a fault is a refusal of this tool_choice.
func refusesChoice(f *callvet.Fault) bool {
	for _, s := range [...]string{f.Param, f.Message} {
		s = strings.ToLower(strings.ReplaceAll(s, "_", ""))
		if strings.Contains(s, "toolchoice") || strings.Contains(s, "functioncallingconfig") {
			return true
		}
	}
	return false
}
