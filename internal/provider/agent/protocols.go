// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package agent

import (
	"cmp"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/score/match"
	"github.com/callvet/callvet/value"
)

// protocol is a protocol of events about an attempt: the effect of each kind of event.
//
//	event ─► kind ─► protocol.kinds ─► an act on the stream ─► turns
//	              └► generic.kinds, where the protocol does not know it
//	              └► strange: an unknown kind, which must not contain a call
//
// The first event of a kind that only one protocol has decides for it.
type protocol struct {
	name  string
	kinds map[string]act
	// weak are kinds that agents of no protocol use too: they do not decide.
	weak []string
	// ids: every call has one.
	ids bool
	// marked: its last event marks the answer as complete. An answer of another protocol is
	// complete when the assistant has the last word and no call is open.
	marked bool
}

// act is the effect of an event.
type act func(*stream, value.Value) error

// The names of the protocols, which are presets too.
const (
	aiSDK        = "ai-sdk"
	agUI         = "ag-ui"
	langGraph    = "langgraph"
	openAIAgents = "openai-agents"
	a2a          = "a2a"
)

func protocols() []protocol {
	return []protocol{
		// UI message stream of AI SDK 5 and 6, and fullStream as JSON
		{name: aiSDK, marked: true, ids: true, weak: []string{"start", "file", "abort"}, kinds: map[string]act{
			"start": nothing, "start-step": round, "finish-step": nothing, "message-metadata": nothing,
			"text-start": nothing, "text-delta": textPiece, "text-end": nothing,
			"reasoning-start": nothing, "reasoning-delta": thinks, "reasoning-end": nothing,
			"tool-input-start": begins, "tool-input-delta": pieces, "tool-input-end": nothing,
			"tool-input-available": calls, "tool-input-error": fails,
			"tool-call": calls, "tool-result": returns, "tool-error": fails,
			"tool-output-available": returns, "tool-output-error": fails, "tool-output-denied": fails,
			"tool-approval-request": asks,
			"source-url":            nothing, "source-document": nothing, "file": nothing,
			"error": broken, "abort": broken, "finish": finishes,
		}},
		{name: agUI, marked: true, ids: true, kinds: map[string]act{ // AG-UI 0.1 and 1.0
			"RUN_STARTED": nothing, "STEP_STARTED": nothing, "STEP_FINISHED": nothing,
			"TEXT_MESSAGE_START": nothing, "TEXT_MESSAGE_CONTENT": textPiece, "TEXT_MESSAGE_CHUNK": textPiece,
			"TEXT_MESSAGE_END": nothing,
			"TOOL_CALL_START":  begins, "TOOL_CALL_ARGS": pieces, "TOOL_CALL_CHUNK": chunkOfCall,
			"TOOL_CALL_END": nothing, "TOOL_CALL_RESULT": returnsText,
			"REASONING_START": nothing, "REASONING_MESSAGE_START": nothing, "REASONING_MESSAGE_CONTENT": thinks,
			"REASONING_MESSAGE_CHUNK": thinks, "REASONING_MESSAGE_END": nothing, "REASONING_END": nothing,
			"MESSAGES_SNAPSHOT": snapshot, "RUN_ERROR": broken, "RUN_FINISHED": runFinishes,
		}},
		// LangGraph 1, its server, and LangChain's astream_events
		{name: langGraph, weak: []string{"metadata"}, kinds: map[string]act{
			"metadata": nothing, "updates": updates, "values": snapshot, "messages": messageChunk,
			"messages/partial": messagesWhole, "messages/complete": messagesWhole, "messages/metadata": nothing,
			"langchain":           messageChunk,
			"on_chat_model_start": nothing, "on_chat_model_stream": messageChunk, "on_chat_model_end": wholeMessage,
			"on_tool_start": nothing, "on_tool_end": wholeMessage, "on_tool_error": broken,
			"on_chain_start": nothing, "on_chain_stream": nothing, "on_chain_end": nothing,
		}},
		{name: openAIAgents, kinds: map[string]act{ // OpenAI Agents SDK, JavaScript and Python
			"raw_model_stream_event": rawModel, "raw_response_event": rawModel, "run_item_stream_event": runItem,
			"agent_updated_stream_event": nothing,
		}},
		{name: a2a, marked: true, kinds: map[string]act{"jsonrpc": rpc}}, // Agent2Agent 0.3 and 1.0
	}
}

// textKinds are the events with plain text.
const textKinds = "text_delta delta token content_delta message_delta text_chunk chunk text content"

