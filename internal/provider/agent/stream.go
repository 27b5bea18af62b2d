// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package agent

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/value"
)

// Stream reads a stream of server-sent events up to the one that ends the answer, or its end.
// proto names its protocol; "" finds it. start is when the request went out, for the time to the
// first token. For an error event the error is a *callvet.Fault, and so it is for a stream that
// was cut off.
func Stream(r io.Reader, proto string, opts message.Options, start time.Time,
	now func() time.Time,
) (*callvet.Response, error) {
	s := newStream(proto, opts, start, now)
	if err := events(r, s.take); err != nil {
		return nil, err
	}
	return s.finish()
}

// Lines reads the same events as JSON Lines.
func Lines(r io.Reader, proto string, opts message.Options, start time.Time,
	now func() time.Time,
) (*callvet.Response, error) {
	s := newStream(proto, opts, start, now)
	br := bufio.NewReaderSize(r, 1<<15)
	for {
		line, err := readLine(br)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if strings.TrimSpace(line) != "" {
			if stop, terr := s.take(event{data: line}); stop || terr != nil {
				if terr != nil {
					return nil, terr
				}
				return s.finish()
			}
		}
		if err != nil {
			return s.finish()
		}
	}
}

// stream builds the turns of an attempt from its events.
type stream struct {
	opts  message.Options
	start time.Time
	now   func() time.Time
	known []protocol
	other map[string]act // of agents that follow no protocol
	proto *protocol      // nil until an event decides

	resp     callvet.Response
	made     value.Repairs // of the events
	turn     callvet.Turn  // the assistant's turn under construction
	chunk    message.ChatCalls
	pieced   map[string]*message.Pieces // arguments in pieces, by the ids of their calls
	late     []string                   // ids of calls in closed turns with further arguments
	turnID   string                     // the message that the turn is
	textRead map[string]bool            // messages with a text that was read
	spent    []spending
	snap     value.Value // the last snapshot of the conversation
	after    bool        // events followed it
	held     []message.Held

	seen       int // events that were understood
	chunked    bool
	pieces     bool // a text arrived in pieces
	asking     bool // a request of the model is open
	ended      bool // an event marked the answer as complete
	over       bool // nothing is read after that
	unread     bool // an event with a call was not understood
	structured bool // an event had more than a text
	bare       bool // the event is the text of a record that has no place for calls
}

// spending is the usage of one request of the model.
type spending struct {
	id    string
	usage callvet.Usage
}

func newStream(proto string, opts message.Options, start time.Time, now func() time.Time) *stream {
	s := &stream{
		opts: opts, start: start, now: now, known: protocols(), other: generic(),
		resp: callvet.Response{Complete: true}, pieced: map[string]*message.Pieces{}, textRead: map[string]bool{},
	}
	for i := range s.known {
		if s.known[i].name == proto {
			s.proto = &s.known[i]
		}
	}
	return s
}

func (s *stream) token() {
	s.seen++
	s.after = true
	if s.resp.FirstToken == 0 {
		s.resp.FirstToken = max(s.now().Sub(s.start), 1)
	}
}

// take reads one event; stop is true after the last event that counts.
func (s *stream) take(e event) (stop bool, err error) {
	if strings.TrimSpace(e.data) == "[DONE]" {
		s.seen++
		s.ended = true
		return true, nil
	}
	v, made, perr := value.Read([]byte(e.data))
	s.made |= made
	if perr != nil {
		if plain := e.name == "" || e.name == "message" ||
			slices.Contains(strings.Fields(textKinds), normal(e.name)); plain &&
			!strings.HasPrefix(strings.TrimSpace(e.data), "{") {
			s.text(e.data)
			return false, nil
		}
		return true, unread("an event", perr)
	}
	before := s.structured
	s.structured = true
	kind, v := kindOf(e.name, v)
	if d, ok := v.Get("data"); ok && d.Kind() == value.Object && kind != "langchain" {
		s.meta(v)
		v = d
	}
	if a := s.act(kind, v); a != nil {
		err = a(s, v)
	} else {
		s.strange(v)
		s.meta(v)
	}
	if s.bare {
		s.structured, s.bare = before, false
	}
	return s.over || err != nil, err
}

