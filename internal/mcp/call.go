// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/contract"
	"github.com/callvet/callvet/value"
)

// block is a piece of a result's content.
type block struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// result is what a server answered to a call.
type result struct {
	Content    json.RawMessage `json:"content"`
	Structured json.RawMessage `json:"structuredContent"`
	IsError    bool            `json:"isError"`
}

// Answer is a server's answer to a call.
type Answer struct {
	// Reply is the answer in callvet's form.
	Reply callvet.Reply
	// Raw is the result byte for byte; nil where there is none.
	Raw json.RawMessage
	// Refused is the protocol error of the answer; nil: none.
	Refused error
}

// Call calls a tool and returns its answer. The answer is the structured result if there is one,
// else the text of a result that has only texts, else the content as a list. A result with isError
// and a protocol error are exec_errors with the text as the message; no answer in time is a
// timeout. The error is a *callvet.Fault: it is not a result of the tool.
func (s *Session) Call(ctx context.Context, tool string, args json.RawMessage) (callvet.Reply, error) {
	a, err := s.Ask(ctx, tool, args)
	return a.Reply, err
}

// Ask is Call, and also returns the bytes of the wire.
func (s *Session) Ask(ctx context.Context, tool string, args json.RawMessage) (Answer, error) {
	limited, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	slotted, sl := withSlot(limited)
	if len(args) == 0 {
		args = json.RawMessage(`{}`)
	}
	changed, asked, start := s.changed.Load(), s.refused.Load(), s.cfg.Now()
	_, err := s.session.CallTool(slotted, &sdk.CallToolParams{Name: tool, Arguments: args})
	took := max(s.cfg.Now().Sub(start), 0)
	a := Answer{Raw: sl.take()}
	if wire := (*jsonrpc.Error)(nil); answered(err, &wire) {
		a.Raw, a.Refused = nil, wire
	}
	r, err := s.reply(ctx, limited, tool, sl, err)
	if err != nil {
		return Answer{}, err
	}
	r.Latency = took
	if s.refused.Load() > asked {
		note(&r, "the tool asked for a model or for the user, and was refused")
	}
	if s.changed.Load() > changed {
		note(&r, "the server reports that its tools have changed")
	}
	a.Reply = r
	return a, nil
}

// reply makes an answer from the results of the SDK and of the wire.
func (s *Session) reply(ctx, limited context.Context, tool string, sl *slot, err error) (callvet.Reply, error) {
	var wire *jsonrpc.Error
	switch {
	case err == nil:
		r, err := decode(sl.take())
		if err != nil {
			return r, s.fault(limited, "call "+tool, err)
		}
		return r, nil
	case ctx.Err() != nil:
		return callvet.Reply{}, ctx.Err()
	case errors.Is(limited.Err(), context.DeadlineExceeded):
		return callvet.Reply{
			Status: callvet.StatusTimeout,
			Error:  fmt.Sprintf("no answer within %s", s.cfg.Timeout),
		}, nil
	case answered(err, &wire) && s.web.cause() == nil:
		return callvet.Reply{
			Status: callvet.StatusExecErr, Error: wire.Message,
			Note: fmt.Sprintf("an error of the protocol (%d)", wire.Code),
		}, nil
	}
	return callvet.Reply{}, s.fault(limited, "call "+tool, err)
}

// decode reads the result of a call.
func decode(raw json.RawMessage) (callvet.Reply, error) {
	if _, err := value.Parse(raw); err != nil {
		return callvet.Reply{}, fmt.Errorf("decode result: %w", err)
	}
	var res result
	if err := json.Unmarshal(raw, &res); err != nil {
		return callvet.Reply{}, fmt.Errorf("decode result: %w", err)
	}
	if null(res.Structured) {
		res.Structured = nil
	}
	text, onlyText := texts(res.Content)
	r := callvet.Reply{Status: callvet.StatusOK}
	switch {
	case res.IsError:
		r.Status, r.Error = callvet.StatusExecErr, text
		if strings.TrimSpace(text) == "" {
			r.Error = "the tool reports an error without a text"
		}
		r.Result = res.Structured
	case res.Structured != nil:
		r.Result = res.Structured
	case onlyText:
		r.Result, _ = json.Marshal(text) // a string encodes
	default:
		r.Result = res.Content
	}
	if r.Result != nil {
		r.Result = compact(r.Result)
	}
	return r, nil
}

// texts joins the texts of a result's content; only is true where it has nothing else.
func texts(content json.RawMessage) (text string, only bool) {
	var blocks []block
	if json.Unmarshal(content, &blocks) != nil {
		return "", len(content) == 0 || null(content)
	}
	var all []string
	only = true
	for _, b := range blocks {
		if b.Type == "text" {
			all = append(all, b.Text)
		} else {
			only = false
		}
	}
	return strings.Join(all, "\n"), only
}

func compact(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

func note(r *callvet.Reply, text string) {
	if r.Note != "" {
		r.Note += "; "
	}
	r.Note += text
}

// outputs are the schemas of structured results by tool, compiled.
type outputs map[string]*contract.Schema

func outputsOf(l *Listing) outputs {
	out := outputs{}
	for i := range l.Tools {
		if t := &l.Tools[i]; t.Output != nil {
			if s, err := contract.Compile(t.Output); err == nil { // List reported errors
				out[t.Name] = s
			}
		}
	}
	return out
}

// check adds a note if a result does not fit the tool's output schema. That is the tool's mistake,
// not the caller's: the answer does not change.
func (o outputs) check(tool string, r *callvet.Reply) {
	s := o[tool]
	if s == nil || r.Status != callvet.StatusOK {
		return
	}
	v, err := value.Parse(r.Result)
	if err != nil || v.Kind() != value.Object {
		note(r, "the tool promises a structured result and gave none")
		return
	}
	switch bad := s.Check(v); {
	case len(bad) == 0:
	case bad[0].Unknown():
		note(r, "the result is not checked against the tool's output schema: "+bad[0].Message)
	default:
		note(r, "the result breaks the tool's own output schema: "+bad[0].Message)
	}
}
