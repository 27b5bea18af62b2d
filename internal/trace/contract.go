// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace

import (
	_ "embed"
	"encoding/json"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
)

// Version of the trace contract that this package writes. A record without a
// version is of version 1.
const Version = 1

//go:embed trace.schema.json
var schema []byte

// Schema is the published JSON Schema (2020-12) of one line of a trace file.
func Schema() []byte { return append([]byte(nil), schema...) }

// Step is one call of a tool. Source: Evaluating Tool Calling, §2.2.
type Step struct {
	TaskID string
	// Attempt counts repetitions of the same task from 0; Target names what was evaluated. Both may
	// be absent: then the task id alone identifies the attempt.
	Attempt int
	Target  string
	// TurnID is the turn of the call; -1: not recorded.
	TurnID int
	CallID string
	// Tool and ToolVersion are the two sides of "name@vN"; the version may be "".
	Tool        string
	ToolVersion string
	// Args is one JSON value; nil means unknown (not recorded, or not readable
	// with the payload in ArgsRaw), which is not {}.
	Args    json.RawMessage
	Parsed  callvet.Parsed // the value of Args, where it is known
	ArgsRaw string
	// AcceptMS is the time the model took to emit the call; nil: not recorded.
	AcceptMS *float64
	// StartMS is when the call was made, since the attempt began; nil: not recorded.
	StartMS *float64
	Result  json.RawMessage // nil: none
	Error   json.RawMessage // a string or an object; nil: none
	QueueMS *float64        // nil: not recorded
	ExecMS  *float64        // nil: not recorded
	Status  callvet.Status  // "": not executed, or not recorded
	Env     callvet.Env     // who answered; "": not recorded
	Guard   []callvet.Ruling
	Gold    *Gold
	Tags    []string
	// Fields are named slices in addition to the tags (language, intent, api_version).
	Fields map[string]string
	// Corrects reports that the line replaces earlier ones of the same call.
	Corrects bool
}

// Gold is the label of a step.
type Gold struct {
	Needed *bool
	// Tool is the right tool, even if it was called; "" when not labelled.
	Tool        string
	Args        json.RawMessage // nil: not labelled
	Params      json.RawMessage // matchers of single arguments by name, in the form of a suite; nil: none
	Scoring     json.RawMessage // how arguments are compared, as under scoring in a suite; nil: the settings of the reading
	Result      json.RawMessage // the right result of a tool that always gives the same; nil: not labelled
	ResultCheck string          // a post-condition on the result, "window_days==30"
}