// act is the effect of an event of a kind; nil for an unknown kind.
func (s *stream) act(kind string, v value.Value) act {
	name := normal(kind)
	for i := range s.known {
		if p := &s.known[i]; s.proto == nil && p.kinds[kind] != nil && s.other[name] == nil &&
			!slices.Contains(p.weak, kind) {
			s.proto = p
		}
	}
	if s.proto != nil && s.proto.kinds[kind] != nil {
		return s.proto.kinds[kind]
	}
	if _, ok := v.Get("choices"); ok {
		return completionChunk
	}
	if kind != "" && kind != "message" {
		return s.other[name]
	}
	if v.Kind() == value.Object && message.Detect(v) != message.FormUnreadable {
		return wholeAnswer
	}
	return textPiece
}

func (s *stream) text(t string) {
	if t == "" {
		return
	}
	s.token()
	s.turn.Content += t
}

// open begins the turn of another message.
func (s *stream) open(id string) {
	if id == "" || id != s.turnID && !s.textRead[id] {
		s.flush()
		s.turnID = id
	}
}

// turns adds the turns that message.Element read, once: a message that arrived in parts may be
// repeated as a whole.
func (s *stream) turns(id string, turns []callvet.Turn) {
	for i := range turns {
		switch t := &turns[i]; t.Role {
		case callvet.RoleAssistant:
			if !s.textRead[id] {
				s.turn.Reasoning += t.Reasoning
				s.text(t.Content)
			}
			for _, c := range t.Calls {
				s.put(c)
			}
			if s.textRead[id] = true; id == "" {
				delete(s.textRead, id)
			}
		case callvet.RoleTool:
			var c callvet.Call
			message.Settle(&c, t)
			s.result(t.CallID, c)
		}
	}
}

// item adds an item of the OpenAI Agents SDK.
func (s *stream) item(v value.Value) {
	turns, ok := message.Element(v, s.opts)
	if !ok {
		s.strange(v)
		return
	}
	s.seen++
	s.turns(cmp.Or(str(v, "id"), str(v, "callId"), str(v, "call_id")), turns)
}

// put adds a call, or completes an earlier one of the same id and name if its arguments are
// unknown, arrived in pieces, or are equal.
func (s *stream) put(c callvet.Call) {
	s.token()
	s.flushChunks()
	if old := s.byID(c.ID); old != nil && old.Tool == c.Tool {
		unknown := c.Args == nil && c.ArgsRaw == ""
		if unknown || s.pieced[c.ID] != nil || old.Args == nil && old.ArgsRaw == "" || same(old.Args, c.Args) {
			if !unknown {
				old.Args, old.ArgsRaw, old.Repairs = c.Args, c.ArgsRaw, c.Repairs
				delete(s.pieced, c.ID)
			}
			return
		}
	}
	s.unread = s.unread || c.ID == "" && s.proto != nil && s.proto.ids
	s.turn.Calls = append(s.turn.Calls, c)
}

func same(a, b []byte) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

// byID is the call of an id; nil when there is none.
func (s *stream) byID(id string) *callvet.Call {
	if id == "" {
		return nil
	}
	for i := range s.turn.Calls {
		if s.turn.Calls[i].ID == id {
			return &s.turn.Calls[i]
		}
	}
	for i := len(s.resp.Turns) - 1; i >= 0; i-- {
		for j := range s.resp.Turns[i].Calls {
			if c := &s.resp.Turns[i].Calls[j]; c.ID == id {
				return c
			}
		}
	}
	return nil
}

