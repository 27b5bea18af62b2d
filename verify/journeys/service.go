// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package journeys

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
)

// serve answers questions about tools so that each attempt has the verdict of the shape for the first
// attempt at its case: a service cannot distinguish repeats.
func serve(s *shape) (address string, stop func()) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Query string }
		body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
		if err == nil {
			err = json.Unmarshal(body, &in)
		}
		ix := slices.IndexFunc(s.cases, func(id string) bool { return questions[id].prompt == in.Query })
		if err != nil || ix < 0 {
			http.Error(w, "unknown question", http.StatusBadRequest)
			return
		}
		q := questions[s.cases[ix]]
		tools := []map[string]any{}
		switch v := s.want(0, ix, 0); {
		case v == failed:
			http.Error(w, "the index is down", http.StatusInternalServerError)
			return
		case (v == pass) == (q.tool != ""):
			tool := q.tool
			if tool == "" {
				tool = "get_weather"
			}
			tools = append(tools, map[string]any{"id": tool, "score": 0.9})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"tools": tools})
	}))
	return server.URL, server.Close
}