// generic are the kinds of agents that follow no protocol, by their names in small letters
// with underscores.
func generic() map[string]act {
	kinds := map[string]act{}
	for names, a := range map[string]act{
		textKinds: textPiece,
		"tool_call tool_use tool_call_start tool_start function_call toolcall": calls,
		"tool_call_delta tool_call_args tool_call_arguments tool_call_args_delta tool_call_arguments_delta tool_input_delta tool_use_delta input_json_delta function_call_delta function_call_arguments_delta": pieces,
		"tool_result tool_output tool_end tool_call_result function_result function_call_output toolresult":                                                                                                    returns,
		"hitl interrupt pause paused confirmation confirmation_required requires_action approval approval_required":                                                                                            pauses,
		"error fatal": broken,
		"done complete completed end final finish result response": closes,
	} {
		for name := range strings.FieldsSeq(names) {
			kinds[name] = a
		}
	}
	return kinds
}

func normal(kind string) string {
	return strings.NewReplacer("-", "_", ".", "_", " ", "_").Replace(strings.ToLower(kind))
}

// kindOf is the kind of an event: the type in its data, else the name of the event, else what its
// data look like. The returned value is the input of the act.
func kindOf(name string, v value.Value) (kind string, body value.Value) {
	switch v.Kind() {
	case value.Object:
		if langChain(v) {
			return "langchain", v
		}
		for _, key := range []string{"type", "event"} {
			if t, ok := v.Get(key); ok && t.Kind() == value.String {
				name = t.Str()
				break
			}
		}
		if _, ok := v.Get("jsonrpc"); ok {
			name = "jsonrpc"
		}
	case value.Array: // [mode, data] or [namespace, mode, data] of LangGraph
		for e, ok := v.First(); ok && (e.Kind() == value.String || e.Kind() == value.Array); e, ok = v.Next(e) {
			if next, more := v.Next(e); more && e.Kind() == value.String {
				name, v = e.Str(), next
				break
			}
		}
	}
	if name == "" || name == "message" {
		name = cmp.Or(graphShape(v), name)
	}
	name, _, _ = strings.Cut(name, "|") // the namespace of a graph in a graph
	return name, v
}

// graphShape names the values without a name in LangGraph's stream: updates of nodes, the whole
// state, or a message with its metadata.
func graphShape(v value.Value) string {
	if e, ok := v.First(); ok && v.Kind() == value.Array && v.Len() == 2 && langChain(e) {
		return "messages"
	}
	if v.Kind() != value.Object {
		return ""
	}
	if m, ok := v.Get("messages"); ok {
		if e, ok := m.First(); ok && m.Kind() == value.Array && fromLangChain(e) {
			return "values"
		}
		return ""
	}
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		if m, _ := e.Get("messages"); m.Kind() == value.Array {
			if first, ok := m.First(); ok && fromLangChain(first) {
				return "updates"
			}
		}
		if e.KeyIs("__interrupt__") {
			return "updates"
		}
	}
	return ""
}

// langChain reports whether a value is a LangChain message of an assistant or a tool.
func langChain(v value.Value) bool {
	_, role, ok := message.LangChain(v)
	return ok && fromLangChain(v) && (role == callvet.RoleAssistant || role == callvet.RoleTool)
}

// fromLangChain reports whether a message is LangChain's; other messages have a role.
func fromLangChain(v value.Value) bool {
	_, _, ok := message.LangChain(v)
	_, role := v.Get("role")
	return ok && !role && v.Kind() == value.Object
}

func nothing(s *stream, v value.Value) error { s.meta(v); return nil }

func round(s *stream, _ value.Value) error { s.flush(); return nil }

func textPiece(s *stream, v value.Value) error {
	s.text(deltaOf(v))
	s.pieces = true
	return nil
}

func thinks(s *stream, v value.Value) error { s.turn.Reasoning += deltaOf(v); return nil }

// begins reads a call without arguments; they follow in pieces.
func begins(s *stream, v value.Value) error {
	s.put(callvet.Call{ID: message.IDOf(v), Tool: nameOf(v)})
	return nil
}

func nameOf(v value.Value) string {
	return cmp.Or(str(v, "toolName"), str(v, "toolCallName"))
}

// calls is a whole call in the event, with its answer where it has one.
func calls(s *stream, v value.Value) error {
	c, ok := message.FindCall(v, s.opts)
	if !ok {
		s.unread = true
		return nil
	}
	s.put(c)
	if c.Result != nil || c.Error != "" {
		s.flush()
		s.resp.Turns = append(s.resp.Turns, message.ToolTurns([]callvet.Call{c})...)
	}
	return nil
}

