// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package callvet

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// Role of a turn.
type Role string

// The roles.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Known reports whether r is one of the four.
func (r Role) Known() bool {
	switch r {
	case RoleSystem, RoleUser, RoleAssistant, RoleTool:
		return true
	}
	return false
}

// RoleOf is the role for a format's name of a role or of a message class. It is the only table, for
// trace files, recordings and agents. Case, "-" and spaces do not count. A name that is not in the
// table is returned unchanged and is none of the four roles: such a message is neither text nor a
// call of a model.
func RoleOf(name string) Role {
	key := strings.ToLower(strings.TrimSpace(name[strings.LastIndexByte(name, '.')+1:])) // MessageRole.USER
	key = strings.NewReplacer("-", "_", " ", "_").Replace(key)
	key = strings.TrimPrefix(key, "role_")
	key = strings.TrimSuffix(strings.TrimSuffix(key, "chunk"), "message") // AIMessageChunk
	switch strings.TrimSuffix(key, "_") {
	case "user", "human", "end_user", "enduser", "prompter":
		return RoleUser
	case "system", "developer":
		return RoleSystem
	case "assistant", "model", "ai", "agent", "bot", "chatbot", "gpt", "chatgpt", "llm", "gemini", "claude":
		return RoleAssistant
	case "tool", "function", "tool_result", "toolresult", "tool_response", "tool_output", "function_result",
		"function_response", "function_output",
		"ipython", "observation", "environment":
		return RoleTool
	}
	return Role(name)
}

// Turn is one message of a conversation.
type Turn struct {
	Role    Role   `json:"role"`
	Content string `json:"content,omitempty"`
	// Reasoning is the model's reasoning, where the provider shows it.
	Reasoning string `json:"reasoning,omitempty"`
	Calls     []Call `json:"calls,omitempty"`
	// CallID and Tool name the call a RoleTool turn answers.
	CallID string `json:"call_id,omitempty"`
	Tool   string `json:"tool,omitempty"`
	// Raw is the provider's own form of an assistant message; it is sent back
	// verbatim so that nothing (reasoning signatures, ids) is lost in between.
	Raw json.RawMessage `json:"raw,omitempty"`
	// Parsed is the value of Raw, where the provider has it.
	Parsed Parsed `json:"-"`
}

// Status is how a call ended. The zero value means it was not executed.
type Status string

// The statuses of Evaluating Tool Calling, §2.2.
const (
	StatusOK       Status = "ok"
	StatusRejected Status = "rejected_by_contract"
	StatusExecErr  Status = "exec_error"
	StatusTimeout  Status = "timeout"
)

// Call is one tool invocation a model emitted (a step).
type Call struct {
	ID      string `json:"id,omitempty"`
	Tool    string `json:"tool"`
	Version string `json:"version,omitempty"`
	// Args is one JSON value, normally an object. Nil means unknown: not
	// recorded, or (with ArgsRaw set) not parseable.
	Args json.RawMessage `json:"args,omitempty"`
	// Parsed is the value of Args, where whoever read the call has it.
	Parsed Parsed `json:"-"`
	// ArgsRaw is the payload as emitted, kept when it differs from Args.
	ArgsRaw string   `json:"args_raw,omitempty"`
	Repairs []string `json:"repairs,omitempty"`
	Status  Status   `json:"status,omitempty"`
	// Result is the tool's answer; nil when there is none.
	Result json.RawMessage `json:"result,omitempty"`
	Error  string          `json:"error,omitempty"`
	// Note explains where the world's answer came from, where that matters to a person.
	Note string `json:"note,omitempty"`
	// Env is what answered the call; "" where nothing answered, or the source is not recorded.
	Env Env `json:"env,omitempty"`
	// Guard has the guard's decisions about the call and its answer, in order; empty where both
	// passed without a remark.
	Guard []Ruling `json:"guard,omitempty"`
	// StartMS is when an agent that calls tools itself made the call: milliseconds since its
	// attempt began, on the agent's own clock. It is nil where it is not recorded, and for models
	// that callvet asks, which cannot wait between two calls.
	StartMS *float64 `json:"start_ms,omitempty"`
	// QueueMS is how long the call waited before its execution, ExecMS how long the execution took.
	// Mocks do not wait; their durations are declared.
	QueueMS float64 `json:"queue_ms,omitempty"`
	ExecMS  float64 `json:"exec_ms,omitempty"`
}