// Task is the record of a whole attempt. Its struct tags define the form of a task record; a line
// of a different form is not a record.
type Task struct {
	// Line is the line of the record in its file; 0: unknown.
	Line    int64           `json:"-"`
	TaskID  string          `json:"task_id" form:"required full"`
	Attempt int             `json:"attempt,omitempty" form:"min=0 max=2147483647"`
	Target  string          `json:"target,omitempty"`
	Model   string          `json:"model,omitempty"`
	Goal    string          `json:"goal,omitempty"`
	AsOf    string          `json:"as_of,omitempty"`
	Outcome callvet.Outcome `json:"outcome,omitempty" form:"words=called|abstained|unparseable|error|not_run"`
	End     callvet.End     `json:"termination,omitempty"`
	// FinishReason is the reason of the last answer, Reason why the attempt is unparseable, Notes
	// what a person must know about the evidence.
	FinishReason string            `json:"finish_reason,omitempty"`
	Reason       callvet.Reason    `json:"reason,omitempty"`
	Notes        []string          `json:"notes,omitempty"`
	Tags         []string          `json:"tags,omitempty"`
	Fields       map[string]string `json:"fields,omitempty" form:"scalar"`
	// Answer is the final answer to the user; nil: not recorded.
	Answer *string `json:"final_answer,omitempty"`
	// Usage and CostUSD are nil if the source does not record them.
	Usage   *Usage    `json:"usage,omitempty"`
	CostUSD *float64  `json:"cost_usd,omitempty"`
	WallMS  *float64  `json:"wall_ms,omitempty" form:"min=0 max=31622400000"`
	Started time.Time `json:"started,omitzero"`
	// Steps is the number of step lines of the attempt; nil: not recorded.
	Steps *int           `json:"steps,omitempty" form:"min=0"`
	Fault *callvet.Fault `json:"fault,omitempty"`
	// Pass is the verdict of the source's own checks, Reward their score.
	Pass   *bool    `json:"pass,omitempty"`
	Reward *float64 `json:"reward,omitempty"`
	// Asks identifies the question of the task and how it is judged; "" where unknown.
	Asks string `json:"asks,omitempty"`
	// Expects are the tools that passing answers call; nil: only the gold may name them.
	Expects []string `json:"expected_tools,omitempty"`
	// Scored are the further results of a scorer; nil: none.
	Scored *Scored `json:"scored,omitempty"`
	// Format grades the emitted calls; Requests counts the sent requests, retries included.
	Format   callvet.Format `json:"format,omitempty" form:"words=PASS|NORMALIZED|FAIL"`
	Requests int            `json:"requests,omitempty" form:"min=0"`
	// ToolChoice is the tool choice of the request (auto, required, none, or a tool's name).
	// Omitted are parameters that the provider refused and that were not sent.
	ToolChoice   string   `json:"tool_choice,omitempty"`
	Omitted      []string `json:"omitted,omitempty"`
	FirstTokenMS *float64 `json:"first_token_ms,omitempty" form:"min=0 max=31622400000"`
	// Cached: an earlier answer was used. Unbilled: the attempt costs nothing, so that no usage is
	// missing. Floor: a baseline that any model must beat. Repeatable: the target always gives the
	// same answer. Skipped: the attempt was omitted on purpose.
	Cached     bool `json:"cached,omitempty"`
	Unbilled   bool `json:"unbilled,omitempty"`
	Floor      bool `json:"floor,omitempty"`
	Repeatable bool `json:"repeatable,omitempty"`
	Skipped    bool `json:"skipped,omitempty"`
	// Corrects reports that the record replaces earlier ones of the same attempt.
	Corrects bool `json:"corrects,omitempty"`
	// Decision is the answer of a router or retriever.
	Decision *callvet.Decision `json:"decision,omitempty"`
	// Judged are verdicts of judges, Labels verdicts of people.
	Judged []Judged  `json:"judged,omitempty"`
	Labels []Label   `json:"labels,omitempty"`
	Gold   *TaskGold `json:"gold,omitempty"`
	// Safety are breaches; empty: none found, nil: not checked.
	Safety []Incident `json:"safety,omitzero"`
	// Conversation contains the turns; the calls in it are named only by their ids.
	Input        []Message `json:"input,omitempty"`
	Conversation []Message `json:"conversation,omitempty"`
	// UserCalls are calls that the simulated user made, not the target.
	UserCalls []callvet.Call  `json:"user_calls,omitempty"`
	Foreign   json.RawMessage `json:"foreign,omitempty"`
}

// Usage are the tokens that an attempt consumed.
type Usage struct {
	// Input and Output are nil where they are not recorded.
	Input     *int `json:"input_tokens,omitempty" form:"min=0"`
	Output    *int `json:"output_tokens,omitempty" form:"min=0"`
	Reasoning int  `json:"reasoning_tokens,omitempty" form:"min=0"`
	Cached    int  `json:"cached_tokens,omitempty" form:"min=0"`
	Written   int  `json:"cache_write_tokens,omitempty" form:"min=0"`
}

// Tokens are the counts of input and output; known is false if one of them is not recorded or
// impossible.
func (u *Usage) Tokens() (n int, known bool) {
	if u == nil || u.Input == nil || u.Output == nil || *u.Input > message.MaxTokens || *u.Output > message.MaxTokens {
		return 0, false
	}
	return *u.Input + *u.Output, true
}

// Cost is the cost of the attempt in USD; known is false where it is not recorded or impossible.
func (t *Task) Cost() (usd float64, known bool) {
	if t.CostUSD == nil || *t.CostUSD > message.MaxUSD {
		return 0, false
	}
	return *t.CostUSD, true
}