// piece adds to the arguments of the call of an id, else of the last call. Initial arguments such
// as {} are placeholders and are replaced.
func (s *stream) piece(id, text string) {
	s.token()
	c, n := s.byID(id), len(s.turn.Calls)
	if c == nil && n > 0 {
		c = &s.turn.Calls[n-1]
	}
	if c == nil {
		s.unread = true
		return
	}
	key := pieceKey(c, n-1)
	if s.pieced[key] == nil {
		s.pieced[key], c.Args, c.ArgsRaw = &message.Pieces{}, nil, ""
	}
	s.pieced[key].Add(text)
	if n == 0 || !slices.ContainsFunc(s.turn.Calls, func(o callvet.Call) bool { return o.ID == c.ID }) {
		c.Args, s.late = nil, append(s.late, key)
	}
}

// pieceKey is the id of a call; of a call without one, its place in the turn.
func pieceKey(c *callvet.Call, place int) string {
	return cmp.Or(c.ID, " "+strconv.Itoa(place))
}

// join reads the arguments that arrived in pieces.
func (s *stream) join() {
	for i := range s.turn.Calls {
		s.read(&s.turn.Calls[i], pieceKey(&s.turn.Calls[i], i))
	}
	for _, id := range s.late {
		s.read(s.byID(id), id)
	}
	s.late = nil
}

func (s *stream) read(c *callvet.Call, key string) {
	p := s.pieced[key]
	if p == nil || c.Args != nil {
		return
	}
	whole := message.NewCall(c.ID, c.Tool, p.Text())
	c.Args, c.ArgsRaw, c.Repairs = whole.Args, whole.ArgsRaw, whole.Repairs
	if c.ID == "" {
		delete(s.pieced, key)
	}
}

// result sets the answer of a call: the call of that id, else the first of that name without an
// answer, else the first without an answer. An answer without a call shows that a call was not
// read.
func (s *stream) result(id string, got callvet.Call) {
	s.seen++
	s.after = true
	s.flush()
	if c := s.byID(id); c != nil && (c.Result != nil || c.Error != "") {
		return // a repetition
	}
	c := s.pending(id, got.Tool)
	if c == nil {
		s.unread = true
		return
	}
	c.Result, c.Error, c.Status = got.Result, got.Error, callvet.StatusOK
	if got.Error != "" {
		c.Status = callvet.StatusExecErr
	}
	s.resp.Turns = append(s.resp.Turns, message.ToolTurns([]callvet.Call{*c})...)
}

func (s *stream) pending(id, tool string) *callvet.Call {
	var best *callvet.Call
	rank := 0
	for i := range s.resp.Turns {
		for j := range s.resp.Turns[i].Calls {
			c := &s.resp.Turns[i].Calls[j]
			if c.Result != nil || c.Error != "" {
				continue
			}
			r := 1
			switch {
			case id != "" && c.ID == id:
				return c
			case id != "" && c.ID != "":
				continue
			case tool != "" && c.Tool == tool:
				r = 3
			case tool == "":
				r = 2
			}
			if r > rank {
				best, rank = c, r
			}
		}
	}
	return best
}

// flush closes the assistant's turn.
func (s *stream) flush() {
	s.join()
	s.flushChunks()
	if s.turn.Content == "" && len(s.turn.Calls) == 0 {
		return
	}
	s.turn.Role = callvet.RoleAssistant
	s.resp.Turns = append(s.resp.Turns, s.turn)
	s.turn, s.turnID = callvet.Turn{}, ""
}

func (s *stream) pause(v value.Value) {
	s.seen++
	if c, ok := message.FindCall(v, s.opts); ok && !s.announced(c) {
		s.turn.Calls = append(s.turn.Calls, c)
	}
	if s.turn.Content == "" {
		s.turn.Content = deltaOf(v)
	}
	s.resp.FinishReason = callvet.FinishHITL
	s.meta(v)
}