// Malformed reports whether the call cannot be read: its arguments were emitted but are not
// JSON, or it names no tool.
func (c *Call) Malformed() bool {
	return c.Args == nil && c.ArgsRaw != "" || c.Nameless()
}

// Nameless reports whether the call names no tool: nothing can answer it.
func (c *Call) Nameless() bool { return strings.TrimSpace(c.Tool) == "" }

// Denied reports whether the guard answered instead of the tool, which was not executed. Such a
// call has no status, since none of the four describes it.
func (c *Call) Denied() bool { return c.Env == EnvGuard }

// Env is what answered a call: one of the words below, or a live tool. A live tool has its kind,
// its version where it reports one, and its address without query and user ("live http
// https://host/path").
type Env string

// The sources of answers.
const (
	EnvMock     Env = "mock"
	EnvRecorded Env = "recorded"
	EnvGuard    Env = "guard" // a denied call: nothing was executed
	EnvFault    Env = "fault" // a fault that was injected
)

// Live is the Env of a real tool: kind is "http", "mcp" or "command", where is its address or name.
// It must contain no secret.
func Live(kind, where string) Env { return Env(livePrefix + kind + " " + where) }

// IsLive reports whether a real tool answered.
func (e Env) IsLive() bool { return strings.HasPrefix(string(e), livePrefix) }

const livePrefix = "live "

// Ruling is one decision of a guard about a call or its answer. A call that passes without a remark
// has no ruling.
type Ruling struct {
	Rule   string       `json:"rule" form:"required"`
	Action RulingAction `json:"action" form:"required words=deny|redact|flag|confirm|wait"`
	// Detail explains the decision to a person. It contains no secret and no personal data.
	Detail string `json:"detail,omitempty"`
}

// RulingAction is what a guard did.
type RulingAction string

// What a guard may do.
const (
	RulingDeny    RulingAction = "deny"    // the call was not executed
	RulingRedact  RulingAction = "redact"  // arguments or result were changed
	RulingFlag    RulingAction = "flag"    // only a remark
	RulingConfirm RulingAction = "confirm" // executed because a person agreed
	RulingWait    RulingAction = "wait"    // executed later than requested
)

// Elided reports whether the author of a trace file left a payload out, as examples do: {...},
// [...] or the dots alone. The emitted payload is then unknown. Source: Evaluating Tool Calling,
// §2.2.
func Elided(payload []byte) bool {
	switch string(bytes.TrimSpace(payload)) {
	case "{...}", "{…}", "[...]", "[…]", "...", "…":
		return true
	}
	return false
}

// Outcome of an attempt; the five are never mixed.
type Outcome string

// The outcomes.
const (
	OutcomeCalled      Outcome = "called"
	OutcomeAbstained   Outcome = "abstained"
	OutcomeUnparseable Outcome = "unparseable"
	OutcomeError       Outcome = "error"
	OutcomeNotRun      Outcome = "not_run"
)

// Format compliance of an attempt.
type Format string

// The format grades: native calls, repaired calls, no usable call.
const (
	FormatPass       Format = "PASS"
	FormatNormalized Format = "NORMALIZED"
	FormatFail       Format = "FAIL"
)

// Usage counts what an attempt consumed. The zero value means that nothing is known. CostUSD is nil
// when it is not known.
type Usage struct {
	InputTokens     int `json:"input_tokens,omitempty"`
	OutputTokens    int `json:"output_tokens,omitempty"`
	ReasoningTokens int `json:"reasoning_tokens,omitempty"`
	// CachedTokens of the input were read from a cache, and CacheWriteTokens were written to one.
	CachedTokens     int `json:"cached_tokens,omitempty"`
	CacheWriteTokens int `json:"cache_write_tokens,omitempty"`
	// CacheHourTokens of CacheWriteTokens were written for an hour, which has its own price.
	CacheHourTokens int      `json:"-"`
	CostUSD         *float64 `json:"cost_usd,omitempty"`
	PriceDate       string   `json:"price_date,omitempty"` // date of the price table row used
	// Known is false when a response has no usage, or an impossible one. The counts are then those
	// of the other responses: a lower bound; a 0 means nothing.
	Known bool `json:"known,omitempty"`
	// Note is why the usage is not known, or what is unusual about it.
	Note string `json:"note,omitempty"`
	// AtMostUSD is an upper bound where CostUSD is not known; nil: no bound is known.
	AtMostUSD *float64 `json:"-"`
}

