// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package callvet

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"time"
)

// Params are the sampling parameters of a target. Nil means: not sent.
type Params struct {
	Temperature     *float64                   `json:"temperature,omitempty"`
	TopP            *float64                   `json:"top_p,omitempty"`
	MaxTokens       *int                       `json:"max_tokens,omitempty"`
	Seed            *int64                     `json:"seed,omitempty"`
	ReasoningEffort string                     `json:"reasoning_effort,omitempty"`
	ParallelCalls   *bool                      `json:"parallel_calls,omitempty"`
	Stop            []string                   `json:"stop,omitempty"`
	Extra           map[string]json.RawMessage `json:"extra,omitempty"` // sent as given
}

// Over returns the parameters, and those of base where they are not set.
func (p Params) Over(base Params) Params {
	extra := maps.Clone(base.Extra)
	if extra == nil {
		extra = p.Extra
	}
	maps.Copy(extra, p.Extra)
	stop := p.Stop
	if stop == nil {
		stop = base.Stop
	}
	return Params{
		Temperature: cmp.Or(p.Temperature, base.Temperature), TopP: cmp.Or(p.TopP, base.TopP),
		MaxTokens: cmp.Or(p.MaxTokens, base.MaxTokens), Seed: cmp.Or(p.Seed, base.Seed),
		ReasoningEffort: cmp.Or(p.ReasoningEffort, base.ReasoningEffort),
		ParallelCalls:   cmp.Or(p.ParallelCalls, base.ParallelCalls), Stop: stop, Extra: extra,
	}
}

// Adjustment records what a provider's parameter table did to a parameter.
type Adjustment struct {
	Param  string `json:"param"`
	Action string `json:"action"` // drop, clamp, rename, warn
	From   string `json:"from"`
	To     string `json:"to,omitempty"`
	Reason string `json:"reason"`
	// Default: the value is a default of callvet, not a setting of the user.
	Default bool `json:"default,omitempty"`
}

// Target is what is evaluated, as configured; it goes into the run manifest
// and holds no secret.
type Target struct {
	// Name is what the user typed: "openai/gpt-5-mini", "recorded:out.jsonl".
	Name     string `json:"name"`
	Provider string `json:"provider"` // group that shares rate limits
	Model    string `json:"model,omitempty"`
	BaseURL  string `json:"base_url,omitempty"`
	Params   Params `json:"params,omitzero"`
	// SystemPrompt is put before the suite's for this target, or replaces it where ReplaceSystem is
	// set. Source: Tool Calling Evaluation, "System Prompt Per Suite".
	SystemPrompt  string       `json:"system_prompt,omitempty"`
	ReplaceSystem bool         `json:"replace_system,omitempty"`
	ToolChoice    string       `json:"tool_choice,omitempty"`
	Adjustments   []Adjustment `json:"adjustments,omitempty"`
	// Floor marks a non-LLM baseline (offline/lexical), Recorded a replay of
	// outputs, Agent a target that runs its own tools.
	Floor    bool `json:"floor,omitempty"`
	Recorded bool `json:"recorded,omitempty"`
	Agent    bool `json:"agent,omitempty"`
	// Free targets cost nothing: an answer without usage has the cost 0, not an unknown one.
	Free bool `json:"free,omitempty"`
	// Selects marks a router or retriever: it answers with a Decision.
	Selects bool `json:"selects,omitempty"`
}

// Request asks a target for its next turn.
type Request struct {
	CaseID     string
	Repeat     int
	System     string
	Turns      []Turn // the conversation so far
	Tools      *Toolset
	ToolChoice string // auto, required, none, or a tool's name
	Params     Params
	// Stubs are the case's mock responses, for agents that accept them; models ignore them.
	Stubs []Mock
	// Form, when set, is the required form of the answer's text. A target that cannot guarantee it
	// answers in any text.
	Form *AnswerForm
}

// AnswerForm asks for an answer that is one JSON value.
type AnswerForm struct {
	// Name consists of letters, digits, _ and -, at most 64.
	Name   string
	Schema json.RawMessage // JSON Schema of an object
	// Strict: every object of the schema is closed and requires all its members. Some providers
	// guarantee the form only then.
	Strict bool
}

