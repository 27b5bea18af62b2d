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

// ollama is Ollama's own API. Its Chat Completions take no size of the context, and cut a
// prompt that is longer without a word.
type ollama struct {
	chat
}

// Sizes of the context, in tokens. Ollama loads a model anew for each size, so that there are
// few of them.
const (
	numCtx     = "num_ctx"
	minContext = 4096
	// answerRoom is left for the answer where no limit is set.
	answerRoom = 2048
	// asciiPerToken is fewer than a text or JSON has on average; every other character counts as
	// a token of its own. Digits and the like can take more: then the context grows.
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
	return appendExtra(b, &q.params, besideOptions)
}

// besideOptions names the extra members that stand beside options; all others belong into it.
func besideOptions(name string) bool {
	return slices.Contains([]string{"format", "keep_alive", "think", "truncate", "shift", "logprobs", "top_logprobs"},
		name)
}

func (w *ollama) options(q *query, prompt int) []byte {
	o := appendSampling(nil, &q.params, &w.names)
	if given, ok := q.params.Extra[numCtx]; ok {
		q.context, _ = strconv.Atoi(string(given)) // 0: it is no size, which Ollama will say
	} else {
		if q.context == 0 {
			q.context = contextFor(prompt, q.params.MaxTokens)
		}
		o = strconv.AppendInt(appendMember(o, numCtx), int64(q.context), 10)
	}
	o = appendExtra(o, &q.params, func(k string) bool { return !besideOptions(k) })
	o[0] = '{'
	return append(o, '}')
}

// errNotDone is what became of an answer that Ollama gave up, as it does with one that repeats
// a token without end, or that was cut off.
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

// contextFor is the least power of two that has room for a prompt of that many tokens and for
// its answer. What is more than the model has, Ollama brings down to that.
func contextFor(prompt int, maxTokens *int) int {
	room := answerRoom
	if maxTokens != nil {
		room = *maxTokens
	}
	n := max(minContext, prompt+max(room, 0))
	return 1 << bits.Len(uint(n-1))
}

// grows takes a context of twice the size where Ollama says that the prompt did not fit the one
// that it was given, as long as the model takes more. Where the server does not tell what the
// model takes: as long as the prompt may have more tokens, of which each has a byte at least.
// Then the fault says what to do.
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
	case longest == 0 && q.context > providerHeadSize(q)+len(q.tools):
		fault.Message += "; shorten the prompt, offer fewer tools, or take a model with a longer context"
		return false
	}
	q.context *= 2
	return true
}

// longestContext is how many tokens the model was made for; 0 where the server does not tell.
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
	if done, told := root.Get("done"); told && !done.Bool() {
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

// ollamaCalls are the calls of a message, each of them whole. Their indexes are left out: some
// versions give the same one to every call.
func ollamaCalls(msg value.Value) []message.Piece {
	return listed(at(msg, "tool_calls"), func(c value.Value) message.Piece {
		f := at(c, "function")
		return message.Piece{
			ID: at(c, "id").Str(), Name: at(f, "name").Str(), Args: cmp.Or(inputOf(at(f, "arguments")), "{}"),
			Alone: c.Kind() != value.Object,
		}
	})
}

// finish takes what the last object of an answer tells.
func (w *ollama) finish(root value.Value, resp *callvet.Response) error {
	resp.Model, resp.FinishReason = at(root, "model").Str(), at(root, "done_reason").Str()
	var r message.UsageReader
	resp.Usage = r.Done(callvet.Usage{
		InputTokens:  r.Need(root, "prompt_eval_count"),
		OutputTokens: r.Need(root, "eval_count"),
	})
	return nil
}

// ollamaDeltas reads a stream of Ollama: objects, one on each line, of which the last is done.
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
	said, thought, calls := at(msg, "content").Str(), at(msg, "thinking").Str(), ollamaCalls(msg)
	d.text.WriteString(said)
	d.reasoning.WriteString(thought)
	for _, p := range calls {
		d.calls.Add(p)
	}
	if at(root, "done").Bool() {
		d.last, last = append([]byte(nil), data...), true
	}
	return said != "" || thought != "" || len(calls) > 0, last, nil
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
	if resp.FinishReason == "" { // it is done, and nothing shows that the answer is whole
		resp.Why = callvet.ReasonCut
	}
	return err
}
