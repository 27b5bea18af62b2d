// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package evidence

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
)

// wire is an API of models.
type wire struct {
	name, target, path string
	body               func(reply) object
	events             func(reply) []any
	// framed writes the events of a stream.
	framed func([]any) string
	// has reports whether the API, and its streams, can express the finish reason of a cell.
	has, streams func(*cell) bool
	// also are further right ends in this API.
	also func(k *cell, stream bool) []end
}

func wires() []wire {
	all := func(*cell) bool { return true }
	none := func(*cell, bool) []end { return nil }
	// A failed response has an error with a code, and only events of four states end a stream.
	failed := func(k *cell, stream bool) []end {
		switch {
		case k.stop == "failed":
			return []end{fault("server")}
		case stream && k.stop == "":
			return []end{fault("malformed")}
		}
		return nil
	}
	// Only the reason ends a stream of Gemini: a stream without it was interrupted.
	torn := func(k *cell, stream bool) []end {
		if stream && (k.absent || k.null) {
			return []end{fault("malformed")}
		}
		return nil
	}
	ending := func(k *cell) bool { return responsesStatus(k) && k.stop != "cancelled" && k.stop != "in_progress" }
	return []wire{
		{"chat", "openai/m", "/v1", chatBody, chatChunks, dataLines("data: [DONE]\n\n"), all, all, none},
		{
			"responses", "openai-responses/m", "/v1", responseBody, responseEvents, namedEvents, responsesStatus,
			ending, failed,
		},
		{"messages", "anthropic/m", "", messageBody, messageEvents, namedEvents, all, all, none},
		{"gemini", "gemini/m", "/v1beta", geminiBody, geminiChunks, dataLines(""), all, all, torn},
		{"ollama", "ollama/m", "", ollamaBody, ollamaChunks, jsonLines, all, all, none},
	}
}

// dataLines writes events that have only data, with the end of the stream.
func dataLines(end string) func([]any) string {
	return func(events []any) string {
		var b strings.Builder
		for _, e := range events {
			fmt.Fprintf(&b, "data: %s\n\n", inJSON(e))
		}
		return b.String() + end
	}
}

// namedEvents writes events that have their type as a name, too.
func namedEvents(events []any) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", e.(object)["type"], inJSON(e))
	}
	return b.String()
}

func jsonLines(events []any) string {
	var b strings.Builder
	for _, e := range events {
		b.WriteString(inJSON(e) + "\n")
	}
	return b.String()
}

// inJSON writes a value of strings, numbers and lists of them as JSON.
func inJSON(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return "null"
	}
	return strings.TrimSpace(b.String())
}

// cellName matches the name of the requested answer in a prompt.
var cellName = regexp.MustCompile(`cell-\d{4}`)

// server answers each request with the answer that its last message names.
func server(answer func(id string, stream bool) (typ, body string)) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		all := cellName.FindAllString(string(body), -1)
		if len(all) == 0 {
			http.Error(w, "no cell is asked for", http.StatusNotFound)
			return
		}
		var asked struct{ Stream *bool }
		_ = json.Unmarshal(body, &asked)
		stream := asked.Stream != nil && *asked.Stream || strings.Contains(r.URL.Path, "streamGenerateContent")
		typ, text := answer(all[len(all)-1], stream)
		w.Header().Set("Content-Type", typ)
		_, _ = io.WriteString(w, text)
	}))
}

// answering answers a wire's requests with the replies by their id.
func (w *wire) answering(replies map[string]reply) *httptest.Server {
	return server(func(id string, stream bool) (string, string) {
		r := replies[id]
		switch {
		case stream && w.name == "ollama":
			return "application/x-ndjson", w.framed(w.events(r))
		case stream:
			return "text/event-stream", w.framed(w.events(r))
		}
		return "application/json", inJSON(w.body(r))
	})
}

// suite has one case for each id, with the id in its prompt.
func suite(ids []string) string {
	cases := list{}
	for _, id := range ids {
		cases = append(cases, object{"id": id, "prompt": question + " (" + id + ")", "expected_tool": nil})
	}
	return inJSON(object{"name": "evidence", "tools": list{weatherTool()}, "cases": cases})
}

func weatherTool() object {
	return object{"name": theTool, "description": "Returns the weather of a city.", "parameters": object{
		"type": "object", "properties": object{"city": object{"type": "string"}}, "required": list{"city"},
	}}
}
