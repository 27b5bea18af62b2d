// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/internal/sys"
	"github.com/callvet/callvet/value"
)

// ExecConfig configures the process of an agent.
type ExecConfig struct {
	// Args are the command and its arguments; sys.SplitCommand makes them of a line. Where one of
	// the arguments contains Prompt, this is replaced by the user's message, and standard input
	// is empty.
	Args []string
	Dir  string // "": the current one
	// Env is the environment of the process, in addition to CALLVET_ATTEMPT; nothing is inherited.
	Env []string
	// Output are the paths of text and calls in its output.
	Output message.Fields
	// Timeout bounds one attempt; 0: only the context does.
	Timeout time.Duration
	// MaxBytes bounds its output; 0: DefaultMaxBytes.
	MaxBytes int64
	// Now is the clock; nil: time.Now.
	Now func() time.Time
}

// Prompt is the placeholder for the user's message in the arguments of a command.
const Prompt = "{prompt}"

// OpenExec checks cfg and returns the model with its description (Agent set). The error is
// ErrInvalid when there is no command, ErrNotFound when it cannot be found.
func OpenExec(cfg ExecConfig) (callvet.Model, callvet.Target, error) {
	if len(cfg.Args) == 0 || cfg.Args[0] == "" {
		return nil, callvet.Target{}, &callvet.Hinted{
			Err:  fmt.Errorf("open agent: no command: %w", callvet.ErrInvalid),
			Hint: "write it like exec:./agent --flag",
		}
	}
	for i, arg := range cfg.Args {
		if i > 0 && strings.Contains(arg, Prompt) &&
			slices.Contains([]string{"-c", "-lc", "/c", "/C", "-Command"}, cfg.Args[i-1]) {
			return nil, callvet.Target{}, &callvet.Hinted{
				Err: fmt.Errorf("open agent: %s stands in the code of a shell, which would run the user's message: %w",
					Prompt, callvet.ErrInvalid),
				Hint: `give it as an argument of its own: sh -c 'my-agent "$1"' sh ` + Prompt,
			}
		}
	}
	path, err := exec.LookPath(cfg.Args[0])
	if err != nil {
		return nil, callvet.Target{}, fmt.Errorf("open agent: find %q: %w: %w", cfg.Args[0], err, callvet.ErrNotFound)
	}
	if cfg.MaxBytes <= 0 {
		cfg.MaxBytes = DefaultMaxBytes
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	t := callvet.Target{Name: "exec:" + strings.Join(cfg.Args, " "), Provider: "exec", Model: cfg.Args[0], Agent: true}
	return &execAgent{cfg: cfg, path: path}, t, nil
}

type execAgent struct {
	cfg      ExecConfig
	path     string
	families sys.ProcessFamilies // one for each attempt
}

// Generate runs the process once.
func (a *execAgent) Generate(ctx context.Context, req *callvet.Request) (*callvet.Response, error) {
	args, prompted, err := a.arguments(req)
	if err != nil {
		return nil, err
	}
	in, shown, err := execRequest(req)
	if err != nil {
		return nil, &callvet.Fault{Kind: callvet.FaultRequest, Message: "write the request: " + err.Error()}
	}
	if prompted {
		in = nil
	}
	if a.cfg.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, a.cfg.Timeout)
		defer cancel()
	}
	start := a.cfg.Now()
	out, runErr := a.process(ctx, args, in)
	took := max(a.cfg.Now().Sub(start), 1)
	x := callvet.Exchange{
		Request: shown, Response: strings.ToValidUTF8(string(out), "\uFFFD"),
		MS: float64(took) / float64(time.Millisecond),
	}
	var resp *callvet.Response
	if err = runErr; err == nil {
		resp, err = printed(out, message.Options{Tools: req.Tools, Input: req.Turns, Fields: a.cfg.Output, Agent: true},
			start, a.cfg.Now)
	}
	if err != nil {
		f := FaultOf(ctx, err)
		x.Error = f.Message
		f.Exchanges = []callvet.Exchange{x}
		return nil, f
	}
	resp.Complete, resp.Wall, resp.FirstToken = true, took, 0
	resp.Exchanges = []callvet.Exchange{x}
	return resp, nil
}

// arguments are the arguments of the command, with Prompt replaced by the user's message;
// prompted reports whether one of them contains it. A message is one argument and goes through no
// shell.
func (a *execAgent) arguments(req *callvet.Request) (args []string, prompted bool, err error) {
	args = slices.Clone(a.cfg.Args[1:])
	text, alone := lastUser(req.Turns)
	for i, arg := range args {
		if !strings.Contains(arg, Prompt) {
			continue
		}
		if !alone {
			return nil, false, &callvet.Fault{
				Kind: callvet.FaultUnsupport,
				Message: "the case has a conversation before its last message, and the command takes one message: leave " + Prompt +
					" out, and read the request from standard input",
			}
		}
		args[i], prompted = strings.ReplaceAll(arg, Prompt, text), true
	}
	return args, prompted, nil
}

