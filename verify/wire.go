// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/provider"
	"github.com/callvet/callvet/verify/jsonl"
	"github.com/callvet/callvet/verify/proof"
)

// recordedAnswer is an answer of a real provider, with its content.
type recordedAnswer struct {
	ID, Source, Kind, Host, Body string
	Stream                       bool
	Status                       int
	ContentType                  string `json:"content_type"`
	Expected                     *answerOfProvider
}

// answerOfProvider is the content of an answer, found by an independent reader; a nil number is not in the answer.
type answerOfProvider struct {
	Calls     []namedArgs
	Text      string
	Error     bool
	Input     *int `json:"input_tokens"`
	Output    *int `json:"output_tokens"`
	Cached    *int `json:"cached_tokens"`
	Reasoning *int `json:"reasoning_tokens"`
}

type namedArgs struct {
	Tool string
	Args json.RawMessage
}

// wires serves every recorded answer from a local server and requests it through its provider: it compares calls and
// text, usage, and errors.
func wires(ctx context.Context, c *proof.Check, d proof.Data, page string) error {
	index, err := proof.ReadReadme(d.Set("provider_responses"))
	if err != nil {
		return err
	}
	n, err := index.Count("rows")
	if err != nil {
		return err
	}
	var rows []recordedAnswer
	if err := jsonl.Each(d.In("provider_responses", "responses.jsonl"), func(r recordedAnswer) error {
		rows = append(rows, r)
		return nil
	}); err != nil {
		return err
	}
	if len(rows) != n {
		c.Problem(fmt.Errorf("%d answers are there, %s has %d: %w", len(rows), index.Source(), n, callvet.ErrInvalid))
	}
	byID := map[string]*recordedAnswer{}
	counts := map[string]int{}
	for i := range rows {
		r := &rows[i]
		byID[r.ID] = r
		switch {
		case r.Expected == nil:
			counts["streams"]++
		case r.Expected.Error:
			counts["errors"]++
		default:
			counts["calls and text"]++
			counts["usage"]++
		}
	}
	for _, what := range wireSubjects() {
		c.Due(what, counts[what], index.Source())
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		id, _, _ := strings.Cut(strings.TrimPrefix(req.URL.Path, "/"), "/")
		r := byID[id]
		if r == nil {
			http.NotFound(w, req)
			return
		}
		w.Header().Set("Content-Type", r.ContentType)
		w.WriteHeader(r.Status)
		_, _ = w.Write([]byte(r.Body))
	}))
	defer s.Close()
	read := map[[2]string]*wireRead{}
	for i := range rows {
		r := &rows[i]
		key := [2]string{r.provider(), r.api()}
		if read[key] == nil {
			read[key] = &wireRead{}
		}
		read[key].answers++
		for k, what := range wireSubjects() { // the row has the result of the comparison
			agree, compared, _ := c.Tally(what)
			read[key].agree[k] -= agree
			read[key].compared[k] -= compared
		}
		if err := r.compare(ctx, c, s.URL); err != nil {
			return err
		}
		for k, what := range wireSubjects() {
			agree, compared, _ := c.Tally(what)
			read[key].agree[k] += agree
			read[key].compared[k] += compared
		}
	}
	if err := wireTable(wireRows(read)).write(page); err != nil {
		return err
	}
	return requests(ctx, c, d, rows)
}

func wireSubjects() []string { return []string{"calls and text", "usage", "errors", "streams"} }

// wireRead counts the values read from the answers of one API of a provider, by wireSubjects.
type wireRead struct {
	answers         int
	agree, compared [4]int
}

func wireRows(read map[[2]string]*wireRead) [][]string {
	var out [][]string
	for _, key := range slices.SortedFunc(maps.Keys(read),
		func(a, b [2]string) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }) {
		r := read[key]
		row := []string{key[0], key[1], fmt.Sprint(r.answers)}
		for k := range r.agree {
			cell := "-"
			if r.compared[k] > 0 {
				cell = fmt.Sprintf("%d of %d", r.agree[k], r.compared[k])
			}
			row = append(row, cell)
		}
		out = append(out, row)
	}
	return out
}

// api is the maker's name of the kind of an answer.
func (r *recordedAnswer) api() string {
	switch r.Kind {
	case "messages":
		return "Messages"
	case "gemini":
		return "generateContent"
	case "responses":
		return "Responses"
	}
	return "Chat Completions"
}

// providerOf returns the provider of answers of a kind from a host.
func (r *recordedAnswer) provider() string {
	switch r.Kind {
	case "messages":
		return "anthropic"
	case "gemini":
		return "gemini"
	case "responses":
		return "openai-responses"
	}
	for _, name := range []string{"mistral", "groq", "openrouter", "cerebras", "deepseek", "huggingface"} {
		if strings.Contains(r.Host, name) {
			return name
		}
	}
	return "openai"
}