// Judged is the verdict of one judge; the identity is everything that makes a different judge
// when it changes.
type Judged struct {
	Judge      string             `json:"judge" form:"required full"`
	Model      string             `json:"model,omitempty"`
	PromptHash string             `json:"prompt_hash,omitempty"`
	Params     map[string]float64 `json:"params,omitempty"`
	Threshold  *float64           `json:"threshold,omitempty"`
	Score      *float64           `json:"score,omitempty"`
	Pass       *bool              `json:"pass,omitempty"`
	Reason     string             `json:"reason,omitempty"`
}

// Label is a person's verdict.
type Label struct {
	By   string `json:"by,omitempty"`
	Role string `json:"role,omitempty" form:"words=calibration|validation|test"`
	Pass bool   `json:"pass" form:"required"`
	Note string `json:"note,omitempty"`
}

// TaskGold is the label of a task: the needed calls, in order.
type TaskGold struct {
	Steps []GoldStep `json:"steps,omitzero"`
	// Checks are conditions that the result of some call must satisfy.
	Checks []string `json:"postconditions,omitempty"`
	// Facts are texts that the answer to the user must contain.
	Facts []string `json:"facts,omitempty"`
}

// GoldStep is one needed call; nil Args match any arguments.
type GoldStep struct {
	Tool string          `json:"tool" form:"required"`
	Args json.RawMessage `json:"args,omitempty"`
	// By is "user" for a call that the user must make; "" for the target's.
	By string `json:"by,omitempty"`
	// Compare names the arguments that matter; nil: the rule decides, empty: none do.
	Compare []string `json:"compare,omitzero"`
}

// Incident is one breach of safety.
type Incident = callvet.Incident

// Message is a turn; it contains the ids of its calls. Content of a tool turn is nil if it equals
// the result of the call.
type Message struct {
	Role      callvet.Role `json:"role" form:"required words=system|user|assistant|tool"`
	Content   *string      `json:"content,omitempty"`
	Reasoning string       `json:"reasoning,omitempty"`
	CallIDs   []string     `json:"call_ids,omitempty"`
	CallID    string       `json:"call_id,omitempty"`
	// Unreadable are the calls of the turn without a tool's name: they have no step.
	Unreadable []callvet.Call `json:"unreadable,omitempty"`
}

// Attempt is one imported attempt: the trace, and the other data of its source.
type Attempt struct {
	Trace callvet.Trace
	// Input are the turns before the target's first turn, system prompt included.
	Input     []callvet.Turn
	Tools     []callvet.Tool
	UserCalls []callvet.Call
	Pass      *bool
	Reward    *float64
	Asks      string
	Expects   []string
	Scored    *Scored
	// Unbilled, Floor, Repeatable and Skipped are as in Task.
	Unbilled   bool
	Floor      bool
	Repeatable bool
	Skipped    bool
	Gold       *TaskGold
	Judged     []Judged
	Labels     []Label
	Safety     []Incident
	Goal       string
	AsOf       string
	Tags       []string
	Fields     map[string]string
	// Steps are the labels, tags and times that a Call cannot contain, by the call's position in
	// Trace.Calls(); nil when there are none.
	Steps map[int]StepNote
	// Order is the index of the step line of each call of Trace.Calls(), in the order of the lines.
	// It is -1 for a call without a tool's name, because that has no line. It is nil if the attempt
	// was not read from lines.
	Order []int
	// Counts are the names of tools that count as other tools by a setting of the attempt's case.
	Counts []callvet.Counted
	// Foreign is the source's own verdict, unchanged; nil if none.
	Foreign json.RawMessage
}

// StepNote is the data of a step line other than its call.
type StepNote struct {
	Gold     *Gold
	AcceptMS *float64
	Tags     []string
	Fields   map[string]string
	TurnID   int
}

// SplitTool splits "name@vN", as callvet.SplitTool does.
func SplitTool(s string) (name, version string) { return callvet.SplitTool(s) }

// JoinTool is the inverse of SplitTool; a bare number gets its v.
func JoinTool(name, version string) string {
	switch {
	case version == "":
		return name
	case version[0] >= '0' && version[0] <= '9':
		return name + "@v" + version
	}
	return name + "@" + version
}