// announced reports whether a paused call is already known.
func (s *stream) announced(c callvet.Call) bool {
	s.flushChunks()
	list := s.turn.Calls
	if n := len(s.resp.Turns); n > 0 && len(list) == 0 {
		list = s.resp.Turns[n-1].Calls
	}
	for _, o := range list {
		if o.Tool == c.Tool && o.Result == nil && (c.ID == "" || o.ID == "" || o.ID == c.ID) {
			return true
		}
	}
	return false
}

// fault is the error in an event.
func fault(v value.Value) error {
	msg := cmp.Or(str(v, "errorText"), deltaOf(v))
	if m, ok := v.Get("error"); ok && msg == "" {
		if msg = m.Str(); msg == "" {
			msg = deltaOf(m)
		}
	}
	if msg == "" {
		msg = string(v.Raw())
	}
	return &callvet.Fault{Kind: callvet.FaultServer, Message: "the agent reports an error: " + clip(msg)}
}

// done reads the closing event: its text and calls count if no earlier event had them.
func (s *stream) done(v value.Value) error {
	s.seen++
	s.meta(v)
	hasText, called := s.turn.Content != "", s.called()
	if hasText && called || v.Kind() != value.Object && v.Kind() != value.String {
		return nil
	}
	r, err := message.Decode(v, s.opts)
	if err != nil {
		s.strange(v)
		return nil // a closing event need not contain an answer
	}
	s.merge(r, hasText, called)
	return nil
}

func (s *stream) called() bool {
	s.flushChunks()
	return len(s.turn.Calls) > 0 || count(s.resp.Turns) > 0
}

// count is the number of calls in turns.
func count(turns []callvet.Turn) int {
	n := 0
	for i := range turns {
		n += len(turns[i].Calls)
	}
	return n
}

func (s *stream) merge(r *callvet.Response, hasText, called bool) {
	for _, t := range r.Turns {
		if called {
			t.Calls = nil
		}
		if hasText {
			t.Content = ""
		}
		if t.Role == callvet.RoleAssistant && (t.Content != "" || len(t.Calls) > 0) {
			s.turn.Content += t.Content
			s.turn.Calls = append(s.turn.Calls, t.Calls...)
		} else if t.Role == callvet.RoleTool && !called {
			s.flush()
			s.resp.Turns = append(s.resp.Turns, t)
		}
	}
	s.resp.Repairs = append(s.resp.Repairs, r.Repairs...)
}

// wholeAnswer reads an event without a type: an answer of its own.
func wholeAnswer(s *stream, v value.Value) error {
	r, err := message.Decode(v, s.opts)
	if err != nil {
		var f *callvet.Fault
		if errors.As(err, &f) && f.Kind != callvet.FaultMalformed {
			return f
		}
		s.strange(v)
		s.meta(v)
		return nil
	}
	s.bare = r.CallsUnknown
	s.token()
	s.meta(v)
	// A message event may only repeat the deltas.
	s.merge(r, s.turn.Content != "" && s.turn.Content == r.Turns[len(r.Turns)-1].Content, false)
	return nil
}

// meta reads usage, model and finish reason from any event.
func (s *stream) meta(v value.Value) {
	m := message.MetaOf(v)
	if u := m.Usage; u.Known || u.Note != "" { // the last one counts
		u.CostUSD = cmp.Or(u.CostUSD, s.resp.Usage.CostUSD)
		s.resp.Usage = u
	} else if u.CostUSD != nil {
		s.resp.Usage.CostUSD = u.CostUSD
	}
	if m.Model != "" {
		s.resp.Model = m.Model
	}
	if m.FinishReason != "" && s.resp.FinishReason == "" {
		s.resp.FinishReason = m.FinishReason
	}
}

// ends reads the finish reason of an answer of the model; the last one counts.
func (s *stream) ends(v value.Value) {
	if r := message.LastFinish(v); r != "" {
		s.resp.FinishReason = r
	}
}