// pieces is a part of the arguments of a call.
func pieces(s *stream, v value.Value) error {
	s.piece(message.IDOf(v), pieceOf(v))
	return nil
}

// chunkOfCall begins or continues a call.
func chunkOfCall(s *stream, v value.Value) error {
	if name := nameOf(v); name != "" {
		s.put(callvet.Call{ID: message.IDOf(v), Tool: name})
	}
	if p := pieceOf(v); p != "" {
		s.piece(message.IDOf(v), p)
	}
	return nil
}

// returns is the answer of a tool.
func returns(s *stream, v value.Value) error {
	if p, _ := v.Get("preliminary"); p.Kind() == value.Bool && p.Bool() {
		return nil
	}
	got, _ := message.FindCall(v, s.opts)
	if got.Result == nil && got.Error == "" {
		got.Result, got.Error = message.ResultOf(v), message.ProblemOf(v)
	}
	s.result(message.IDOf(v), got)
	return nil
}

// returnsText is the answer of a tool in a protocol without a member for failures: there a
// failure's text begins with "Error".
func returnsText(s *stream, v value.Value) error {
	got := callvet.Call{Result: message.ResultOf(v), Error: message.ProblemOf(v)}
	if text := str(v, "content"); strings.HasPrefix(text, "Error: ") && got.Error == "" {
		got.Error, got.Result = text, nil
	} else if doc, err := value.Parse([]byte(text)); err == nil && text != "" {
		got.Result = doc.Raw()
	}
	s.result(message.IDOf(v), got)
	return nil
}

// fails is a tool that failed, or a call that was not made because of its arguments.
func fails(s *stream, v value.Value) error {
	id := message.IDOf(v)
	if c, ok := message.FindCall(v, s.opts); ok && nameOf(v) != "" {
		c.Result, c.Error, c.Status = nil, "", ""
		s.put(c)
	}
	why := cmp.Or(str(v, "errorText"), message.ProblemOf(v), match.NoReason)
	s.result(id, callvet.Call{Error: why})
	return nil
}

// asks is a call that waits for the approval of a person.
func asks(s *stream, v value.Value) error {
	s.resp.FinishReason = callvet.FinishHITL
	return nil
}

// pauses ends the answer with a question to a person.
func pauses(s *stream, v value.Value) error {
	s.pause(v)
	s.ended, s.over = true, true
	return nil
}

func broken(_ *stream, v value.Value) error { return fault(v) }

// closes is the last event of an agent of no protocol.
func closes(s *stream, v value.Value) error {
	s.ended, s.over = true, true
	return s.done(v)
}

func finishes(s *stream, v value.Value) error {
	s.ended, s.over = true, true
	if s.seen++; s.resp.FinishReason != callvet.FinishHITL {
		s.resp.FinishReason = "" // of a step
	}
	s.meta(v)
	if m, ok := v.Get("messageMetadata"); ok {
		s.meta(m)
	}
	return nil
}

func runFinishes(s *stream, v value.Value) error {
	outcome, _ := v.Get("outcome")
	switch cmp.Or(str(outcome, "type"), outcome.Str()) {
	case "interrupt":
		s.resp.FinishReason = callvet.FinishHITL
	case "cancelled", "canceled":
		return &callvet.Fault{Kind: callvet.FaultServer, Message: "the run was stopped before it was complete"}
	}
	return finishes(s, v)
}

// snapshot is the whole conversation so far.
func snapshot(s *stream, v value.Value) error {
	if m, ok := v.Get("messages"); !ok || m.Kind() != value.Array {
		s.strange(v)
		return nil
	}
	s.seen++
	s.snap, s.after = v, false
	return nil
}

// updates are the additions of a graph's nodes to its state.
func updates(s *stream, v value.Value) error {
	if v.Kind() != value.Object {
		return nil
	}
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		if e.KeyIs("__interrupt__") {
			s.pause(e)
			s.ended = true
			continue
		}
		list, _ := e.Get("messages")
		if list.Kind() != value.Array {
			s.strange(e)
			continue
		}
		if err := messagesWhole(s, list); err != nil {
			return err
		}
	}
	return nil
}

func messagesWhole(s *stream, v value.Value) error {
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		if err := wholeMessage(s, e); err != nil {
			return err
		}
	}
	return nil
}