// Response is a target's answer.
type Response struct {
	// Turns are the new turns: one assistant turn from a model; from an agent
	// the whole attempt, tool results included, with Complete set.
	Turns    []Turn
	Complete bool
	Usage    Usage
	Model    string
	// FinishReason is the provider's own word.
	FinishReason string
	Repairs      []string
	// Unreadable: the text contains a call that could not be recovered.
	Unreadable bool
	// Why is set where a reader knows why the answer is no answer although its finish reason does
	// not show it: a stream that ended without one. Ending returns it.
	Why Reason
	// Notes are what a person must know about the evidence.
	Notes []string
	// CallsUnknown: the form of the answer has no place for calls, such as a plain text. That it
	// has no calls does not mean that none were made.
	CallsUnknown bool
	ToolChoice   string // as sent
	// Omitted are parameters that the provider refused, so that they were not sent: a default
	// temperature, or tool_choice where required had to fall back to auto.
	Omitted []string
	// Decision is the answer of a target that selects; Turns are empty then.
	Decision   *Decision
	FirstToken time.Duration
	// Wall is the duration of the whole attempt, as reported by a recording or an agent; 0: the
	// loop measures it.
	Wall time.Duration
	// Started is when the attempt began, as recorded in a replay; zero: now.
	Started   time.Time
	Exchanges []Exchange
}

// LostCall reports whether the finish reason of the answer is "calls" and the answer has no call,
// readable or not: it is then unknown what was called.
func (r *Response) LostCall() bool {
	return StopOf(r.FinishReason) == StopCalls && !r.Unreadable && !r.called()
}

// UnknownCalls reports whether the answer has no call and its form has no place for calls: it is
// then unknown what was called.
func (r *Response) UnknownCalls() bool {
	return r.CallsUnknown && !r.Unreadable && !r.called()
}

// Model answers requests. Implementations must be safe for concurrent use and must not retry, since
// the evaluation loop counts retries. They return a *Fault for any infrastructure error. A response
// belongs to the caller, who changes it: no two requests get the same one, or turns or calls of it.
type Model interface {
	Generate(ctx context.Context, req *Request) (*Response, error)
}

// Embedder turns texts into vectors of one dimension, in the order given.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	Name() string
}

// World answers the calls of one trace, in order, and is not shared between traces. A Reply with a
// Status other than ok is an answer, not an error; a Reply with EnvGuard means that the call was
// not executed. An error is an infrastructure error: the attempt ends with a Fault. Worlds compose:
// a World that records, injects faults or waits wraps another.
type World interface {
	Answer(ctx context.Context, call Call) (Reply, error)
}

// Reply is a World's answer to a call.
type Reply struct {
	Result  json.RawMessage
	Error   string
	Status  Status
	Latency time.Duration
	// Note explains where the answer came from, where that matters to a person.
	Note string
	// Env is what answered the call.
	Env Env
	// Guard has the decisions of the World itself, such as a refused address.
	Guard []Ruling
}

// Cell is one attempt of a run: case × target × repeat.
type Cell struct {
	Case   int    `json:"case"`   // position in the suite
	Target int    `json:"target"` // position in the run's targets
	Repeat int    `json:"repeat"`
	Trace  Trace  `json:"trace"`
	Result Result `json:"result"`
	// Redacted is the version of the redaction that took all that it finds out of the trace; 0 where none did, or
	// where it left what the suite has. The store keeps it, and no report has it.
	Redacted int `json:"-"`
}

// Lost turns the cell into an error because its stored record cannot be read. Its case, target and
// repeat stay.
func (c *Cell) Lost(caseID string, why error) {
	reason := "the stored record of the attempt cannot be read: " + why.Error()
	c.Trace = Trace{
		CaseID: caseID, Repeat: c.Repeat, Outcome: OutcomeError, Format: FormatFail, End: EndError,
		Fault: &Fault{Kind: FaultLost, Message: reason},
	}
	c.Result = Result{Verdict: VerdictError, Class: ClassProvider, Reason: reason}
}