// spend records the usage of one request of the model; any of its events may contain it.
func (s *stream) spend(id string, v value.Value) {
	u := message.MetaOf(v).Usage
	if n := len(s.spent); n == 0 || s.spent[n-1].id != id || id == "" {
		if slices.ContainsFunc(s.spent, func(o spending) bool { return o.id == id && id != "" }) {
			return // a repetition
		}
		s.spent = append(s.spent, spending{id: id})
	}
	if u.Known || u.Note != "" {
		s.spent[len(s.spent)-1].usage = u
	}
}

// strange keeps the calls in an event of an unknown kind.
func (s *stream) strange(v value.Value) { s.held = append(s.held, message.Holds(v, s.opts.Tools)...) }

// missed reports whether an event had a call that was not read.
func (s *stream) missed() bool {
	for _, h := range s.held {
		read := s.byID(h.ID) != nil || h.Counted > 0 && s.called()
		for i := range s.resp.Turns {
			for j := range s.resp.Turns[i].Calls {
				c := &s.resp.Turns[i].Calls[j]
				read = read || (h.ID == "" || c.ID == "") && c.Tool == h.Tool
			}
		}
		if !read {
			return true
		}
	}
	return s.unread
}

func (s *stream) finish() (*callvet.Response, error) {
	s.flush()
	if len(s.resp.Turns) == 0 && s.turn.Reasoning != "" { // reasoning without an answer
		s.turn.Role = callvet.RoleAssistant
		s.resp.Turns = []callvet.Turn{s.turn}
	}
	if err := s.settle(); err != nil {
		return nil, err
	}
	if s.seen == 0 {
		return nil, malformed("the stream ended without an event that is known")
	}
	if len(s.resp.Turns) == 0 {
		s.resp.Turns = []callvet.Turn{{Role: callvet.RoleAssistant}}
	}
	if !s.called() {
		last := &s.resp.Turns[len(s.resp.Turns)-1]
		r := message.FromText(last.Content, s.opts.Tools)
		last.Calls, s.resp.Unreadable, s.resp.CallsUnknown = r.Turns[0].Calls, r.Unreadable, r.CallsUnknown
	}
	if why := s.cutOff(); why != "" {
		return nil, malformed("the stream ended before the answer did: " + why)
	}
	if s.unfinished() {
		s.resp.Why = callvet.ReasonCut
	}
	if !s.resp.Unreadable && s.missed() {
		return nil, malformed("the stream has a call, in events that are not known")
	}
	if len(s.spent) > 0 && !s.resp.Usage.Known && s.resp.Usage.Note == "" {
		all := make([]callvet.Usage, len(s.spent))
		for i := range s.spent {
			all[i] = s.spent[i].usage
		}
		s.resp.Usage = message.SumUsage(all)
	}
	s.resp.Repairs = message.Repairs(s.resp.Turns)
	s.resp.Note(s.made.Note())
	s.resp.CallsUnknown = s.resp.CallsUnknown || !s.structured || s.proto != nil && s.proto.name == a2a &&
		s.opts.Fields.Calls == ""
	return &s.resp, nil
}

// settle uses the last snapshot of the conversation as the answer, unless later events added
// something.
func (s *stream) settle() error {
	if s.snap.Kind() != value.Object {
		return nil
	}
	r, err := message.Decode(s.snap, s.opts)
	if err != nil && s.after && !message.HoldsCall(s.snap, s.opts.Tools) {
		return nil // it may precede the answer
	}
	if err != nil {
		return err
	}
	has, known := count(r.Turns), count(s.resp.Turns)
	switch {
	case !s.after && has >= known:
		s.resp.Turns, s.resp.Unreadable = r.Turns, r.Unreadable
		if r.Usage.Known {
			s.resp.Usage = r.Usage
		}
	case has > known:
		s.unread = true
	}
	return nil
}

