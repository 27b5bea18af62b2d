// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package mcpservers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/callvet/callvet/cmd/callvet-verify/proof"
)

const theLive = "calls of a real server in a run that really calls it"

// lived are calls with what they come to, as a run has it.
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
		{call{"get-structured-content", members{"location": "Chicago"}}, `{"temperature":36,"conditions":"Light rain / drizzle","humidity":82}`},
	}
}

// live runs a suite whose calls a real server answers, which is where says.
func (l *lab) live(ctx context.Context, c *proof.Check, way string, where members) error {
	var tools, cases, rules []any
	names := members{}
	for i, k := range lived() {
		id := fmt.Sprintf("case-%d", i)
		tools = append(tools, members{"name": k.Tool, "description": "Does " + k.Tool + ".", "read_only": true, "parameters": members{"type": "object"}})
		cases = append(cases, members{"id": id, "prompt": "Call " + k.Tool + ".", "multi_turn": members{}, "expect": members{"calls": []any{members{"tool": k.Tool}}, "response": members{"non_empty": true}}})
		rules = append(rules, members{"case": id, "steps": []any{members{"calls": []any{members{"tool": k.Tool, "args": k.Args}}}, members{"text": "Done."}}})
		names[k.Tool] = members{"read_only": true, "mcp": "everything"}
	}
	files := members{
		"suite.json": members{"callvet": 1, "name": "everything", "tools": tools, "cases": cases}, "agent.json": members{"rules": rules},
		"live.json": members{"tools": names, "servers": members{"everything": where}},
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
	run := "live-" + strings.ReplaceAll(way, " ", "-")
	if _, err := l.callvet(ctx, "run", in("suite.json"), "-m", "script:"+in("agent.json"), "--world", "live", "--live", in("live.json"), "--allow-exec", "--name", run, "-q", "--fail-under", "0"); err != nil {
		return fmt.Errorf("run over %s: %w", way, err)
	}
	out, err := l.callvet(ctx, "trace", "export", run)
	if err != nil {
		return err
	}
	got := map[string]string{}
	for line := range bytes.Lines(out) {
		var s struct {
			Type, Tool, Status, Env string
			Result                  json.RawMessage
		}
		if err := json.Unmarshal(line, &s); err != nil {
			return fmt.Errorf("read traces: %w", err)
		}
		if s.Type == "" && s.Status == "ok" && strings.HasPrefix(s.Env, "live mcp ") {
			got[s.Tool] = string(s.Result)
		}
	}
	for _, k := range lived() {
		same, err := proof.SameJSON([]byte(k.want), []byte(got[k.Tool]))
		c.Compare(theLive, way+", "+k.Tool, err == nil && same, "%.300q, want %s", got[k.Tool], k.want)
	}
	return nil
}
