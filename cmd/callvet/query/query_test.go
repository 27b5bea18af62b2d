// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package query_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/callvet/callvet/cmd/callvet/query"
	"github.com/callvet/callvet/cmd/callvet/selector"
)

// world runs commands over files in memory.
type world struct {
	files  map[string]string
	missed bool
}

func (w *world) env(out io.Writer) selector.Env {
	return selector.Env{
		Read: func(name string) ([]byte, error) {
			if s, ok := w.files[name]; ok {
				return []byte(s), nil
			}
			return nil, os.ErrNotExist
		},
		Now: time.Now, Out: out, JSON: func() bool { return false }, Missed: func() { w.missed = true },
		Models: func() *selector.Models {
			return &selector.Models{Getenv: func(name string) string { return map[string]string{"KEY": "s3cret-key"}[name] }, Now: time.Now, Warn: io.Discard}
		},
	}
}

func (w *world) run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	cmd := query.Command(w.env(&out))
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

const listed = `{"agents":[{"name":"travel"}],"tools":[{"name":"trains","description":"When trains leave.","keywords":["timetable","trains"],"agents":["travel"]},{"name":"weather","description":"Rain and sun."}]}`

// One question tells what decided, what is shared, and whether that is what is expected.
func TestQuery(t *testing.T) {
	t.Parallel()
	const file = `{"rules":[{"route":"action","sub_route":"travel","patterns":["(?i)trains"]}],"default":"knowledge"}`
	for _, c := range []struct {
		args   []string
		missed bool
		say    []string
	}{
		{nil, false, []string{`the route is action by rule 1, which finds "trains" with (?i)trains`, "trains has trains (name, description, keywords)", "keywords: trains"}},
		{[]string{"--expect", "trains", "--expect-route", "action", "--expect-sub-route", "travel", "--expect-agents", "travel"}, false, []string{"pass:"}},
		{[]string{"--expect-route", "knowledge"}, true, []string{"fail:", "route: expected knowledge, got action"}},
		{[]string{"--expect-agents", "sky"}, true, []string{"agents: expected sky, got travel"}},
		{[]string{"--expect", "weather", "--k", "1"}, true, []string{`expected weather`, "because"}},
		{[]string{"--acceptable", "trains", "--k", "1"}, false, []string{"pass:"}},
		{[]string{"--expect", "none"}, true, []string{"tools: expected none"}},
	} {
		w := &world{files: map[string]string{"c.json": listed, "r.json": file}}
		out, err := w.run(t, append(c.args, "When do trains leave?", "--tools", "c.json", "--routes", "r.json")...)
		if err != nil || w.missed != c.missed {
			t.Errorf("%v: missed %v, %v\n%s", c.args, w.missed, err, out)
		}
		for _, say := range c.say {
			if !strings.Contains(out, say) {
				t.Errorf("%v: %q is not in\n%s", c.args, say, out)
			}
		}
	}
	for _, args := range [][]string{{}, {"--tools", "c.json", "--expect", "none,trains"}, {"--tools", "c.json", "--expect", "none_such"}, {"--via", "http://127.0.0.1:1", "--header", "x"}} {
		w := &world{files: map[string]string{"c.json": listed}}
		if _, err := w.run(t, append(args, "x")...); err == nil {
			t.Errorf("%v is accepted", args)
		}
	}
}

// A service is asked one question as a run would.
func TestQueryService(t *testing.T) {
	t.Parallel()
	var body, key string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		body, key = string(b), r.Header.Get("Authorization")
		_, _ = io.WriteString(w, `{"tools":[{"id":"trains","score":1}],"route":"action"}`)
	}))
	defer s.Close()
	w := &world{}
	out, err := w.run(t, "When do trains leave?", "--via", s.URL, "--header", "Authorization: Bearer ${KEY}", "--k", "3", "--expect", "trains", "--expect-route", "knowledge")
	if err != nil || !w.missed || !strings.Contains(out, "route action") || !strings.Contains(out, "fail:") {
		t.Errorf("%v %s", err, out)
	}
	if key != "Bearer s3cret-key" || !strings.Contains(body, `"k":3`) || strings.Contains(body, "knowledge") {
		t.Errorf("asked %s with %q", body, key)
	}
}

// Flags that mean nothing are refused.
func TestFlags(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--k", "0"}, {"--k", "-5"}, {"--k", "100000"}, {"--threshold", "NaN"}, {"--weights", "w.json"}} {
		w := &world{files: map[string]string{"c.json": listed, "w.json": `{"retrieval":{"vector":2}}`}}
		if _, err := w.run(t, append(args, "--tools", "c.json", "x")...); err == nil || args[0] == "--weights" && !strings.Contains(err.Error(), "w.json") {
			t.Errorf("%v: %v", args, err)
		}
	}
}
