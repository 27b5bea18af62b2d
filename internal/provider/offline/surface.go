// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package offline

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// Surface is the chance of a right answer, given the parameters and the system prompt of a request. The true effect of
// each is known. With this chance, a script with a surface gives the answer of the matching rule, and else the step
// Else.
type Surface struct {
	// Base is the chance without terms. Chances are cut off at 0 and 1.
	Base float64 `json:"base" form:"required min=0 max=1"`
	// Spread is the largest offset of a case's difficulty: each case has its own offset, drawn
	// uniformly.
	Spread float64 `json:"spread" form:"min=0 max=1"`
	// Seed decides the offsets and the draws.
	Seed  uint64 `json:"seed"`
	Terms []Term `json:"terms"`
	// Else is the answer that is not right; absent: a text without a call.
	Else *step `json:"else"`
}

// Term adds to the chance. It depends on one parameter (peak, slope, from and to, or is) or on the system prompt
// (prompt or longer).
type Term struct {
	// Param is a parameter by its name in a targets file, or an extra one. If it is not sent,
	// Unset is its value; without Unset the term adds nothing.
	Param string          `json:"param"`
	Unset json.RawMessage `json:"unset"`
	// Gain is what the term adds where it holds in full, in [-1,1].
	Gain float64 `json:"gain" form:"min=-1 max=1"`
	// Peak: the gain falls off on both sides of this value, as a normal density of standard deviation Width.
	Peak  *float64 `json:"peak"`
	Width float64  `json:"width" form:"min=0"`
	// Slope is added for each unit of the value.
	Slope *float64 `json:"slope"`
	// From and To: the gain holds between these values, ends included. One of them alone is a cliff.
	From *float64 `json:"from"`
	To   *float64 `json:"to"`
	// Is: the gain holds at this value.
	Is json.RawMessage `json:"is"`
	// Prompt: the gain holds where the system prompt contains this text, in any case.
	Prompt string `json:"prompt"`
	// Longer: the gain holds where the system prompt has more characters.
	Longer *int `json:"longer" form:"min=0"`
}

// forms is the number of forms that a term has: a valid one has one.
func (t *Term) forms() (n int) {
	for _, has := range []bool{
		t.Peak != nil, t.Slope != nil, t.From != nil || t.To != nil, t.Is != nil, t.Prompt != "", t.Longer != nil,
	} {
		if has {
			n++
		}
	}
	return n
}

// Chance is the chance of a right answer to a request, in [0,1].
func (s *Surface) Chance(req *callvet.Request) float64 { return s.chance(req, settings(req)) }

func (s *Surface) chance(req *callvet.Request, params map[string]json.RawMessage) float64 {
	chance := s.Base + s.Spread*(2*fraction(s.Seed, "case", req.CaseID)-1)
	for i := range s.Terms {
		chance += s.Terms[i].adds(req, params)
	}
	return min(1, max(0, chance))
}

// Right draws whether the answer to a request is right. The same request of the same repeat always has the same
// answer. All rounds of an attempt are right, or none.
func (s *Surface) Right(req *callvet.Request) bool {
	params, asked := settings(req), []string{"attempt", req.CaseID, strconv.Itoa(req.Repeat), req.System}
	for _, name := range slices.Sorted(maps.Keys(params)) {
		asked = append(asked, name, string(params[name]))
	}
	return fraction(s.Seed, asked...) < s.chance(req, params)
}

func (t *Term) adds(req *callvet.Request, params map[string]json.RawMessage) float64 {
	switch {
	case t.Prompt != "":
		return t.where(strings.Contains(strings.ToLower(req.System), strings.ToLower(t.Prompt)))
	case t.Longer != nil:
		return t.where(utf8.RuneCountInString(req.System) > *t.Longer)
	}
	raw, sent := params[t.Param]
	if !sent {
		raw = t.Unset
	}
	var x float64
	switch {
	case raw == nil:
		return 0
	case t.Is != nil:
		return t.where(same(raw, t.Is))
	case json.Unmarshal(raw, &x) != nil:
		return 0
	case t.Peak != nil:
		return t.Gain * math.Exp(-(x-*t.Peak)*(x-*t.Peak)/(2*t.Width*t.Width))
	case t.Slope != nil:
		return *t.Slope * x
	}
	return t.where((t.From == nil || x >= *t.From) && (t.To == nil || x <= *t.To))
}

func (t *Term) where(holds bool) float64 {
	if holds {
		return t.Gain
	}
	return 0
}

// settings are the parameters of a request by name; parameters that are not sent are absent.
func settings(req *callvet.Request) map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	params := req.Params
	params.Extra = nil // its values stay as they are
	text, err := json.Marshal(params)
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil { // a number that JSON does not have, which no request can have
		return req.Params.Extra
	}
	for name, raw := range req.Params.Extra {
		all[name] = raw
	}
	if req.ToolChoice != "" {
		all["tool_choice"], _ = json.Marshal(req.ToolChoice) // a text always encodes
	}
	return all
}

func same(a, b json.RawMessage) bool {
	x, _, errX := value.Read(a)
	y, _, errY := value.Read(b)
	return errX == nil && errY == nil && value.Equal(x, y)
}

// fraction is a number in [0,1) that depends on the seed and the texts only.
func fraction(seed uint64, texts ...string) float64 {
	h := fnv.New64a()
	b := strconv.AppendUint(nil, seed, 10)
	for _, t := range texts {
		b = strconv.AppendInt(append(b, 0), int64(len(t)), 10)
		b = append(append(b, 0), t...)
	}
	h.Write(b)
	return value.Fraction(value.Scattered(h.Sum64()))
}

// surface checks what the declared forms of the keys cannot express.
func (c *checker) surface(s *Surface) {
	for i := range s.Terms {
		t, at := &s.Terms[i], fmt.Sprintf("surface.terms[%d]", i)
		ofPrompt := t.Prompt != "" || t.Longer != nil
		switch {
		case t.forms() != 1:
			c.problem(at, "a term has one of peak, slope, from and to, is, prompt, longer", "split it in two")
		case ofPrompt == (t.Param != ""):
			c.problem(at, "a term is about a parameter, or with prompt or longer about the system prompt",
				"param: temperature")
		case t.Peak != nil && t.Width == 0:
			c.problem(at, "a peak has a width above 0", "width: 0.3")
		case t.Peak == nil && t.Width != 0:
			c.problem(at, "width belongs to a peak", "peak: 0.3")
		case t.Slope != nil && t.Gain != 0:
			c.problem(at, "a term has slope or gain, and not both", "remove gain")
		case ofPrompt && t.Unset != nil:
			c.problem(at, "unset belongs to a parameter", "remove unset")
		case t.Slope == nil && t.Gain == 0:
			c.problem(at, "the term adds nothing", "gain: 0.2")
		}
	}
	if s.Else != nil {
		c.checkStep("surface.else", s.Else)
	}
}