func (r *recordedAnswer) compare(ctx context.Context, c *proof.Check, base string) error {
	m, t, err := provider.Open(r.provider()+"/recorded", provider.Config{BaseURL: base + "/" + r.ID, Stream: r.Stream})
	if err != nil {
		return err
	}
	tools := callvet.NewToolset(
		[]callvet.Tool{{Name: "recorded_tool", Parameters: json.RawMessage(`{"type":"object"}`)}})
	resp, err := m.Generate(ctx,
		&callvet.Request{
			CaseID: r.ID, Params: t.Params, Tools: tools,
			Turns: []callvet.Turn{{Role: callvet.RoleUser, Content: "?"}},
		})
	var f *callvet.Fault
	if err != nil && !errors.As(err, &f) {
		return err
	}
	name := r.Kind + " " + r.ID
	e := r.Expected
	switch {
	case e == nil && f != nil:
		c.Compare("streams", name, false, "%v", f)
	case e == nil: // the data have no expectation: the events are added up apart
		want, err := r.added()
		if err != nil {
			return err
		}
		got := responseText(resp)
		c.Compare("streams", name, got == want.text() && resp.Usage.Known, "%s: want %.300q, got %.300q, %+v", r.Host,
			want.text(), got, resp.Usage)
	case e.Error && f == nil: // a call that the provider did not pass on is the model's own mistake
		c.Compare("errors", name, resp.Unreadable && strings.Contains(r.Body, "failed_generation"),
			"an answer was read: %+v", resp.Turns)
	case e.Error:
		c.Compare("errors", name, f.HTTP == r.Status, "%v", f)
	case f != nil:
		c.Compare("calls and text", name, false, "%s (%s): %s", f.Kind, r.Host, f.Message)
		c.Compare("usage", name, false, "no answer was read")
	default:
		got, want := responseText(resp), e.text()
		c.Compare("calls and text", name, got == want, "%s: want %.300q, got %.300q", r.Host, want, got)
		usage := e.usageDiffers(&resp.Usage)
		c.Compare("usage", name, usage == "", "%s: %s", r.Host, usage)
	}
	return nil
}

// text writes calls and text, one line each.
func (e *answerOfProvider) text() string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(e.Text))
	for _, call := range e.Calls {
		b.WriteString("\n" + call.Tool + " " + sameArgs(call.Args))
	}
	return b.String()
}

func responseText(resp *callvet.Response) string {
	var b, calls strings.Builder
	for _, t := range resp.Turns {
		b.WriteString(t.Content)
		for i := range t.Calls {
			call := &t.Calls[i]
			args := call.Args
			if args == nil {
				args, _ = json.Marshal(call.ArgsRaw)
			}
			calls.WriteString("\n" + call.Tool + " " + sameArgs(args))
		}
	}
	return strings.TrimSpace(b.String()) + calls.String()
}

// sameArgs writes arguments so that equal ones have equal texts; arguments in a text are parsed.
func sameArgs(args json.RawMessage) string {
	var text string
	if json.Unmarshal(args, &text) == nil {
		args = json.RawMessage(cmp.Or(text, "{}"))
	}
	var v any
	if json.Unmarshal(args, &v) != nil || v == nil {
		return cmp.Or(strings.TrimSpace(strings.TrimPrefix(string(args), "null")), "{}")
	}
	b, err := json.Marshal(v)
	if err != nil {
		return string(args)
	}
	return string(b)
}

// usageDiffers names the count that differs; "" for none.
func (e *answerOfProvider) usageDiffers(u *callvet.Usage) string {
	if e.Input == nil && e.Output == nil {
		if u.Known {
			return fmt.Sprintf("usage is reported that is not there: %+v", *u)
		}
		return ""
	}
	if !u.Known {
		return "unknown: " + u.Note
	}
	for _, n := range []struct {
		name string
		want *int
		got  int
	}{
		{"input", e.Input, u.InputTokens},
		{"output", e.Output, u.OutputTokens},
		{"cached", e.Cached, u.CachedTokens},
		{"reasoning", e.Reasoning, u.ReasoningTokens},
	} {
		if n.want != nil && *n.want != n.got {
			return fmt.Sprintf("%s: want %d, got %d", n.name, *n.want, n.got)
		}
	}
	return ""
}

// added adds up the events of a streamed answer of Responses or Gemini: texts as they arrive, and complete calls.
func (r *recordedAnswer) added() (*answerOfProvider, error) {
	e := &answerOfProvider{}
	for line := range strings.Lines(r.Body) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data:")
		if !ok || strings.TrimSpace(data) == "[DONE]" {
			continue
		}
		var event struct {
			Type, Delta string
			Item        struct {
				Type, Name string
				Arguments  json.RawMessage
			}
			Candidates []struct {
				Content struct {
					Parts []struct {
						Text         string
						Thought      bool
						FunctionCall *struct {
							Name string
							Args json.RawMessage
						}
					}
				}
			}
		}
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			return nil, fmt.Errorf("read an event of %s: %w", r.ID, err)
		}
		switch {
		case event.Type == "response.output_text.delta", event.Type == "response.refusal.delta":
			e.Text += event.Delta
		case event.Type == "response.output_item.done" && event.Item.Type == "function_call":
			e.Calls = append(e.Calls, namedArgs{event.Item.Name, event.Item.Arguments})
		}
		for _, c := range event.Candidates[:min(len(event.Candidates), 1)] {
			for _, p := range c.Content.Parts {
				if p.FunctionCall != nil {
					e.Calls = append(e.Calls, namedArgs{p.FunctionCall.Name, p.FunctionCall.Args})
				} else if !p.Thought {
					e.Text += p.Text
				}
			}
		}
	}
	return e, nil
}
