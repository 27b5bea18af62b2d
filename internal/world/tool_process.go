// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package world

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/sys"
	"github.com/callvet/callvet/value"
)

// process is a command that answers the calls of one attempt.
//
//	ask ──► writes ──► write (goroutine) ──► standard input
//	    ◄── lines  ◄── read  (goroutine) ◄── standard output
//
// A call that timed out does not end the process: its late answer is ignored.
type process struct {
	cmd    *exec.Cmd
	family sys.ProcessFamily
	in     io.WriteCloser
	out    *os.File
	tail   *sys.OutputTail
	writes chan []byte
	lines  chan line
	over   chan struct{} // closed when it is ended
	owner  sys.Group
	most   int64
	lastID int64
	broken error
}

// line is one line of standard output, or why there is none.
type line struct {
	text []byte
	err  error
}

// question is the input of a command.
type question struct {
	ID        int64           `json:"id"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

// start starts a command for one attempt.
func (t *Tools) start(words []string, most int64) (*process, error) {
	cmd := exec.Command(words[0], words[1:]...) //nolint:noctx // end kills it with its children
	family, env := t.families.New(t.cfg.Env)
	cmd.Dir, cmd.Env = t.cfg.Dir, env
	p := &process{
		cmd: cmd, family: family, tail: &sys.OutputTail{}, writes: make(chan []byte), lines: make(chan line),
		over: make(chan struct{}), most: most,
	}
	cmd.Stderr = p.tail
	var err error
	if p.in, p.out, err = family.Piped(cmd); err != nil {
		return nil, &callvet.Fault{Kind: callvet.FaultProcess, Message: "start: " + err.Error()}
	}
	p.owner.Go(p.read)
	p.owner.Go(p.write)
	return p, nil
}

// write sends questions to the command; it blocks while the command does not read.
func (p *process) write() {
	for {
		select {
		case text := <-p.writes:
			if _, err := p.in.Write(text); err != nil {
				return // read reports the error
			}
		case <-p.over:
			return
		}
	}
}

// read passes the printed lines to the waiting call.
func (p *process) read() {
	r := bufio.NewReader(p.out)
	for {
		text, err := sys.ReadLine(r, p.most)
		if errors.Is(err, sys.ErrLongLine) {
			err = &callvet.Fault{
				Kind:    callvet.FaultTooLarge,
				Message: fmt.Sprintf("the answer has more than %d bytes", p.most),
			}
		}
		if err == nil && len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		select {
		case p.lines <- line{text, err}:
		case <-p.over:
			return
		}
		if err != nil {
			return
		}
	}
}

// ask sends a question and waits for the answer, until limited ends.
func (p *process) ask(limited context.Context, call *callvet.Call) (callvet.Reply, string, error) {
	if p.broken != nil {
		return callvet.Reply{}, "", p.broken
	}
	args := call.Args
	if len(args) == 0 {
		args = json.RawMessage(`{}`)
	}
	p.lastID++
	text, err := json.Marshal(question{p.lastID, call.Tool, args})
	if err != nil {
		return callvet.Reply{}, "", &callvet.Fault{Kind: callvet.FaultTool, Message: "write the call: " + err.Error()}
	}
	text = append(text, '\n')
	writes := p.writes
	for {
		select {
		case writes <- text:
			writes = nil // it is written once
		case got := <-p.lines:
			if got.err != nil {
				return callvet.Reply{}, "", p.breakOff(got.err)
			}
			r, version, late, err := parse(got.text, p.lastID)
			switch {
			case err != nil:
				return callvet.Reply{}, "", p.breakOff(err)
			case !late:
				return r, version, nil
			}
		case <-limited.Done():
			return callvet.Reply{}, "", limited.Err()
		}
	}
}

// breakOff ends a process with unpredictable further answers.
func (p *process) breakOff(err error) error {
	var own *callvet.Fault
	if !errors.As(err, &own) {
		own = &callvet.Fault{Kind: callvet.FaultProcess, Message: "the command ended before it answered"}
	}
	p.broken = own
	p.end()
	if tail := p.tail.String(); tail != "" {
		own.Message += "; it wrote: " + tail
	}
	return own
}

// parse reads an answer to the call with this id; late: it answers an earlier call.
func parse(text []byte, id int64) (r callvet.Reply, version string, late bool, err error) {
	malformed := func(format string, args ...any) error {
		return &callvet.Fault{Kind: callvet.FaultMalformed, Message: fmt.Sprintf(format, args...)}
	}
	if _, err := value.Parse(bytes.TrimSpace(text)); err != nil {
		return r, "", false, malformed("the answer is no JSON: %s", value.Reason(err))
	}
	var a struct {
		ID      *int64          `json:"id"`
		Result  json.RawMessage `json:"result"`
		Error   *string         `json:"error"`
		Version string          `json:"version"`
	}
	switch err := json.Unmarshal(text, &a); {
	case err != nil:
		return r, "", false, malformed("the answer is no object with id, and result or error as a text")
	case a.ID == nil:
		return r, "", false, malformed("the answer has no id")
	case *a.ID > 0 && *a.ID < id:
		return r, "", true, nil
	case *a.ID != id:
		return r, "", false, malformed("the answer is to call %d, and call %d was asked", *a.ID, id)
	case a.Error != nil && *a.Error == "":
		return callvet.Reply{
			Status: callvet.StatusExecErr,
			Error:  "the tool reports an error without a text",
		}, a.Version, false, nil
	case a.Error != nil:
		return callvet.Reply{Status: callvet.StatusExecErr, Error: *a.Error}, a.Version, false, nil
	case a.Result == nil:
		return callvet.Reply{Status: callvet.StatusOK, Result: json.RawMessage("null")}, a.Version, false, nil
	}
	var b bytes.Buffer
	if json.Compact(&b, a.Result) != nil { // it was parsed before
		return r, "", false, malformed("the answer is no JSON")
	}
	return callvet.Reply{Status: callvet.StatusOK, Result: b.Bytes()}, a.Version, false, nil
}

// end kills the process with its children, and waits. It may be called again.
func (p *process) end() {
	select {
	case <-p.over:
		return
	default:
		close(p.over)
	}
	_ = p.family.End(p.cmd)
	_ = p.cmd.Wait()
	_ = p.family.End(p.cmd) // its remaining children
	_ = p.in.Close()
	_ = p.out.Close()
	p.owner.Wait()
}