// ModelUse counts the requests to an embedding model or a reranker.
type ModelUse struct {
	Model    string `json:"model"`
	Requests int    `json:"requests"`
	Texts    int    `json:"texts"`
	// Tokens are the tokens that the server reports; 0 where it reports none.
	Tokens int `json:"tokens"`
	// Cached is how many vectors came from the cache.
	Cached int `json:"cached"`
}

// Add sums o into u. A sum is known when both sides are; adding the zero value changes nothing.
func (u *Usage) Add(o Usage) {
	if o == (Usage{}) {
		return
	}
	if *u == (Usage{}) {
		*u = o
		return
	}
	u.AtMostUSD = addUSD(u.most(), o.most())
	if u.CostUSD = addUSD(u.CostUSD, o.CostUSD); u.CostUSD != nil {
		u.AtMostUSD = nil
	}
	u.Known = u.Known && o.Known
	u.InputTokens += o.InputTokens
	u.OutputTokens += o.OutputTokens
	u.ReasoningTokens += o.ReasoningTokens
	u.CachedTokens += o.CachedTokens
	u.CacheWriteTokens += o.CacheWriteTokens
	u.CacheHourTokens += o.CacheHourTokens
	if o.PriceDate != "" {
		u.PriceDate = o.PriceDate
	}
	if u.Note == "" {
		u.Note = o.Note
	}
}

// most is an upper bound of the cost; nil when none is known.
func (u *Usage) most() *float64 {
	if u.CostUSD != nil {
		return u.CostUSD
	}
	return u.AtMostUSD
}

func addUSD(a, b *float64) *float64 {
	if a == nil || b == nil {
		return nil
	}
	c := *a + *b
	return &c
}

// Spent is what a run has consumed, over all its sessions, cells that were replaced or interrupted
// included.
type Spent struct {
	// Requests were sent to targets, retries included.
	Requests int `json:"requests"`
	// USD sums the known costs.
	USD float64 `json:"usd"`
	// AssumedUSD is an upper bound of the cost of the Assumed requests without usage: one token for
	// each byte of the request and of the answer.
	AssumedUSD float64 `json:"assumed_usd,omitempty"`
	Assumed    int     `json:"assumed,omitempty"`
}

// Add sums o into s.
func (s *Spent) Add(o Spent) {
	s.Requests += o.Requests
	s.USD += o.USD
	s.AssumedUSD += o.AssumedUSD
	s.Assumed += o.Assumed
}

// Exchange is one request to a target and its raw answer, redacted.
type Exchange struct {
	// Request is the body sent, with the tools replaced by {"$tools":"HASH"} (they
	// are stored once with the suite).
	Request  json.RawMessage `json:"request,omitempty"`
	Response string          `json:"response,omitempty"` // raw body; may be any bytes, made valid UTF-8
	Parsed   Parsed          `json:"-"`                  // the value of Response, where the provider has it
	HTTP     int             `json:"http,omitempty"`
	MS       float64         `json:"ms,omitempty"`
	Error    string          `json:"error,omitempty"`
}

// End is why an attempt ended.
type End string

// The ends of an attempt.
const (
	EndAnswered  End = "answered"   // the target answered without further calls
	EndCalled    End = "called"     // single turn: the calls are what was asked for
	EndReached   End = "reached"    // multi-turn: the last expected call was made
	EndMaxRounds End = "max_rounds" // multi-turn: gave up
	EndError     End = "error"
	EndCanceled  End = "canceled"
	EndSkipped   End = "skipped"
	// EndUnanswered: the case asserts something about the answer after the calls, but nothing
	// answers calls, so the target was not asked for it. These assertions are not evaluated.
	EndUnanswered End = "unanswered"
	// EndUnfinished: the last answer was cut off, is empty, or contains something unreadable.
	EndUnfinished End = "unfinished"
)

