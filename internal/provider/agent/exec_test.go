// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
)

// TestMain lets the test binary be the agent: AGENT_TEST selects how it behaves.
func TestMain(m *testing.M) {
	if mode := os.Getenv("AGENT_TEST"); mode != "" {
		os.Exit(behave(mode))
	}
	os.Exit(m.Run())
}

func behave(mode string) int {
	in, _ := io.ReadAll(os.Stdin)
	switch mode {
	case "echo":
		var req struct {
			CaseID   string `json:"case_id"`
			Messages []msg  `json:"messages"`
			Tools    []tool `json:"tools"`
		}
		_ = json.Unmarshal(in, &req)
		fmt.Printf(`{"text":%q,"calls":[{"name":%q,"args":{"n":%d}}],"usage":{"input_tokens":2,"output_tokens":1}}`,
			req.CaseID+" "+req.Messages[len(req.Messages)-1].Content+" home="+os.Getenv("HOME"),
			req.Tools[0].Function.Name, len(req.Messages))
	case "turns":
		fmt.Println(
			`{"role":"assistant","content":"","tool_calls":[{"id":"1","function":{"name":"f","arguments":"{\"a\":1}"}}]}`)
		fmt.Println(`{"role":"tool","tool_call_id":"1","content":"ok"}`)
		fmt.Println(`{"role":"assistant","content":"done"}`)
	case "events":
		fmt.Println(`{"type":"text_delta","content":"hi"}`)
		fmt.Println(`{"type":"done"}`)
	case "mark":
		fmt.Println("\ufeff" + `{"text":"hi"}`)
	case "fail":
		fmt.Fprint(os.Stderr, strings.Repeat("noise ", 1000), "the last words")
		return 3
	case "prose":
		fmt.Println("hello there")
	case "silent":
	case "flood":
		for {
			if _, err := os.Stdout.WriteString(strings.Repeat("x", 4096)); err != nil {
				return 1
			}
		}
	case "daemon", "daemon-hang": // a child that has left the group, and holds no pipe; on Linux only
		if err := detached(os.Getenv("AGENT_PID")); err != nil {
			return 1
		}
		if mode == "daemon" {
			fmt.Print(`{"text":"done"}`)
			return 0
		}
		<-time.After(time.Hour)
	case "hang", "child":
		if mode == "hang" { // a child that would outlive its parent
			c := exec.Command(os.Args[0])
			c.Env, c.Stdout = []string{"AGENT_TEST=child"}, os.Stdout
			_ = c.Start()
		}
		<-time.After(time.Hour) // until killed; an empty select would be seen as a deadlock
	}
	return 0
}

func helper(t *testing.T, mode string, change func(*ExecConfig)) callvet.Model {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cfg := ExecConfig{Args: []string{self}, Env: []string{"AGENT_TEST=" + mode}, MaxBytes: 1 << 16}
	if change != nil {
		change(&cfg)
	}
	m, target, err := OpenExec(cfg)
	if err != nil || !target.Agent {
		t.Fatal(target, err)
	}
	return m
}

func TestExec(t *testing.T) {
	t.Parallel()
	req := ask("hello")
	req.System, req.Tools = "be brief", callvet.NewToolset([]callvet.Tool{{Name: "f"}})
	for mode, want := range map[string]string{
		"echo":   "assistant \"c1 hello home=\" f{\"n\":2}\n",
		"turns":  "assistant \"\" f{\"a\":1}=\"ok\"\ntool \"ok\"\nassistant \"done\"\n",
		"events": "assistant \"hi\"\n",
		"mark":   "assistant \"hi\"\n",
	} {
		resp, err := helper(t, mode, nil).Generate(t.Context(), req)
		if err != nil {
			t.Errorf("%s: %v", mode, err)
			continue
		}
		if d := cmp.Diff(want, show(resp.Turns)); d != "" {
			t.Errorf("%s: %s", mode, d)
		}
		if !resp.Complete || resp.Wall <= 0 || !strings.Contains(string(resp.Exchanges[0].Request), req.Tools.Hash) {
			t.Errorf("%s: %+v", mode, resp)
		}
	}
}

