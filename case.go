// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package callvet

import (
	"encoding/json"
	"strings"
)

// Tier is the purpose of a case.
type Tier string

// The tiers of the eval-case document. The zero value is TierLabeled's peer
// "untiered": an ordinary case.
const (
	TierGolden     Tier = "golden"
	TierLabeled    Tier = "labeled"
	TierRegression Tier = "regression"
	TierRubric     Tier = "rubric"
)

// Position is a place in a file. Line and Column start at 1; 0 means unknown.
type Position struct {
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

// Suite is a named, versioned set of tools and cases with a system prompt and
// scoring settings.
type Suite struct {
	Name         string   `json:"name"`
	Version      string   `json:"version,omitempty"`
	Description  string   `json:"description,omitempty"`
	SystemPrompt string   `json:"system_prompt,omitempty"`
	Tools        []Tool   `json:"tools,omitempty"`
	Defaults     Defaults `json:"defaults,omitzero"`
	// Mocks answer calls in every case that has no mock of its own for the tool.
	Mocks []Mock `json:"mocks,omitempty"`
	// Faults make calls fail in every case that has no faults of its own.
	Faults []ToolFault `json:"faults,omitempty"`
	Cases  []Case      `json:"cases"`
	// Dialect names the format the suite was read from ("callvet", "toolsuite",
	// "forge", "categories", "tasks", "bfcl", "openai", "promptfoo").
	Dialect string `json:"dialect,omitempty"`
	// Foreign keeps what the dialect had and callvet does not use, so that an
	// export to the same dialect loses nothing.
	Foreign json.RawMessage `json:"foreign,omitempty"`
}

// Defaults are a suite's settings for every case that does not set its own.
type Defaults struct {
	ToolChoice string  `json:"tool_choice,omitempty"`
	Scoring    Scoring `json:"scoring,omitzero"`
	MaxRounds  int     `json:"max_rounds,omitempty"`
	// Scorers are added to the Expect of every case that has no scorer of the same name.
	Scorers []Scorer `json:"scorers,omitempty"`
}

// Case is one labelled situation with what is expected of it.
type Case struct {
	ID          string   `json:"id"`
	Description string   `json:"description,omitempty"`
	Tier        Tier     `json:"tier,omitempty"`
	Tags        []string `json:"tags,omitempty"`
	// Family is the name of a group of cases that are alike: the searches for better settings never
	// have cases of one family on both sides. "": the family follows from what the case asks.
	Family string `json:"family,omitempty"`
	// Fields are named slices (category, difficulty, language, intent, …).
	Fields map[string]string `json:"fields,omitempty"`
	AsOf   string            `json:"as_of,omitempty"`
	// Input is the conversation up to the point where the target speaks; it ends
	// with a user turn (or a tool result).
	Input []Turn `json:"input"`
	// Context is text the target may rely on for argument values but that is not
	// a message (profile, locale, date); it is sent after the system prompt.
	Context string `json:"context,omitempty"`
	// ToolNames restricts the suite's tools; nil means all, empty means none.
	ToolNames []string `json:"tool_names,omitzero"`
	// Tools are the case's own tools; when set they replace the suite's.
	Tools []Tool `json:"tools,omitempty"`
	// ToolChoice is "", "auto", "required", "none" or a tool's name.
	ToolChoice string     `json:"tool_choice,omitempty"`
	Expect     Expect     `json:"expect,omitzero"`
	MultiTurn  *MultiTurn `json:"multi_turn,omitempty"`
	Mocks      []Mock     `json:"mocks,omitempty"`
	Scoring    *Scoring   `json:"scoring,omitempty"`
	// Faults make calls fail, in place of the suite's faults; empty: no call is made to fail.
	Faults []ToolFault `json:"faults,omitzero"`
	// Safety is what attempts may never do; nil: only the tools' contracts apply.
	Safety *Safety `json:"safety,omitempty"`
	// Skip, when not empty, is the reason why the case cannot run (an unresolved
	// token, a format feature that could not be carried): its cells are not_run.
	Skip string `json:"skip,omitempty"`
	// Repeat is how many attempts a run makes at the case for each target; 0: the run's setting.
	Repeat int `json:"repeat,omitempty"`
	// Selectable limits Skip to targets that call tools; targets that select are still asked.
	Selectable bool            `json:"selectable,omitempty"`
	Position   Position        `json:"position,omitzero"`
	Foreign    json.RawMessage `json:"foreign,omitempty"`
}

// Question is the last text of the user in the case, without white space around it; "" without one.
func (c *Case) Question() string { return Question(c.Input) }

// Question is the last text of the user in a conversation, without white space around it. It skips
// turns of the user without text; "" where no turn has text.
func Question(turns []Turn) string {
	for i := len(turns) - 1; i >= 0; i-- {
		if text := strings.TrimSpace(turns[i].Content); turns[i].Role == RoleUser && text != "" {
			return text
		}
	}
	return ""
}

// Mock answers calls of one tool without calling it.
type Mock struct {
	Tool string `json:"tool"`
	// Args, when set, must be a subset of the call's arguments for the mock to
	// answer; mocks with more matching keys win over those with fewer.
	Args json.RawMessage `json:"args,omitempty"`
	// When, where set, is the state that the attempt must have for the mock to answer: each of
	// these words must have this value. A word that was never set has the value "".
	When map[string]string `json:"when,omitempty"`
	// Replies are returned one after the other; the last one repeats.
	Replies []MockReply `json:"replies"`
}

// MockReply is one answer of a mock: a result, a template of one, or an error, after a latency.
type MockReply struct {
	Result json.RawMessage `json:"result,omitempty"`
	// Template is a result with placeholders in its texts, such as {{args.city}}.
	Template  json.RawMessage `json:"template,omitempty"`
	Error     string          `json:"error,omitempty"`
	Status    Status          `json:"status,omitempty"`
	LatencyMS float64         `json:"latency_ms,omitempty"`
	// Set changes words of the attempt's state after the reply.
	Set map[string]MockState `json:"set,omitempty"`
}

// MockState is the new value of a word of an attempt's state, for some calls or for the rest of the
// attempt.
type MockState struct {
	Value string `json:"value"`
	// Calls is how many further calls, of any tool, the value lasts; 0: until the end of the
	// attempt. Then is the value after that.
	Calls int    `json:"calls,omitempty"`
	Then  string `json:"then,omitempty"`
}

// MultiTurn asks for a chain of calls with tool results in between.
// Source: Tool Calling Evaluation, "Multi-Turn Evaluation".
type MultiTurn struct {
	MaxRounds   int `json:"max_rounds,omitempty"`   // default 5
	OptimalHops int `json:"optimal_hops,omitempty"` // 0: the number of expected calls, at least 1
	// ValidPrerequisites may be called before the expected calls; other calls are
	// detours. RequiredPrerequisites must be called, in this order when
	// PrerequisitesOrdered; skipping one fails the case.
	ValidPrerequisites    []string `json:"valid_prerequisites,omitempty"`
	RequiredPrerequisites []string `json:"required_prerequisites,omitempty"`
	PrerequisitesOrdered  bool     `json:"prerequisites_ordered,omitempty"`
	// ArgumentSource maps an argument of the final call to the earlier result it
	// must come from: "search_flights.result.flights[0].id".
	ArgumentSource map[string]string `json:"argument_source,omitempty"`
}