func malformed(msg string) *callvet.Fault {
	return &callvet.Fault{Kind: callvet.FaultMalformed, Message: msg}
}

// cutOff is the reason to consider the stream broken off; "" for none. Agents of no protocol may
// end an answer by closing the stream.
func (s *stream) cutOff() string {
	paused := s.resp.FinishReason == callvet.FinishHITL
	if s.ended || paused && s.proto == nil {
		return ""
	}
	if s.proto == nil {
		switch {
		case s.resp.FinishReason != "":
			return ""
		case s.chunked || s.resp.Unreadable:
			return "no event says that it is complete"
		}
		for _, c := range s.calls() {
			if c.Malformed() {
				return "a call stops in the middle"
			}
		}
		return ""
	}
	if s.proto.marked {
		return "no event says that it is complete"
	}
	last := &s.resp.Turns[len(s.resp.Turns)-1]
	for _, c := range s.calls() {
		if c.Result == nil && c.Error == "" {
			return "a call has no result"
		}
	}
	switch n := len(s.spent); {
	case s.asking:
		return "a request of the model is not answered"
	case last.Role != callvet.RoleAssistant || last.Content == "":
		return "nothing follows the results of the calls"
	case n > 1 && s.spent[0].usage.Known && !s.spent[n-1].usage.Known:
		return "the last message is not complete"
	}
	return ""
}

// unfinished reports whether an answer without calls arrived in pieces and no piece is marked as
// the last, by a finish reason or by an agent's closing event.
func (s *stream) unfinished() bool {
	if s.proto != nil || s.resp.FinishReason != "" || s.called() || s.resp.Unreadable {
		return false
	}
	return s.chunked || s.pieces && s.structured && !s.ended
}

func (s *stream) calls() []*callvet.Call {
	var out []*callvet.Call
	for i := range s.resp.Turns {
		for j := range s.resp.Turns[i].Calls {
			out = append(out, &s.resp.Turns[i].Calls[j])
		}
	}
	return out
}

// deltaOf is the text of a delta event in its spellings.
func deltaOf(v value.Value) string {
	if v.Kind() == value.String {
		return v.Str()
	}
	for _, k := range []string{"delta", "text", "content", "token", "value", "message", "textDelta"} {
		if m, ok := v.Get(k); ok {
			if m.Kind() == value.Object {
				return deltaOf(m)
			}
			return m.Str()
		}
	}
	return ""
}

// pieceOf is the part of arguments that an event carries.
func pieceOf(v value.Value) string {
	for _, k := range []string{
		"delta", "inputTextDelta", "args", "arguments", "partial_json", "input", "text",
		"content", "argsTextDelta",
	} {
		if m, ok := v.Get(k); ok && m.Kind() == value.String {
			return m.Str()
		}
	}
	return ""
}

// completionChunk is a chunk of a chat completion.
func completionChunk(s *stream, v value.Value) error {
	s.seen++
	s.chunked = true
	s.meta(v)
	choice, ok := message.At(v, "choices.0")
	if !ok {
		return nil
	}
	s.meta(choice)
	d, ok := choice.Get("delta")
	if !ok {
		d, _ = choice.Get("message")
	}
	s.text(str(d, "content"))
	s.turn.Reasoning += str(d, "reasoning_content")
	for range s.chunk.Add(d) {
		s.token()
	}
	return nil
}

// written is the text of arguments: the text of a string, the JSON of another value, "" for none.
func written(v value.Value) string {
	switch v.Kind() {
	case value.Invalid, value.Null:
		return ""
	case value.String:
		return v.Str()
	}
	return string(v.Raw())
}

// flushChunks closes the calls that arrived in chunks of a message.
func (s *stream) flushChunks() {
	s.turn.Calls = append(s.turn.Calls, s.chunk.List(s.opts.Tools)...)
	s.chunk = message.ChatCalls{}
}
