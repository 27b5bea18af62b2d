// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package evidence

import (
	"fmt"
	"slices"
	"strings"
)

// The rules:
//
//	                     words                empty             reasoning only     a whole call
//	ended by itself      abstained            empty_answer      reasoning_only     called
//	not recorded         abstained, noted     empty_answer      reasoning_only     called
//	cut off              its reason           its reason        its reason         called, noted
//	the provider         error, its kind      error, its kind   error, its kind    called, noted
//	in order to call     error, malformed     the same          the same           called
//	paused, for ever     error, unknown       the same          the same           called
//	not in the table     error, unknown       the same          the same           called, noted
//
// A stream without its final reason is cut off. A form that has no place for a reason is not recorded.

// end is what a finish reason means for an answer without a call.
type end struct{ outcome, why string }

func cut(why string) end        { return end{"unparseable", why} }
func fault(kind string) end     { return end{"error", kind} }
func (e end) is(right end) bool { return e == right || right == called && e.outcome == called.outcome }
func (e end) String() string    { return strings.TrimSuffix(e.outcome+" "+e.why, " ") }

// The rows of the rules.
var (
	byItself    = end{"abstained", ""}
	notRecorded = end{"abstained", "noted"}
	called      = end{"called", ""}
	notKnown    = fault("unknown")
	inCalls     = fault("malformed")
)

// reasons are the finish reasons with their meanings.
func reasons() []struct {
	word string
	is   end
} {
	type row = struct {
		word string
		is   end
	}
	var out []row
	add := func(is end, words string) {
		for w := range strings.FieldsSeq(words) {
			out = append(out, row{w, is})
		}
	}
	add(byItself, "stop end_turn stop_sequence completed complete eos eos_token done")
	add(cut("token_limit"), "length max_tokens max_output_tokens")
	add(cut("context_window"), "model_length model_context_window_exceeded")
	add(cut("cut_off"), "incomplete")
	add(fault("content_filter"),
		"content_filter content_filtered safety recitation blocklist prohibited_content spii guardrail_intervened")
	add(fault("refusal"), "refusal")
	add(fault("failed"), "error failed")
	add(fault("dropped"), "cancelled")
	add(fault("bad_call"), "unexpected_tool_call malformed_function_call")
	add(inCalls, "tool_call tool_calls tool_use function_call")
	add(notKnown, "pause_turn other unknown in_progress language no_reason_at_all")
	return out
}

// content is the content of an answer.
type content string

const (
	words     content = "words"
	empty     content = "empty"
	reasoning content = "reasoning"
	aCall     content = "call"
)

// The words and the call of the answers of the matrix.
const (
	answerText    = "It rains in Oslo, and it is cold."
	answerThought = "The user asks about rain. I know the answer."
	theTool       = "get_weather"
	theCity       = "Oslo"
	question      = "What is the weather in Oslo?"
)

// cell is one answer: its content and how it ended.
type cell struct {
	id      string
	content content
	// stop is the finish reason: absent without such a field, null for null.
	stop         string
	absent, null bool
	is           end
}

func (c *cell) String() string {
	stop := c.stop
	switch {
	case c.absent:
		stop = "(absent)"
	case c.null:
		stop = "(null)"
	case stop == "":
		stop = `""`
	}
	return string(c.content) + ", " + stop
}

// spelled are the spellings of a finish reason: case does not count, nor - for _, nor a prefix.
func spelled(word string) []string {
	return []string{
		word, strings.ToUpper(word), strings.ReplaceAll(word, "_", "-"),
		"FINISH_REASON_" + strings.ToUpper(word),
	}
}

// matrix is every finish reason with every content.
func matrix() []cell {
	var out []cell
	add := func(c cell) {
		c.id = fmt.Sprintf("cell-%04d", len(out))
		out = append(out, c)
	}
	for _, content := range []content{words, empty, reasoning, aCall} {
		for _, r := range reasons() {
			for i, s := range spelled(r.word) {
				if i == 0 || content == words && s != r.word {
					add(cell{content: content, stop: s, is: r.is})
				}
			}
		}
		add(cell{content: content, absent: true, is: notRecorded})
		add(cell{content: content, null: true, is: notRecorded})
		add(cell{content: content, is: notRecorded})
	}
	return out
}

// silent returns the contents without a finish reason, for forms that have no place for it.
func silent() []cell {
	return slices.DeleteFunc(matrix(), func(c cell) bool { return !c.absent })
}

// right returns the right end of a cell. In a stream, an answer without its final reason is cut off.
func (c *cell) right(stream bool) end {
	is := c.is
	if stream && is == notRecorded {
		is = cut("cut_off")
	}
	switch {
	case c.content == aCall &&
		(is.outcome == "unparseable" || is.outcome == "error" && is != inCalls && c.stop != "pause_turn"):
		return end{"called", "noted"}
	case c.content == aCall:
		return called
	case is.outcome == "abstained" && c.content == empty:
		return cut("empty_answer")
	case is.outcome == "abstained" && c.content == reasoning:
		return cut("reasoning_only")
	}
	return is
}
