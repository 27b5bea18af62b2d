// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package callvet

import (
	"context"
	"encoding/json"
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

// Adjustment records what a provider's parameter table did to a parameter.
type Adjustment struct {
	Param  string `json:"param"`
	Action string `json:"action"` // drop, clamp, rename, warn
	From   string `json:"from"`
	To     string `json:"to,omitempty"`
	Reason string `json:"reason"`
	// Default tells that nobody asked for the value.
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
	// SystemPrompt stands before the suite's for this target, or in its place where
	// ReplaceSystem is set. Source: Tool Calling Evaluation, "System Prompt Per Suite".
	SystemPrompt  string       `json:"system_prompt,omitempty"`
	ReplaceSystem bool         `json:"replace_system,omitempty"`
	ToolChoice    string       `json:"tool_choice,omitempty"`
	Adjustments   []Adjustment `json:"adjustments,omitempty"`
	// Floor marks a non-LLM baseline (offline/lexical), Recorded a replay of
	// outputs, Agent a target that runs its own tools.
	Floor    bool `json:"floor,omitempty"`
	Recorded bool `json:"recorded,omitempty"`
	Agent    bool `json:"agent,omitempty"`
	// Free targets cost nothing to ask, so that an answer without usage is no
	// unknown cost.
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
	// Form, when set, is what the text of the answer is to be. Who cannot promise that
	// answers in any text.
	Form *AnswerForm
}

// AnswerForm asks for an answer that is one JSON value.
type AnswerForm struct {
	// Name is of letters, digits, _ and -, at most 64.
	Name   string
	Schema json.RawMessage // JSON Schema of an object
	// Strict tells that every object of the schema is closed and demands all its members,
	// as some providers want before they promise anything.
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
	// FinishReason as the provider says it.
	FinishReason string
	Repairs      []string
	// Unreadable tells that the text meant a call that could not be recovered.
	Unreadable bool
	// Why is set where a reader knows why the answer is none, and its finish reason does not
	// say so: a stream that ended without one. Ending gives it.
	Why Reason
	// Notes are what a person has to know of the evidence.
	Notes []string
	// CallsUntold tells that the form of the answer has no place for calls, as a text has
	// none: that none is in it says nothing of what was called.
	CallsUntold bool
	ToolChoice  string // really used
	// Omitted are parameters that the provider refused, so that they were not sent: a default
	// temperature, or tool_choice where required had to fall back to auto.
	Omitted []string
	// Decision is the answer of a target that selects; Turns are empty then.
	Decision   *Decision
	FirstToken time.Duration
	// Wall is the duration of the whole attempt as a recording or an agent tells
	// it; 0: the loop measures it.
	Wall time.Duration
	// Started is when the attempt began, as a replay tells it; zero: now.
	Started   time.Time
	Exchanges []Exchange
}

// LostCall reports whether the answer ended with calls of tools, by its own finish reason, and
// none is in it, readable or not: what was called is unknown then.
func (r *Response) LostCall() bool {
	return StopOf(r.FinishReason) == StopCalls && !r.Unreadable && !r.called()
}

// Untold reports whether the answer holds no call and its form would not tell one: what was
// called is unknown then.
func (r *Response) Untold() bool {
	return r.CallsUntold && !r.Unreadable && !r.called()
}

// Model answers requests. The evaluation loop calls it from many goroutines;
// implementations must be safe for that, must not retry (retries are counted by
// the loop) and return a *Fault for anything that went wrong on the way.
type Model interface {
	Generate(ctx context.Context, req *Request) (*Response, error)
}

// Embedder turns texts into vectors of one dimension, in the order given.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	Name() string
}

// World answers the calls of one trace, in order, and is not shared between
// traces. A Reply with Status other than ok is an answer too, not an error; one of EnvGuard
// is that of a call that was not executed. An error is an infrastructure error: the attempt
// ends with a Fault. Worlds compose: one that records, injects faults or waits wraps another.
type World interface {
	Answer(ctx context.Context, call Call) (Reply, error)
}

// Reply is a World's answer to a call.
type Reply struct {
	Result  json.RawMessage
	Error   string
	Status  Status
	Latency time.Duration
	// Note tells a person how the answer came about, where that matters.
	Note string
	// Env says who answered.
	Env Env
	// Guard is what a World decided by itself, such as a refused address.
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

// Lost makes the cell one with a stored record that cannot be read: an error with the reason. The
// places of the cell stay.
func (c *Cell) Lost(caseID string, why error) {
	reason := "the stored record of the attempt cannot be read: " + why.Error()
	c.Trace = Trace{
		CaseID: caseID, Repeat: c.Repeat, Outcome: OutcomeError, Format: FormatFail, End: EndError,
		Fault: &Fault{Kind: FaultLost, Message: reason},
	}
	c.Result = Result{Verdict: VerdictError, Class: ClassProvider, Reason: reason}
}
