// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/value"
)

// ollama is Ollama's own API. Its Chat Completions API has no context size, and truncates a longer
// prompt silently.
type ollama struct {
	chat
}

// Sizes of the context, in tokens. There are few of them because Ollama reloads a model for each
// size.
const (
	numCtx     = "num_ctx"
	minContext = 4096
	// answerRoom is reserved for an answer without a limit.
	answerRoom = 2048
	// asciiPerToken is below the average of texts and JSON; every other character counts as one
	// token. Digits may need more tokens: then the context grows.
	asciiPerToken = 3
)

func (w *ollama) head(b []byte, q *query) []byte {
	from := len(b)
	b = w.conversation(b, q, w.message)
	size := tokensAtMost(b[from:]) + tokensAtMost(q.tools)
	// Newer versions refuse a prompt that is too long instead of cutting it.
	b = append(b, `,"truncate":false,"shift":false`...)
	if e := q.params.ReasoningEffort; e == choiceNone {
		b = append(b, `,"think":false`...)
	} else if e != "" {
		b = appendText(appendMember(b, "think"), e)
	}
	if _, taken := q.params.Extra["format"]; !taken && q.form != nil {
		b = append(appendMember(b, "format"), q.form.Schema...)
	}
	b = append(appendMember(b, "stream"), strconv.AppendBool(nil, q.stream)...)
	b = append(appendMember(b, "options"), w.options(q, size)...)
	return appendExtra(b, &q.params, ollamaTopLevel)
}

// ollamaTopLevel reports whether an extra member is next to options; all others belong into it.
func ollamaTopLevel(name string) bool {
	return slices.Contains([]string{"format", "keep_alive", "think", "truncate", "shift", "logprobs", "top_logprobs"},
		name)
}

func (w *ollama) options(q *query, prompt int) []byte {
	o := appendSampling(nil, &q.params, &w.names)
	if given, ok := q.params.Extra[numCtx]; ok {
		q.context, _ = strconv.Atoi(string(given)) // 0: not a size; Ollama will report it
	} else {
		if q.context == 0 {
			q.context = contextFor(prompt, q.params.MaxTokens)
		}
		o = strconv.AppendInt(appendMember(o, numCtx), int64(q.context), 10)
	}
	o = appendExtra(o, &q.params, func(k string) bool { return !ollamaTopLevel(k) })
	o[0] = '{'
	return append(o, '}')
}

// errNotDone is the error of an answer that was cut off, or that Ollama aborted because it repeated
// a token without end.
var errNotDone = errors.New("the answer ended before it was done (Ollama gives up a model that repeats itself)")

func tokensAtMost(text []byte) int {
	all := utf8.RuneCount(text)
	ascii := 0
	for _, c := range text {
		if c < utf8.RuneSelf {
			ascii++
		}
	}
	return ascii/asciiPerToken + all - ascii
}

// contextFor is the least power of two that has room for a prompt of that many tokens and for its
// answer. Ollama reduces a size above the model's maximum.
func contextFor(prompt int, maxTokens *int) int {
	room := answerRoom
	if maxTokens != nil {
		room = *maxTokens
	}
	n := max(minContext, prompt+max(room, 0))
	return 1 << bits.Len(uint(n-1))
}

// grows doubles the context if Ollama reports that the prompt did not fit, up to the model's
// maximum. If the maximum is unknown, the limit is the size of the prompt in bytes: a token has at
// least one byte. At the limit the fault gets a hint.
func (m *model) grows(ctx context.Context, q *query, fault *callvet.Fault) bool {
	const refused = "exceeds the context length"
	if _, ok := m.wire.(*ollama); !ok || fault.HTTP != http.StatusBadRequest ||
		!strings.Contains(fault.Message, refused) {
		return false
	}
	if _, given := q.params.Extra[numCtx]; given {
		fault.Message += fmt.Sprintf("; num_ctx is set to %d: raise it, or leave it out and it is chosen by the prompt",
			q.context)
		return false
	}
	longest := m.longestContext(ctx)
	switch {
	case longest > 0 && q.context >= longest:
		fault.Message += fmt.Sprintf(
			"; the model takes %d tokens: shorten the prompt, offer fewer tools, or take a model with a longer context",
			longest)
		return false
	case longest == 0 && q.context > headSize(q)+len(q.tools):
		fault.Message += "; shorten the prompt, offer fewer tools, or take a model with a longer context"
		return false
	}
	q.context *= 2
	return true
}

// longestContext is the model's maximum context in tokens; 0 if unknown.
func (m *model) longestContext(ctx context.Context) int {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(m.url, "/chat")+"/show",
		bytes.NewReader(append(appendText([]byte(`{"model":`), m.wire.(*ollama).model), '}')))
	if err != nil {
		return 0
	}
	req.Header = m.header
	res, err := m.client.Do(req)
	if err != nil {
		return 0
	}
	defer res.Body.Close()
	body, err := readUpTo(res, m.maxBody)
	if err != nil || res.StatusCode != http.StatusOK {
		return 0
	}
	root, err := value.Parse(body)
	if err != nil {
		return 0
	}
	info := at(root, "model_info")
	for v, ok := info.First(); ok; v, ok = info.Next(v) {
		if strings.HasSuffix(v.Key(), ".context_length") {
			return count(v)
		}
	}
	return 0
}