func TestExecFaults(t *testing.T) {
	t.Parallel()
	for mode, kind := range map[string]callvet.FaultKind{
		"fail": callvet.FaultProcess, "prose": callvet.FaultMalformed, "silent": callvet.FaultMalformed,
		"flood": callvet.FaultTooLarge,
	} {
		_, err := helper(t, mode, nil).Generate(t.Context(), ask("x"))
		var f *callvet.Fault
		if !errors.As(err, &f) || f.Kind != kind {
			t.Errorf("%s: %v, want %s", mode, err, kind)
			continue
		}
		if mode == "fail" && (!strings.HasSuffix(f.Message, "the last words") || len(f.Message) > 2<<10+100) {
			t.Errorf("message of %d bytes: %s", len(f.Message), f.Message)
		}
	}
	if _, _, err := OpenExec(ExecConfig{Args: []string{"/no/such/agent"}}); !errors.Is(err, callvet.ErrNotFound) {
		t.Error(err)
	}
}

// TestExecTimeout: what the command started, and left the pipe to, does not hold the attempt.
func TestExecTimeout(t *testing.T) {
	t.Parallel()
	m := helper(t, "hang", func(c *ExecConfig) { c.Timeout = 300 * time.Millisecond })
	_, err := m.Generate(t.Context(), ask("x"))
	var f *callvet.Fault
	if !errors.As(err, &f) || f.Kind != callvet.FaultTimeout {
		t.Fatal(err)
	}
}

func FuzzStream(f *testing.F) {
	f.Add("event: tool_call\ndata: {\"name\":\"f\",\"args\":{}}\n\nevent: done\ndata: {}\n\n")
	f.Add(
		"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":3,\"function\":{\"arguments\":\"{\"}}]}}]}\r\rdata: [DONE]")
	f.Add("event: hitl\ndata: {\"a\":{\"tool\":\"x\"}}\n\n")
	f.Add("data: {\"type\":\"tool_result\",\"result\":1}\n\ndata: \"x\"\n\n")
	clock := func() time.Time { return time.Unix(0, 0) }
	f.Fuzz(func(t *testing.T, in string) {
		resp, err := Stream(strings.NewReader(in), "", message.Options{}, clock(), clock)
		if err == nil && len(resp.Turns) == 0 {
			t.Fatalf("%q gives neither turns nor an error", in)
		}
		resp, err = Lines(strings.NewReader(in), "", message.Options{}, clock(), clock)
		if err == nil && len(resp.Turns) == 0 {
			t.Fatalf("%q gives neither turns nor an error", in)
		}
	})
}

// TestPromptArgument holds that the user's message takes the place of {prompt}, as it is and as
// one argument, and that standard input is empty then.
func TestPromptArgument(t *testing.T) {
	t.Parallel()
	m, _, err := OpenExec(
		ExecConfig{Args: []string{
			"sh", "-c", `printf '{"text":"%s","calls":[],"n":%d,"in":"%s"}' "$1" "$#" "$(cat)"`,
			"sh", "<" + Prompt + ">",
		}, Env: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	const message = "a  $(b) {prompt} 'c'; d"
	resp, err := m.Generate(t.Context(), ask(message))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"text":"<` + message + `>","calls":[],"n":1,"in":""}`
	if got := resp.Exchanges[0].Response; got != want {
		t.Errorf("printed %s, want %s", got, want)
	}
	if _, _, err := OpenExec(ExecConfig{Args: []string{"sh", "-c", "echo " + Prompt}}); !errors.Is(err,
		callvet.ErrInvalid) {
		t.Errorf("a message as code: %v", err)
	}
	if _, _, err := OpenExec(ExecConfig{Args: []string{"/no/" + Prompt}}); !errors.Is(err, callvet.ErrNotFound) {
		t.Errorf("a message as the command: %v", err)
	}
	req := ask("second")
	req.Turns = append([]callvet.Turn{
		{Role: callvet.RoleUser, Content: "first"},
		{Role: callvet.RoleAssistant, Content: "yes?"},
	}, req.Turns...)
	var fault *callvet.Fault
	if _, err = m.Generate(t.Context(), req); !errors.As(err, &fault) || fault.Kind != callvet.FaultUnsupport {
		t.Errorf("a conversation: %v", err)
	}
}
