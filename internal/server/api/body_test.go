// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// TestBriefErrors: a reply has at most maxErrors errors and the number of the others. Input of a
// client is repeated up to maxEcho bytes.
func TestBriefErrors(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{maxErrors: maxErrors, maxErrors + 1: maxErrors + 1, maxErrors + 5: maxErrors + 1} {
		e := &huma.ErrorModel{}
		for i := range n {
			e.Errors = append(e.Errors, &huma.ErrorDetail{Location: fmt.Sprint(i)})
		}
		if _, err := brief(nil, "", e); err != nil || len(e.Errors) != want {
			t.Errorf("%d errors: %d, %v", n, len(e.Errors), err)
		}
		if last := e.Errors[len(e.Errors)-1].Message; n > maxErrors &&
			last != fmt.Sprintf("and %d more errors", n-maxErrors) || n == maxErrors && last != "" {
			t.Errorf("%d errors: %q", n, last)
		}
	}
	whole, long := strings.Repeat("x", maxEcho), strings.Repeat("x", maxEcho+1)
	e := &huma.ErrorModel{Errors: []*huma.ErrorDetail{
		{Location: whole, Value: whole},
		{Location: long, Value: long},
		{Value: "\xff"},
		{Value: map[string]any{}},
		{Value: 7},
	}}
	if _, err := brief(nil, "", e); err != nil {
		t.Fatal(err)
	}
	if a, b := e.Errors[0], e.Errors[1]; a.Location != whole || a.Value != whole || b.Location != whole+"…" ||
		b.Value != nil {
		t.Errorf("%+v %+v", a, b)
	}
	if e.Errors[2].Value != nil || e.Errors[3].Value != nil || e.Errors[4].Value != 7 {
		t.Errorf("%+v", e.Errors)
	}
}

// TestFrames: so many messages are let through in a span, and one more ends the socket once. Another span counts anew.
func TestFrames(t *testing.T) {
	t.Parallel()
	ended := 0
	f := &frames{tooMany: func() { ended++ }}
	send := func(n int, want bool) {
		t.Helper()
		for range n {
			if got := f.count(); got != want || f.over() == want {
				t.Fatalf("%t after %d", got, f.n)
			}
		}
	}
	send(maxMessages, true)
	f.began = time.Now().Add(-2 * messageSpan)
	send(maxMessages, true)
	send(2, false)
	if ended != 1 {
		t.Errorf("ended %d times", ended)
	}
}

// TestParamsOf: the field temperature replaces the parameter, and the seed of the request does not replace one.
func TestParamsOf(t *testing.T) {
	t.Parallel()
	half := 0.5
	for name, tc := range map[string]struct {
		given       string
		temperature *float64
		seed        int64
		want        string
	}{
		"nothing":           {`{}`, nil, 0, `{}`},
		"a temperature":     {`{"temperature":1}`, nil, 0, `{"temperature":1}`},
		"another one":       {`{"temperature":1}`, &half, 0, `{"temperature":0.5}`},
		"a seed":            {`{}`, nil, 7, `{"seed":7}`},
		"a seed of its own": {`{"seed":3}`, nil, 7, `{"seed":3}`},
	} {
		var given map[string]json.RawMessage
		if err := json.Unmarshal([]byte(tc.given), &given); err != nil {
			t.Fatal(err)
		}
		p, err := ParamsOf(given, tc.temperature, tc.seed)
		if got, bad := json.Marshal(p); err != nil || bad != nil || string(got) != tc.want {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}
