// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"sync"
	"sync/atomic"
)

// rawLoop does the least work that evaluates n cases: it sends each request, decodes the answer and
// compares one call. It stores nothing.
func rawLoop(ctx context.Context, url string, n, concurrency int) (passed int64, err error) {
	ts, err := json.Marshal(tools())
	if err != nil {
		return 0, err
	}
	client := &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: concurrency, MaxConnsPerHost: concurrency,
		DisableCompression: true,
	}}
	defer client.CloseIdleConnections()
	var next, pass, broken atomic.Int64
	var wg sync.WaitGroup
	for range concurrency {
		wg.Go(func() {
			var in, out bytes.Buffer
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				c := newCase(i)
				prompt, _ := json.Marshal(c.prompt)
				in.Reset()
				fmt.Fprintf(&in,
					`{"model":"bench-1","temperature":0,"messages":[{"role":"user","content":%s}],"tools":%s,"tool_choice":"auto"}`, prompt, ts)
				if err := post(ctx, client, url+"/chat/completions", in.Bytes(), &out); err != nil {
					broken.Add(1)
				} else if rawMatch(out.Bytes(), c) {
					pass.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if broken.Load() > 0 {
		return 0, fmt.Errorf("%d requests of the raw loop were not answered", broken.Load())
	}
	return pass.Load(), nil
}

func post(ctx context.Context, client *http.Client, url string, body []byte, out *bytes.Buffer) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer none")
	rs, err := client.Do(req)
	if err != nil {
		return err
	}
	defer rs.Body.Close()
	out.Reset()
	_, err = io.Copy(out, rs.Body)
	return err
}

func rawMatch(body []byte, c benchCase) bool {
	var out struct {
		Choices []struct {
			Message struct {
				ToolCalls []struct {
					Function struct{ Name, Arguments string }
				} `json:"tool_calls"`
			}
		}
	}
	if json.Unmarshal(body, &out) != nil || len(out.Choices) != 1 || len(out.Choices[0].Message.ToolCalls) != 1 {
		return false
	}
	f := out.Choices[0].Message.ToolCalls[0].Function
	want, _ := json.Marshal(c.args)
	var got, exp any
	return f.Name == c.tool && json.Unmarshal([]byte(f.Arguments), &got) == nil && json.Unmarshal(want, &exp) == nil &&
		reflect.DeepEqual(got, exp)
}