// wholeMessage is one complete message of LangChain.
func wholeMessage(s *stream, v value.Value) error {
	if out, ok := v.Get("output"); ok && out.Kind() == value.Object { // of astream_events
		v = out
	}
	turns, ok := message.Element(v, s.opts)
	if !ok {
		s.strange(v)
		return nil
	}
	in, _, _ := message.LangChain(v)
	id := str(in, "id")
	for i := range turns {
		if turns[i].Role == callvet.RoleAssistant {
			s.open(id)
			s.spend(id, in)
			s.ends(in)
		}
	}
	s.turns(id, turns)
	return nil
}

// messageChunk is a part of a message of LangChain, alone or with its metadata.
func messageChunk(s *stream, v value.Value) error {
	if e, ok := v.First(); ok && v.Kind() == value.Array {
		v = e
	}
	if c, ok := v.Get("chunk"); ok && c.Kind() == value.Object { // of astream_events
		v = c
	}
	in, _, _ := message.LangChain(v)
	parts, ok := in.Get("tool_call_chunks")
	if !ok {
		return wholeMessage(s, v)
	}
	turns, ok := message.Element(v, s.opts)
	if !ok {
		s.strange(v)
		return nil
	}
	id := str(in, "id")
	s.open(id)
	s.spend(id, in)
	s.ends(in)
	for i := range turns {
		s.turn.Reasoning += turns[i].Reasoning
		s.text(turns[i].Content)
	}
	for e, ok := parts.First(); ok; e, ok = parts.Next(e) {
		s.token()
		name, _ := e.Get("name")
		args, _ := e.Get("args")
		index, _ := e.Get("index")
		s.chunk.Take(message.Piece{
			Index: index, ID: str(e, "id"), Name: name.Str(), Args: written(args), Alone: e.Kind() != value.Object,
		})
	}
	s.textRead[id] = true
	return nil
}

// rawModel is an event of the model behind the OpenAI Agents SDK.
func rawModel(s *stream, v value.Value) error {
	switch str(v, "type") {
	case "response_started", "response.created":
		s.flush()
		s.asking = true
	case "output_text_delta", "response.output_text.delta":
		id := cmp.Or(str(v, "itemId"), str(v, "item_id"))
		s.textRead[id] = true
		s.text(str(v, "delta"))
	case "response_done", "response.completed", "response.incomplete", "response.cancelled":
		s.asking = false
		r, _ := v.Get("response")
		s.ends(r)
		s.spend(str(r, "id"), r)
		list, _ := r.Get("output")
		for e, ok := list.First(); ok; e, ok = list.Next(e) {
			s.item(e)
		}
	case "response.failed", "error":
		return fault(v)
	}
	return nil
}

// runItem is an item of a run of the OpenAI Agents SDK.
func runItem(s *stream, v value.Value) error {
	item, _ := v.Get("item")
	for _, key := range []string{"rawItem", "raw_item"} {
		if raw, ok := item.Get(key); ok {
			item = raw
			break
		}
	}
	s.item(item)
	return nil
}

// rpc is a response of the Agent2Agent protocol.
func rpc(s *stream, v value.Value) error {
	if e, ok := v.Get("error"); ok && e.Kind() != value.Null {
		return fault(v)
	}
	r, _ := v.Get("result")
	for _, key := range []string{"task", "message", "statusUpdate", "artifactUpdate"} {
		if in, ok := r.Get(key); ok && in.Kind() == value.Object {
			r = in
			break
		}
	}
	state := message.A2AState(r)
	turns, err := message.A2ATurns(r, s.opts)
	if err != nil {
		return err
	}
	// a task repeats the earlier parts
	if _, list := r.Get("artifacts"); !list || len(s.turn.Content) == 0 && !s.called() {
		s.seen++
		for i := range turns {
			if turns[i].Role == callvet.RoleAssistant && (state == "working" || state == "submitted") {
				turns[i].Content = "" // its progress
			}
		}
		s.turns("", turns)
	}
	switch state {
	case "failed", "rejected", "canceled":
		return &callvet.Fault{Kind: callvet.FaultServer, Message: "the task is " + state}
	case "input-required", "auth-required":
		s.resp.FinishReason, s.ended = callvet.FinishHITL, true
	case "completed":
		s.ended = true
	case "":
		_, artifact := r.Get("artifact")
		s.ended = s.ended || !artifact // a message is an answer of its own
	}
	return nil
}

func str(v value.Value, key string) string {
	m, _ := v.Get(key)
	return m.Str()
}