// execRequest is the standard input, and the same with a hash in place of the tools.
func execRequest(req *callvet.Request) (in []byte, shown json.RawMessage, err error) {
	type body struct {
		CaseID     string         `json:"case_id"`
		Repeat     int            `json:"repeat"`
		System     string         `json:"system,omitempty"`
		Messages   []msg          `json:"messages"`
		Tools      any            `json:"tools"`
		ToolChoice string         `json:"tool_choice,omitempty"`
		Params     callvet.Params `json:"params"`
		Stubs      []callvet.Mock `json:"stubs,omitempty"`
	}
	b := body{
		CaseID: req.CaseID, Repeat: req.Repeat, System: req.System, Messages: messages(req.System, req.Turns),
		Tools: tools(req.Tools), ToolChoice: req.ToolChoice, Params: req.Params, Stubs: req.Stubs,
	}
	if in, err = json.Marshal(b); err != nil {
		return nil, nil, err
	}
	b.Tools = toolsRef(req.Tools)
	shown, err = json.Marshal(b)
	return append(in, '\n'), shown, err
}

// process runs the command to its end and returns its output. When it ends, the context ends, or it
// prints too much, its child processes are killed.
func (a *execAgent) process(ctx context.Context, args []string, in []byte) ([]byte, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	cmd := exec.CommandContext(ctx, a.path, args...)
	family, env := a.families.New(a.cfg.Env)
	cmd.Dir, cmd.Env = a.cfg.Dir, env
	cmd.Stdin = bytes.NewReader(in)
	out := &output{left: a.cfg.MaxBytes, over: func() { stop(errTooLarge) }}
	tail := &sys.OutputTail{}
	cmd.Stdout, cmd.Stderr = out, tail
	family.Own(cmd)
	kill := func() error { return family.End(cmd) }
	cmd.Cancel = kill
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if cmd.Process != nil {
		_ = kill() // fails if the process has ended
	}
	switch {
	case errors.Is(context.Cause(ctx), errTooLarge):
		return out.b.Bytes(), errTooLarge
	case ctx.Err() != nil:
		return out.b.Bytes(), ctx.Err()
	case errors.Is(err, exec.ErrWaitDelay): // it ended normally, but its child still holds the pipe
		return out.b.Bytes(), nil
	case err != nil:
		return out.b.Bytes(), &callvet.Fault{
			Kind:    callvet.FaultProcess,
			Message: strings.TrimSpace(err.Error() + ": " + tail.String()),
		}
	}
	return out.b.Bytes(), nil
}

// output keeps the printed bytes, up to a limit.
type output struct {
	b    bytes.Buffer
	left int64
	over func()
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	if o.left -= int64(len(p)); o.left < 0 {
		o.over()
		return 0, errTooLarge
	}
	return o.b.Write(p)
}

// printed reads one JSON value, or JSON Lines of messages or of events.
func printed(out []byte, opts message.Options, start time.Time, now func() time.Time) (*callvet.Response, error) {
	out = bytes.TrimSpace(bytes.TrimPrefix(out, []byte("\xef\xbb\xbf"))) // as PowerShell writes it
	if len(out) == 0 {
		return nil, &callvet.Fault{Kind: callvet.FaultMalformed, Message: "the process printed nothing"}
	}
	if v, made, err := value.Read(out); err == nil {
		return decode(v, made, opts)
	}
	line, _, _ := bytes.Cut(out, []byte("\n"))
	first, _, err := value.Read(bytes.TrimSpace(line))
	if err != nil {
		return nil, &callvet.Fault{
			Kind:    callvet.FaultMalformed,
			Message: "the process printed no JSON: " + clip(string(line)),
		}
	}
	if _, turns := first.Get("role"); !turns {
		return Lines(bytes.NewReader(out), "", opts, start, now)
	}
	list, made, err := joined(out)
	if err != nil {
		return nil, err
	}
	return decode(list, made, opts)
}

// joined converts JSON Lines to one list.
func joined(out []byte) (v value.Value, made value.Repairs, err error) {
	list := []byte{'['}
	n := 0
	for line := range bytes.Lines(out) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		one, had, err := value.Read(line)
		if err != nil {
			return value.Value{}, 0, unread(fmt.Sprintf("line %d", n), err)
		}
		made |= had
		if len(list) > 1 {
			list = append(list, ',')
		}
		list = append(list, one.Raw()...)
	}
	v, err = value.Parse(append(list, ']'))
	return v, made, err
}