// Trace is the complete ordered record of one attempt at one case by one target.
type Trace struct {
	CaseID  string  `json:"case_id"`
	Target  string  `json:"target"`
	Repeat  int     `json:"repeat"` // from 0
	Outcome Outcome `json:"outcome"`
	// Turns are what happened after the case's input: assistant and tool turns.
	Turns  []Turn `json:"turns,omitempty"`
	Answer string `json:"answer,omitempty"` // text of the last assistant turn
	Usage  Usage  `json:"usage,omitzero"`
	// Model is the version string the provider reported.
	Model        string `json:"model,omitempty"`
	FinishReason string `json:"finish_reason,omitempty"`
	// Reason is why the attempt is unparseable; "" for other outcomes.
	Reason  Reason   `json:"reason,omitempty"`
	Format  Format   `json:"format,omitempty"`
	Repairs []string `json:"repairs,omitempty"`
	// Notes are what a person must know about the evidence: that no finish reason was recorded,
	// that the answer was cut off after its calls.
	Notes []string `json:"notes,omitempty"`
	// ToolChoice is the value that was sent; it may differ from the requested one.
	ToolChoice string `json:"tool_choice,omitempty"`
	// Omitted are parameters that the provider refused, so that the attempt was made without
	// them: a default temperature, or tool_choice where required had to fall back to auto.
	Omitted      []string  `json:"omitted,omitempty"`
	End          End       `json:"end,omitempty"`
	Fault        *Fault    `json:"fault,omitempty"`
	Attempts     int       `json:"attempts,omitempty"` // requests sent, retries included
	Started      time.Time `json:"started,omitzero"`
	WallMS       float64   `json:"wall_ms,omitempty"` // first request to last byte, without waiting for a slot
	FirstTokenMS float64   `json:"first_token_ms,omitempty"`
	ToolMS       float64   `json:"tool_ms,omitempty"`
	Cached       bool      `json:"cached,omitempty"`
	// Decision is set by targets that select tools and do not call them.
	Decision  *Decision  `json:"decision,omitempty"`
	Exchanges []Exchange `json:"exchanges,omitempty"`
}

// Calls returns the calls of all assistant turns in order.
func (t *Trace) Calls() []Call {
	n, last := 0, -1
	for i := range t.Turns {
		if k := len(t.Turns[i].Calls); k > 0 {
			n, last = n+k, i
		}
	}
	if n == 0 {
		return nil
	}
	if len(t.Turns[last].Calls) == n {
		return t.Turns[last].Calls
	}
	out := make([]Call, 0, n)
	for i := range t.Turns {
		out = append(out, t.Turns[i].Calls...)
	}
	return out
}

// Mended lists the repairs of the attempt and of its calls, each once.
func (t *Trace) Mended() []string {
	out := slices.Clone(t.Repairs)
	for _, c := range t.Calls() {
		for _, r := range c.Repairs {
			if !slices.Contains(out, r) {
				out = append(out, r)
			}
		}
	}
	return out
}

// Classify sets Outcome, Reason and Format; no other code decides them. why is the result of
// Response.Ending for the answers, "" where they are whole. A call with unreadable arguments or
// without a tool makes the attempt unparseable, never an abstention. Complete calls count even if
// the answer after them is cut off or empty. A decision with tools counts as called.
func (t *Trace) Classify(why Reason) {
	if why != "" && t.End == EndAnswered {
		t.End = EndUnfinished
	}
	calls, malformed := t.counted()
	if malformed && !why.broken() {
		if why = ReasonArguments; StopOf(t.FinishReason) == StopCut {
			why = ReasonCutCall
		}
	} else if why == "" && cutShort(t.Turns, t.FinishReason) {
		why = ReasonCutCall
	}
	unparseable := why.broken() || why == ReasonArguments || why != "" && calls == 0
	t.Reason = ""
	switch {
	case t.Fault != nil:
		t.Outcome = OutcomeError
	case t.End == EndSkipped, t.End == EndCanceled:
		t.Outcome = OutcomeNotRun
	case unparseable:
		t.Outcome, t.Reason = OutcomeUnparseable, why
	case calls > 0, t.Decision != nil && len(t.Decision.Tools) > 0:
		if t.Outcome = OutcomeCalled; why != "" {
			t.Note("after the calls: " + why.Sentence())
		}
	default:
		if t.Outcome = OutcomeAbstained; StopOf(t.FinishReason) == StopNone && t.Decision == nil {
			t.Note(NoteNoStop)
		}
	}
	t.Format = t.grade()
}

// counted is the number of calls of the trace, and whether one of them is malformed.
func (t *Trace) counted() (calls int, malformed bool) {
	for i := range t.Turns {
		for j := range t.Turns[i].Calls {
			calls++
			malformed = malformed || t.Turns[i].Calls[j].Malformed()
		}
	}
	return calls, malformed
}

// grade is the format of a trace that has its outcome.
func (t *Trace) grade() Format {
	switch {
	case t.Outcome == OutcomeError || t.Outcome == OutcomeUnparseable:
		return FormatFail
	case t.Outcome == OutcomeNotRun, t.Decision != nil:
		return "" // without a call there is no format
	case len(t.Repairs) > 0:
		return FormatNormalized
	}
	return FormatPass
}
