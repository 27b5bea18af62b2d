// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// modelServer answers chat completions with the answers of newCase, after a fixed latency. Answers
// are encoded once to save CPU time, since the server shares the cores with the measured program.
type modelServer struct {
	url    string
	srv    *http.Server
	canned sync.Map
}

func startServer(addr string, latency time.Duration) (*modelServer, error) {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	s := &modelServer{url: "http://" + l.Addr().String() + "/v1"}
	pool := sync.Pool{New: func() any { return new(bytes.Buffer) }}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		buf := pool.Get().(*bytes.Buffer)
		defer pool.Put(buf)
		buf.Reset()
		if _, err := io.Copy(buf, r.Body); err != nil {
			return
		}
		time.Sleep(latency)
		body := s.reply(caseNumber(buf.Bytes()))
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body)
	})
	s.srv = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.srv.Serve(l) }()
	return s, nil
}

func (s *modelServer) close() { _ = s.srv.Close() }

func caseNumber(body []byte) int {
	p := bytes.LastIndex(body, []byte(marker))
	if p < 0 || p+len(marker)+7 > len(body) {
		return 0
	}
	n, err := strconv.Atoi(string(body[p+len(marker) : p+len(marker)+7]))
	if err != nil {
		return 0
	}
	return n
}

func (s *modelServer) reply(i int) []byte {
	if b, ok := s.canned.Load(i); ok {
		return b.([]byte)
	}
	name, args := newCase(i).answer()
	msg := map[string]any{"role": "assistant", "content": "Let me see what I can do."}
	finish := "stop"
	if name != "" {
		a, _ := json.Marshal(args)
		msg = map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{map[string]any{
			"id": fmt.Sprintf("call_%07d", i), "type": "function",
			"function": map[string]any{"name": name, "arguments": string(a)},
		}}}
		finish = "tool_calls"
	}
	b, _ := json.Marshal(map[string]any{
		"id": fmt.Sprintf("chatcmpl-%07d", i), "object": "chat.completion", "created": 1790000000, "model": "bench-1",
		"choices": []any{map[string]any{"index": 0, "message": msg, "finish_reason": finish}},
		"usage":   map[string]any{"prompt_tokens": 640, "completion_tokens": 22, "total_tokens": 662},
	})
	s.canned.Store(i, b)
	return b
}
