// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/callvet/callvet/verify/proof"
)

// mockCase is a question for a mock, and the answer that it is set to return.
type mockCase struct {
	id, prompt, text string
	calls            []mockCall
}

type mockCall struct {
	Tool string `json:"tool"`
	Args any    `json:"args"`
}

func mockCases() []mockCase {
	search := func(q string) mockCall { return mockCall{"search", members{"q": q}} }
	order := func(args members) mockCall { return mockCall{"order", args} }
	return []mockCase{
		{id: "one", prompt: "Find lamps.", calls: []mockCall{search("lamps")}},
		{id: "two", prompt: "Find lamps and also rugs.", calls: []mockCall{search("lamps"), search("rugs")}},
		{
			id: "beside-a-text", prompt: "Find beds, and say so.", text: "Let me look.",
			calls: []mockCall{search("beds")},
		},
		{
			id: "nested", prompt: "Order two A-1 to Oslo.",
			calls: []mockCall{order(members{"sku": "A-1", "count": 2, "to": members{"city": "Oslo", "zip": "0150"}})},
		},
		{id: "letters", prompt: "Søk etter “blå” lamper.", calls: []mockCall{search("blå “lamper” 🛋\n\"rød\" \\ 灯")}},
		{
			id: "long", prompt: "Order a hundred B-2.",
			calls: []mockCall{order(members{
				"sku": "B-2", "count": 100,
				"note": strings.Repeat("leave it at the door; ", 10),
			})},
		},
		{id: "no-arguments", prompt: "Show my basket.", calls: []mockCall{{"basket", members{}}}},
		{id: "thanks", prompt: "Thanks a lot!", text: "You are welcome."},
		{id: "talk", prompt: "What is a rug made of?", text: strings.Repeat("Wool, cotton or silk. ", 6)},
		{id: "refuse", prompt: "Delete everything.", text: "I cannot do that."},
	}
}

// mocked are the targets at a mock: the value of -m and the path of the API. An agent has only an
// address, and the mock makes no faults for it.
func mocked() []struct{ target, path, preset string } {
	return []struct{ target, path, preset string }{
		{"openai/gpt-4o", "/v1", ""},
		{"openai-responses/gpt-5.4", "/v1", ""},
		{"anthropic/claude-sonnet-4-5", "", ""},
		{"gemini/gemini-2.5-flash", "/v1beta", ""},
		{"ollama/llama3", "", ""},
		{"openrouter/openai/gpt-4o", "/api/v1", ""},
		{"azure/gpt-4o", "", ""},
		{"cohere/command-a", "/compatibility/v1", ""},
		{"compatible/m", "/v1", ""},
		{"", "/agui", "ag-ui"},
	}
}

const (
	chaosRate   = 0.1 // of each kind
	mockRepeats = 4
	theMock     = "cells of a mock, each stored once and passed"
	theChaos    = "cells of a mock with faults, each stored once, passed or an error"
)

// faultyMock runs a suite against a mock of the providers and of agents, first unchanged, then with
// some answers lost, cut or refused: no such answer is a verdict on the model.
func faultyMock(ctx context.Context, c *proof.Check, p place) error {
	binary, err := filepath.Abs(p.args[0])
	if err != nil {
		return err
	}
	dir, err := installAgents(ctx, p.real, filepath.Join(".cache", "real"))
	if err != nil {
		return err
	}
	return askMock(ctx, c, dir, binary)
}