func (w *ollama) message(b []byte, t *callvet.Turn) []byte {
	b = appendText(append(b, `{"role":`...), string(t.Role))
	b = appendText(appendMember(b, "content"), t.Content)
	if t.Role == callvet.RoleTool {
		b = appendText(appendMember(b, "tool_name"), t.Tool)
		b = appendText(appendMember(b, "tool_call_id"), t.CallID)
	}
	if t.Role == callvet.RoleAssistant && t.Reasoning != "" {
		b = appendText(appendMember(b, "thinking"), t.Reasoning)
	}
	if len(t.Calls) > 0 {
		b = append(b, `,"tool_calls":[`...)
		for i := range t.Calls {
			c := &t.Calls[i]
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendText(append(b, `{"id":`...), c.ID), `,"function":{"name":`...)
			b = append(appendText(b, c.Tool), `,"arguments":`...)
			b = append(append(b, object(c)...), '}', '}')
		}
		b = append(b, ']')
	}
	return append(b, '}')
}

func (w *ollama) read(root value.Value, _ *query, resp *callvet.Response) error {
	msg, ok := root.Get("message")
	if !ok || msg.Kind() != value.Object {
		return noAnswer(root, "message")
	}
	if done, found := root.Get("done"); found && !done.Bool() {
		return errNotDone
	}
	turn := callvet.Turn{
		Role: callvet.RoleAssistant, Content: at(msg, "content").Str(),
		Reasoning: at(msg, "thinking").Str(),
	}
	for _, p := range ollamaCalls(msg) {
		turn.Calls = append(turn.Calls, message.NewCall(p.ID, p.Name, p.Args))
	}
	resp.Turns = []callvet.Turn{turn}
	return w.finish(root, resp)
}

// ollamaCalls are the calls of a message, each complete. Their indexes are ignored: some versions
// give every call the same index.
func ollamaCalls(msg value.Value) []message.Piece {
	return listed(at(msg, "tool_calls"), func(c value.Value) message.Piece {
		f := at(c, "function")
		return message.Piece{
			ID: at(c, "id").Str(), Name: at(f, "name").Str(), Args: cmp.Or(inputOf(at(f, "arguments")), "{}"),
			Alone: c.Kind() != value.Object,
		}
	})
}

// finish reads the finish reason and the usage from the last object of an answer.
func (w *ollama) finish(root value.Value, resp *callvet.Response) error {
	resp.Model, resp.FinishReason = at(root, "model").Str(), at(root, "done_reason").Str()
	var r message.UsageReader
	resp.Usage = r.Done(callvet.Usage{
		InputTokens:  r.Need(root, "prompt_eval_count"),
		OutputTokens: r.Need(root, "eval_count"),
	})
	return nil
}

// ollamaDeltas reads a stream of Ollama: one object on each line; the last has done set.
type ollamaDeltas struct {
	wire            *ollama
	doc             value.Doc
	text, reasoning strings.Builder
	calls           message.Calls
	last            []byte
}

func (w *ollama) deltas() deltas { return &ollamaDeltas{wire: w} }

func (d *ollamaDeltas) add(data []byte) (content, last bool, err error) {
	if err := d.doc.Parse(data); err != nil {
		return false, false, err
	}
	root := d.doc.Root()
	if e, ok := root.Get("error"); ok && e.Kind() != value.Null {
		return false, false, noAnswer(root, "message")
	}
	msg := at(root, "message")
	answer, thought, calls := at(msg, "content").Str(), at(msg, "thinking").Str(), ollamaCalls(msg)
	d.text.WriteString(answer)
	d.reasoning.WriteString(thought)
	for _, p := range calls {
		d.calls.Add(p)
	}
	if at(root, "done").Bool() {
		d.last, last = append([]byte(nil), data...), true
	}
	return answer != "" || thought != "" || len(calls) > 0, last, nil
}

func (d *ollamaDeltas) finish(q *query, resp *callvet.Response) error {
	if d.last == nil {
		return errNotDone
	}
	if err := d.doc.Parse(d.last); err != nil {
		return err
	}
	resp.Turns = []callvet.Turn{{
		Role: callvet.RoleAssistant, Content: d.text.String(), Reasoning: d.reasoning.String(),
		Calls: d.calls.List(q.req.Tools),
	}}
	err := d.wire.finish(d.doc.Root(), resp)
	if resp.FinishReason == "" { // done without a reason does not prove that the answer is complete
		resp.Why = callvet.ReasonCut
	}
	return err
}
