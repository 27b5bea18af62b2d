// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/value"
)

// gemini is Google's generateContent.
type gemini struct {
	names names
	// signs: the model demands a signature of its thoughts with calls.
	signs bool
}

// noSignature is the signature of a call that the model did not make itself, as in an imported
// history. Google documents it for this.
const noSignature = "skip_thought_signature_validator"

func (w *gemini) tools(ts *callvet.Toolset) []byte {
	b := []byte(`[{"functionDeclarations":[`)
	for i := range ts.Tools {
		t := &ts.Tools[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(append(b, `{"name":`...), t.Name)
		if t.Description != "" {
			b = appendText(appendMember(b, "description"), t.Description)
		}
		if len(t.Parameters) > 0 {
			b = append(appendMember(b, "parametersJsonSchema"), t.Parameters...)
		}
		b = append(b, '}')
	}
	return append(b, "]}]"...)
}

// topLevelExtra reports whether an extra member is next to generationConfig; all others belong into
// it.
func topLevelExtra(name string) bool { return name == "safetySettings" || name == "cachedContent" }

func (w *gemini) user(b []byte, t *callvet.Turn) []byte {
	return append(appendText(append(b, `{"role":"user","parts":[{"text":`...), t.Content), "}]}"...)
}

func (w *gemini) head(b []byte, q *query) []byte {
	b = appendTurns(append(b, `{"contents":`...), q.turns, w)
	if system := systemText(q); system != "" {
		b = append(appendText(append(b, `,"systemInstruction":{"parts":[{"text":`...), system), "}]}"...)
	}
	b = w.config(b, q)
	if q.tools != nil {
		b = w.choice(b, q.choice)
	}
	return appendExtra(b, &q.params, topLevelExtra)
}

func (w *gemini) config(b []byte, q *query) []byte {
	p := &q.params
	var c []byte
	c = appendSampling(c, p, &w.names)
	if _, taken := p.Extra["thinkingConfig"]; !taken && p.ReasoningEffort != "" {
		c = append(appendText(append(c, `,"thinkingConfig":{"thinkingLevel":`...), strings.ToUpper(p.ReasoningEffort)),
			'}')
	}
	if _, taken := p.Extra["responseJsonSchema"]; !taken && q.form != nil {
		c = append(append(c, `,"responseMimeType":"application/json","responseJsonSchema":`...), q.form.Schema...)
	}
	c = appendExtra(c, p, func(k string) bool { return !topLevelExtra(k) })
	if len(c) == 0 {
		return b
	}
	c[0] = '{'
	return append(append(appendMember(b, "generationConfig"), c...), '}')
}

func (w *gemini) choice(b []byte, choice string) []byte {
	if choice == "" {
		return b
	}
	b = append(b, `,"toolConfig":{"functionCallingConfig":{"mode":`...)
	switch choice {
	case choiceAuto:
		b = append(b, `"AUTO"`...)
	case choiceRequired:
		b = append(b, `"ANY"`...)
	case choiceNone:
		b = append(b, `"NONE"`...)
	default:
		b = append(appendText(append(b, `"ANY","allowedFunctionNames":[`...), choice), ']')
	}
	return append(b, '}', '}')
}

func (w *gemini) assistant(b []byte, t *callvet.Turn) []byte {
	if len(t.Raw) > 0 {
		return append(b, t.Raw...)
	}
	b = append(b, `{"role":"model","parts":[`...)
	if t.Content != "" || len(t.Calls) == 0 {
		b = append(appendText(append(b, `{"text":`...), t.Content), '}', ',')
	}
	for i := range t.Calls {
		c := &t.Calls[i]
		b = w.id(append(b, `{"functionCall":{`...), c.ID)
		b = appendText(append(b, `"name":`...), c.Tool)
		b = append(append(appendMember(b, "args"), object(c)...), '}')
		if w.signs && i == 0 { // of parallel calls only the first has one
			b = appendText(appendMember(b, "thoughtSignature"), noSignature)
		}
		b = append(b, '}', ',')
	}
	return append(b[:len(b)-1], ']', '}')
}

// id appends the id member if Gemini gave the call an id.
func (w *gemini) id(b []byte, id string) []byte {
	if id == "" || isOwnID(id) {
		return b
	}
	return append(appendText(append(b, `"id":`...), id), ',')
}

func (w *gemini) results(b []byte, turns []callvet.Turn) []byte {
	b = append(b, `{"role":"user","parts":[`...)
	for i := range turns {
		t := &turns[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = w.id(append(b, `{"functionResponse":{`...), t.CallID)
		b = appendText(append(b, `"name":`...), t.Tool)
		b = appendMember(b, "response")
		if v, err := value.Parse([]byte(t.Content)); err == nil && v.Kind() == value.Object {
			b = append(b, v.Raw()...)
		} else {
			b = append(appendText(append(b, `{"result":`...), t.Content), '}')
		}
		b = append(b, '}', '}')
	}
	return append(b, ']', '}')
}

func (w *gemini) read(root value.Value, q *query, resp *callvet.Response) error {
	resp.Model = at(root, "modelVersion").Str()
	resp.Usage = geminiUsage(at(root, "usageMetadata"))
	cand, ok := at(root, "candidates").First()
	if !ok {
		why := at(root, "promptFeedback", "blockReason").Str()
		if why == "" {
			return noAnswer(root, "candidates")
		}
		resp.FinishReason = "blocked: " + why
		resp.Turns = []callvet.Turn{{Role: callvet.RoleAssistant}}
		return nil
	}
	resp.FinishReason = at(cand, "finishReason").Str()
	resp.Turns = []callvet.Turn{w.turn(at(cand, "content"), len(q.turns))}
	return nil
}

// geminiUsage reads a usage that omits counts of 0; settle checks the counts against the answer's
// text.
func geminiUsage(v value.Value) callvet.Usage {
	var r message.UsageReader
	if !r.Object(v) {
		return r.Done(callvet.Usage{})
	}
	thoughts := r.May(v, "thoughtsTokenCount")
	u := callvet.Usage{
		InputTokens:     r.Need(v, "promptTokenCount") + r.May(v, "toolUsePromptTokenCount"),
		OutputTokens:    r.May(v, "candidatesTokenCount") + thoughts,
		CachedTokens:    r.May(v, "cachedContentTokenCount"),
		ReasoningTokens: thoughts,
	}
	r.Total(v, "totalTokenCount", u.InputTokens+u.OutputTokens)
	return r.Done(u)
}

func (w *gemini) turn(content value.Value, before int) callvet.Turn {
	turn := callvet.Turn{Role: callvet.RoleAssistant}
	came := at(content, "parts")
	parts := message.Grown(came)
	switch {
	case parts != came: // the next request needs complete calls
		turn.Raw = append(append([]byte(`{"role":"model","parts":`), parts.Raw()...), '}')
	case parts.Len() > 0:
		turn.Raw = slices.Clone(content.Raw())
	}
	var answer, thought strings.Builder
	for p, ok := parts.First(); ok; p, ok = parts.Next(p) {
		if f := at(p, "functionCall"); f.Kind() != value.Invalid && f.Kind() != value.Null {
			id := at(f, "id").Str()
			if id == "" {
				id = ownID(before, len(turn.Calls))
			}
			turn.Calls = append(turn.Calls, named(f, message.NewCall(id, at(f, "name").Str(), inputOf(at(f, "args")))))
			continue
		}
		if at(p, "thought").Bool() {
			thought.WriteString(at(p, "text").Str())
		} else {
			answer.WriteString(at(p, "text").Str())
		}
	}
	turn.Content, turn.Reasoning = answer.String(), thought.String()
	return turn
}