func askMock(ctx context.Context, c *proof.Check, dir, binary string) error {
	room, err := os.MkdirTemp("", "callvet-mock-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(room)
	suite := filepath.Join(room, "suite.json")
	if err := writeJSONFile(suite, mockSuite()); err != nil {
		return err
	}
	targets := 0
	for _, m := range mocked() {
		targets += 1 + min(1, len(m.target)) // agents are not asked to stream
	}
	c.Due(theMock, targets*len(mockCases()), "the targets and cases of the mock")
	c.Due(theChaos, targets*len(mockCases())*mockRepeats, "the targets and cases of the mock")
	c.Printf("%-40s %-22s %s\n", "a mock of", "as it is",
		fmt.Sprintf("%.0f %% of each of four faults: passed, errors, failed", chaosRate*100))
	port, err := freePort(ctx)
	if err != nil {
		return err
	}
	base := "http://127.0.0.1:" + port
	cells := map[bool][]map[string]tally{}
	for _, chaos := range []bool{false, true} {
		if err := serveMock(ctx, dir, room, port, chaos, func() error {
			n := 0
			return eachMocked(func(name string, args []string) error {
				n++
				repeats := 1
				if chaos {
					repeats = mockRepeats
				}
				out := filepath.Join(room, fmt.Sprintf("%v-%d", chaos, n))
				got, err := runMocked(ctx, binary, suite, out, append(args, "-r", fmt.Sprint(repeats)))
				if err != nil {
					return fmt.Errorf("ask %s: %w", name, err)
				}
				cells[chaos] = append(cells[chaos], got)
				return nil
			}, base)
		}); err != nil {
			return err
		}
	}
	faults, i := 0, 0
	err = eachMocked(func(name string, _ []string) error {
		plain := countMocked(c, theMock, name, cells[false][i], false)
		faulty := countMocked(c, theChaos, name, cells[true][i], true)
		c.Printf("%-40s %2d of %-16d %d, %d, %d of %d\n", name, plain["pass"], len(cells[false][i]), faulty["pass"],
			faulty["error"], faulty["fail"], len(cells[true][i]))
		faults += faulty["error"]
		i++
		return nil
	}, base)
	if err == nil && faults == 0 {
		err = errors.New("the mock made no faults: nothing was shown")
	}
	return err
}

// eachMocked goes through the targets, plain and streamed.
func eachMocked(do func(name string, args []string) error, base string) error {
	for _, m := range mocked() {
		if m.preset != "" {
			if err := do("agent "+m.preset,
				[]string{"-m", base + m.path, "--agent", "preset=" + m.preset}); err != nil {
				return err
			}
			continue
		}
		for _, stream := range []string{"", " --stream"} {
			args := append([]string{"-m", m.target, "--base-url", base + m.path}, strings.Fields(stream)...)
			if err := do(m.target+stream, args); err != nil {
				return err
			}
		}
	}
	return nil
}

// tally is the stored result of a cell.
type tally struct {
	n       int
	verdict string
	reason  string
}

func countMocked(c *proof.Check, subject, target string, cells map[string]tally, faulty bool) map[string]int {
	n := map[string]int{}
	for cell, t := range cells {
		n[t.verdict]++
		c.Compare(subject, target+" "+cell, t.n == 1 && (t.verdict == "pass" || faulty && t.verdict == "error"),
			"stored %d times: %s, %s", t.n, t.verdict, t.reason)
	}
	return n
}

// runMocked runs the suite and reads the cells back from the store.
func runMocked(ctx context.Context, binary, suite, out string, args []string) (map[string]tally, error) {
	path := out + ".jsonl"
	cmd := exec.CommandContext(ctx, binary,
		append([]string{"run", suite, "--db", out + ".db", "-q", "--no-cache", "-c", "4", "--retries", "1", "-o", path},
			args...)...)
	cmd.Env = os.Environ()
	for _, key := range []string{"OPENAI", "ANTHROPIC", "GEMINI", "OPENROUTER", "AZURE_OPENAI", "COHERE"} {
		cmd.Env = append(cmd.Env, key+"_API_KEY=none")
	}
	output, failed := cmd.CombinedOutput() // errors among the attempts are an exit code
	cells := map[string]tally{}
	err := attemptsOf(path, func(id, verdict, reason string) { cells[id] = tally{cells[id].n + 1, verdict, reason} })
	if err != nil {
		return nil, fmt.Errorf("%w: %.500s", errors.Join(err, failed), bytes.TrimSpace(output))
	}
	return cells, nil
}

// serveMock runs the mock while do sends requests to it.
func serveMock(ctx context.Context, dir, room, port string, chaos bool, do func() error) error {
	config, fixtures := filepath.Join(room, "mock.json"), filepath.Join(room, "fixtures.json")
	llm := members{"fixtures": fixtures, "logLevel": "silent"}
	if chaos {
		llm["chaos"] = members{
			"dropRate": chaosRate, "malformedRate": chaosRate, "disconnectRate": chaosRate,
			"rateLimitRate": chaosRate,
		}
	}
	var answers, events []any
	for _, m := range mockCases() {
		answer := members{}
		list := []any{members{"type": "RUN_STARTED", "threadId": "t", "runId": "r"}}
		var calls []any
		if m.text != "" {
			answer["content"] = m.text
			list = append(list, members{"type": "TEXT_MESSAGE_START", "messageId": "m", "role": "assistant"},
				members{"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": m.text},
				members{"type": "TEXT_MESSAGE_END", "messageId": "m"})
		}
		for i, call := range m.calls {
			args, err := json.Marshal(call.Args)
			if err != nil {
				return err
			}
			id := fmt.Sprintf("c%d", i)
			calls = append(calls, members{"name": call.Tool, "arguments": string(args)})
			list = append(list, members{"type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": call.Tool},
				members{"type": "TOOL_CALL_ARGS", "toolCallId": id, "delta": string(args)},
				members{"type": "TOOL_CALL_END", "toolCallId": id})
		}
		if calls != nil {
			answer["toolCalls"] = calls
		}
		answers = append(answers, members{"match": members{"userMessage": m.prompt}, "response": answer})
		events = append(events, members{
			"match":  members{"message": m.prompt},
			"events": append(list, members{"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}),
		})
	}
	all := members{"port": 0, "llm": llm, "agui": members{"path": "/agui", "fixtures": events}}
	if err := writeJSONFile(fixtures, members{"fixtures": answers}); err != nil {
		return err
	}
	if err := writeJSONFile(config, all); err != nil {
		return err
	}
	stop, err := start(ctx, port, filepath.Join(dir, mock), "node_modules/@copilotkit/aimock/dist/aimock-cli.js", "-c",
		config, "-p", port)
	if err != nil {
		return err
	}
	defer stop()
	return do()
}

// mockSuite returns a suite of the cases that expects the answers of the mock.
func mockSuite() members {
	schema := func(properties members, required ...string) members {
		return members{"type": "object", "properties": properties, "required": append([]string{}, required...)}
	}
	text, number := members{"type": "string"}, members{"type": "integer"}
	to := schema(members{"city": text, "zip": text}, "city")
	var cases []any
	for _, m := range mockCases() {
		expect := members{"no_call": true}
		if m.calls != nil {
			expect = members{"calls": m.calls}
		}
		cases = append(cases, members{"id": m.id, "prompt": m.prompt, "expect": expect})
	}
	return members{"callvet": 1, "name": "mock", "cases": cases, "tools": []any{
		members{"name": "search", "description": "Search.", "parameters": schema(members{"q": text}, "q")},
		members{
			"name": "order", "description": "Order.",
			"parameters": schema(members{"sku": text, "count": number, "note": text, "to": to}, "sku", "count"),
		},
		members{"name": "basket", "description": "Show the basket.", "parameters": schema(members{})},
	}}
}

func writeJSONFile(path string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o600)
}
