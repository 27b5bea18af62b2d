// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// Forward sends a request that is not about tools, and returns the answer byte for byte. A protocol
// error is returned unchanged; methods that are not forwarded return callvet.ErrUnavailable.
func (s *Session) Forward(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	limited, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	slotted, sl := withSlot(limited)
	var err error
	switch method {
	case "resources/list":
		err = ask(slotted, params, s.session.ListResources)
	case "resources/templates/list":
		err = ask(slotted, params, s.session.ListResourceTemplates)
	case "resources/read":
		err = ask(slotted, params, s.session.ReadResource)
	case "prompts/list":
		err = ask(slotted, params, s.session.ListPrompts)
	case "prompts/get":
		err = ask(slotted, params, s.session.GetPrompt)
	case "completion/complete":
		err = ask(slotted, params, s.session.Complete)
	default:
		return nil, fmt.Errorf("%s does not pass: %w", method, callvet.ErrUnavailable)
	}
	raw := sl.take()
	wire := (*jsonrpc.Error)(nil)
	switch {
	case answered(err, &wire):
		return nil, wire
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, callvet.ErrInvalid):
		return nil, err
	case err != nil && raw == nil: // otherwise only the SDK failed, and the bytes are forwarded
		return nil, s.fault(limited, method, err)
	}
	return raw, nil
}

// ask sends a request of one kind. It forwards only the parameters: other members concern the
// connection between the agent and this program.
func ask[P, R any](ctx context.Context, params json.RawMessage, do func(context.Context, *P) (R, error)) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(params, &members); err != nil {
		return fmt.Errorf("read parameters: %w: %w", callvet.ErrInvalid, err)
	}
	delete(members, "_meta")
	b, err := json.Marshal(members)
	if err != nil {
		return fmt.Errorf("encode parameters: %w", err)
	}
	p := new(P)
	if err := json.Unmarshal(b, p); err != nil {
		return fmt.Errorf("read parameters: %w: %w", callvet.ErrInvalid, err)
	}
	_, err = do(ctx, p)
	return err
}

// IsRefusal reports whether an error is a protocol error, which an agent gets unchanged.
func IsRefusal(err error) bool { return errors.As(err, new(*jsonrpc.Error)) }

// Passed is a definition without the output schema: results may be changed on the way, and clients
// would refuse a result that breaks the schema.
func Passed(raw json.RawMessage) json.RawMessage {
	v, err := value.Parse(raw)
	if err != nil || v.Kind() != value.Object {
		return raw
	}
	out := []byte{'{'}
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		if e.Key() == "outputSchema" {
			continue
		}
		key, err := json.Marshal(e.Key())
		if err != nil {
			return raw
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, key...), ':'), e.Raw()...)
	}
	return append(out, '}')
}

// Changed encodes a changed reply in the form of the answer a; content such as pictures stays.
func (a *Answer) Changed(r *callvet.Reply) (json.RawMessage, error) {
	var was result
	if r.Status == callvet.StatusOK && json.Unmarshal(a.Raw, &was) == nil &&
		!bytes.Equal(compact(was.Content), compact(a.Reply.Result)) {
		return Result(r)
	}
	var blocks []map[string]json.RawMessage
	if r.Status != callvet.StatusOK || json.Unmarshal(r.Result, &blocks) != nil {
		return Result(r)
	}
	return json.Marshal(map[string]json.RawMessage{"content": r.Result})
}
