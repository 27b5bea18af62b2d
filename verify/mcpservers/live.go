// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package mcpservers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/callvet/callvet/verify/proof"
)

const (
	theLive     = "calls of a real server in a run that really calls it"
	theRecorded = "the same calls, recorded there and replayed without the server"
)

// lived are calls with their results in a run.
func lived() []struct {
	call
	want string
} {
	return []struct {
		call
		want string
	}{
		{call{"echo", members{"message": "blå 灯"}}, `"Echo: blå 灯"`},
		{call{"get-sum", members{"a": 1, "b": 2}}, `"The sum of 1 and 2 is 3."`},
		{
			call{"get-structured-content", members{"location": "Chicago"}},
			`{"temperature":36,"conditions":"Light rain / drizzle","humidity":82}`,
		},
	}
}

// live runs a suite with calls that a real server answers; where is its place.
func (l *lab) live(ctx context.Context, c *proof.Check, way string, where members) error {
	var tools, cases, rules []any
	names := members{}
	for i, k := range lived() {
		id := fmt.Sprintf("case-%d", i)
		tools = append(tools, members{
			"name": k.Tool, "description": "Does " + k.Tool + ".", "read_only": true,
			"parameters": members{"type": "object"},
		})
		cases = append(cases, members{
			"id": id, "prompt": "Call " + k.Tool + ".", "multi_turn": members{},
			"expect": members{"calls": []any{members{"tool": k.Tool}}, "response": members{"non_empty": true}},
		})
		rules = append(rules, members{
			"case":  id,
			"steps": []any{members{"calls": []any{members{"tool": k.Tool, "args": k.Args}}}, members{"text": "Done."}},
		})
		names[k.Tool] = members{"read_only": true, "mcp": "everything"}
	}
	files := members{
		"suite.json": members{"callvet": 1, "name": "everything", "tools": tools, "cases": cases},
		"agent.json": members{"rules": rules},
		"live.json":  members{"tools": names, "servers": members{"everything": where}},
	}
	for name, v := range files {
		b, err := json.Marshal(v)
		if err == nil {
			err = os.WriteFile(filepath.Join(l.room, name), b, 0o600)
		}
		if err != nil {
			return err
		}
	}
	in := func(name string) string { return filepath.Join(l.room, name) }
	run, rec := "live-"+strings.ReplaceAll(way, " ", "-"), in("recordings-"+strings.ReplaceAll(way, " ", "-"))
	common := []string{"run", in("suite.json"), "-m", "script:" + in("agent.json"), "-q", "--fail-under", "0"}
	for _, r := range []struct {
		what, name, env string
		args            []string
	}{
		{
			theLive, run, "live mcp ",
			[]string{"--world", "live", "--live", in("live.json"), "--allow-exec", "--record", rec},
		},
		{theRecorded, "recorded-" + run, "recorded", []string{"--recordings", rec}},
	} {
		if _, err := l.callvet(ctx, append(append(slices.Clone(common), "--name", r.name), r.args...)...); err != nil {
			return fmt.Errorf("run over %s: %w", way, err)
		}
		got, err := l.answered(ctx, r.name, r.env)
		if err != nil {
			return err
		}
		for _, k := range lived() {
			same, err := proof.SameJSON([]byte(k.want), []byte(got[k.Tool]))
			c.Compare(r.what, way+", "+k.Tool, err == nil && same, "%.300q, want %s", got[k.Tool], k.want)
		}
	}
	return nil
}

// answered returns the results of a run by tool. The trace names the answering server with the prefix
// env.
func (l *lab) answered(ctx context.Context, run, env string) (map[string]string, error) {
	out, err := l.callvet(ctx, "trace", "export", run)
	if err != nil {
		return nil, err
	}
	got := map[string]string{}
	for line := range bytes.Lines(out) {
		var s struct {
			Type, Tool, Status, Env string
			Result                  json.RawMessage
		}
		if err := json.Unmarshal(line, &s); err != nil {
			return nil, fmt.Errorf("read traces: %w", err)
		}
		if s.Type == "" && s.Status == "ok" && strings.HasPrefix(s.Env, env) {
			got[s.Tool] = string(s.Result)
		}
	}
	return got, nil
}
