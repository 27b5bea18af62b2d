// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package callvet

import (
	"fmt"
	"slices"
	"strings"
)

// RulesVersion is the version of the rules that assign outcomes and verdicts to attempts. A run
// keeps its verdicts, and its manifest keeps the version of the rules. Version 1 took every answer
// without a call for an abstention, however it ended. Version 2 took a call that was cut off before its
// first argument for a call without arguments.
const RulesVersion = 3

// Stop is the meaning of an answer's finish reason, independent of the provider's word for it.
type Stop string

// The meanings of finish reasons.
const (
	// StopNone: no reason was recorded.
	StopNone Stop = ""
	// StopDone: the model ended its answer by itself.
	StopDone Stop = "done"
	// StopCut: the answer was cut off, by a limit of tokens or of the context window.
	StopCut Stop = "cut_off"
	// StopProvider: the provider ended the answer: a filter, a refusal, a failure.
	StopProvider Stop = "provider"
	// StopCalls: the answer ended in order to call tools.
	StopCalls Stop = "calls"
	// StopPause: the answer continues with the next request to the target.
	StopPause Stop = "pause"
	// StopDecoded: the output was decoded by the rules of a benchmark, which also decide
	// what an output without a call is.
	StopDecoded Stop = "decoded"
	// StopUnknown: the reason is not in the table.
	StopUnknown Stop = "unknown"
)

// Finish reasons that callvet writes itself.
const (
	// FinishDecoded marks an output that the decoder of a benchmark read.
	FinishDecoded = "decoded"
	// FinishUndecodable marks an output that the decoder of a benchmark could not read.
	FinishUndecodable = "undecodable"
	// FinishHITL marks an attempt that stopped to ask a person.
	FinishHITL = "hitl"
)

// StopOf is the meaning of a finish reason. Case, "-", "_", spaces and the prefix FINISH_REASON_ do
// not count. This is the only table, for all wire formats, agents, recordings and trace files.
func StopOf(reason string) Stop {
	if reason == "" {
		return StopNone
	}
	switch key := stopKey(reason); key {
	case "stop", "endturn", "stopsequence", "completed", "complete", "eos", "eostoken", "done":
		return StopDone
	case "length", "modellength", "maxtokens", "maxoutputtokens", "incomplete", "modelcontextwindowexceeded":
		return StopCut
	case "toolcall", "toolcalls", "tooluse", "functioncall":
		return StopCalls
	case "pauseturn", FinishHITL:
		return StopPause
	case FinishDecoded, FinishUndecodable:
		return StopDecoded
	case "":
		return StopNone
	default:
		if providerStop(key) != "" {
			return StopProvider
		}
	}
	return StopUnknown
}

// providerStop is the kind of fault of a finish reason that means that the provider ended the
// answer; "" for any other reason.
func providerStop(key string) FaultKind {
	switch key {
	case "contentfilter", "contentfiltered", "safety", "recitation", "blocklist", "prohibitedcontent", "spii",
		"guardrailintervened", "blocked":
		return FaultFiltered
	case "refusal":
		return FaultRefused
	case "error", "failed":
		return FaultFailed
	case "cancelled", "canceled":
		return FaultDropped
	case "unexpectedtoolcall", "malformedfunctioncall":
		return FaultNoCall
	}
	return ""
}

// stopKey is a finish reason in a form that is equal for all its spellings. Gemini's "blocked: WHY"
// is "blocked".
func stopKey(reason string) string {
	reason, _, _ = strings.Cut(reason, ":")
	key := strings.Map(func(c rune) rune {
		switch {
		case c == '-' || c == '_' || c == ' ':
			return -1
		case 'A' <= c && c <= 'Z':
			return c + 'a' - 'A'
		}
		return c
	}, reason)
	return strings.TrimPrefix(key, "finishreason")
}

// Reason is why an attempt is unparseable.
type Reason string

// The reasons why an attempt is unparseable. The model caused each of them.
const (
	// ReasonTokens: the limit of output tokens cut the answer off.
	ReasonTokens Reason = "token_limit"
	// ReasonContext: the context window was full.
	ReasonContext Reason = "context_window"
	// ReasonCut: the answer was cut off; the cause is not recorded.
	ReasonCut Reason = "cut_off"
	// ReasonEmpty: the answer has neither text nor calls.
	ReasonEmpty Reason = "empty_answer"
	// ReasonThoughts: the model reasoned, and neither answered nor called.
	ReasonThoughts Reason = "reasoning_only"
	// ReasonCall: the text contains the mark of a call, but the call cannot be read.
	ReasonCall Reason = "unreadable_call"
	// ReasonCutCall: a call was cut off.
	ReasonCutCall Reason = "call_cut_off"
	// ReasonArguments: the arguments of a call are not JSON, or the call names no tool.
	ReasonArguments Reason = "unreadable_arguments"
)

// Sentence is the reason in words.
func (r Reason) Sentence() string {
	switch r {
	case ReasonTokens:
		return "the answer was cut off by the limit of output tokens"
	case ReasonContext:
		return "the answer was cut off: the context window was full"
	case ReasonCut:
		return "the answer was cut off"
	case ReasonEmpty:
		return "the answer is empty: no text and no call"
	case ReasonThoughts:
		return "the model reasoned, and gave neither a text nor a call"
	case ReasonCutCall:
		return "a call was cut off before it was complete"
	case ReasonArguments:
		return "a call could not be read"
	}
	return "the answer has the mark of a call that could not be read"
}

// broken reports whether the reason is an unreadable call. Such an attempt is unparseable even if
// its other calls are readable.
func (r Reason) broken() bool { return r == ReasonCall || r == ReasonCutCall }

// NoteUnmocked is the note on a call that no mock answered: its result is a placeholder.
const NoteUnmocked = "no mock for this tool"

// Placeholder reports whether the call's result comes from no tool, recording or mock.
func (c *Call) Placeholder() bool { return c.Env == EnvMock && c.Note == NoteUnmocked }

// NoteNoStop is the note on an answer in words without a recorded finish reason.
const NoteNoStop = "stop not recorded"

// Ending explains why an answer without a call is no abstention. why is set where the model caused
// it, fault where the provider caused it or the cause is unknown. Both are empty where the model
// ended its answer by itself, in words, and where it made a call. At least one is set for an answer
// with the mark of a call that could not be read.
func (r *Response) Ending() (why Reason, fault *Fault) {
	stop := StopOf(r.FinishReason)
	called := r.called()
	switch {
	case r.Decision != nil:
		return "", nil
	case r.Why != "":
		return r.Why, nil
	case r.Unreadable && stop == StopCut:
		return ReasonCutCall, nil
	case r.Unreadable && (called || stop != StopProvider):
		return ReasonCall, nil
	case cutShort(r.Turns, r.FinishReason):
		return ReasonCutCall, nil
	case stop == StopDecoded, called && (stop != StopProvider || r.endsWithCalls()):
		return "", nil
	case stop == StopDone || stop == StopNone:
		return r.silence(), nil
	case stop == StopCut:
		return cutBy(r.FinishReason), nil
	case stop == StopPause && r.CallsUnknown:
		return "", nil
	}
	return "", r.stopFault(stop)
}

// Unread is the first result of Ending: why an answer is no abstention, where the model caused it.
func (r *Response) Unread() Reason {
	why, _ := r.Ending()
	return why
}

// stopFault is the fault of an answer that the model did not end itself.
func (r *Response) stopFault(stop Stop) *Fault {
	switch stop {
	case StopCalls:
		return &Fault{
			Kind:    FaultMalformed,
			Message: "the answer ended with " + r.FinishReason + ", and no call is in it",
		}
	case StopPause:
		return &Fault{
			Kind: FaultUnknown,
			Message: "the answer paused with " + r.FinishReason +
				", and no call is in it: it is not known what would have followed",
		}
	case StopProvider:
		kind := providerStop(stopKey(r.FinishReason))
		return &Fault{
			Kind: kind, Retryable: kind == FaultFailed,
			Message: "the provider ended the answer with " + r.FinishReason,
		}
	}
	return &Fault{Kind: FaultUnknown, Message: fmt.Sprintf(
		"the answer ended with %q, which is no known finish reason: it is not known whether the answer is whole",
		r.FinishReason)}
}

// silence is why an answer without words is no answer; "" where it has words.
func (r *Response) silence() Reason {
	thoughts := false
	for i := range r.Turns {
		t := &r.Turns[i]
		if t.Role != RoleAssistant {
			continue
		}
		if strings.TrimSpace(t.Content) != "" {
			return ""
		}
		thoughts = thoughts || strings.TrimSpace(t.Reasoning) != ""
	}
	if thoughts {
		return ReasonThoughts
	}
	return ReasonEmpty
}

func cutBy(reason string) Reason {
	switch stopKey(reason) {
	case "modellength", "modelcontextwindowexceeded":
		return ReasonContext
	case "incomplete":
		return ReasonCut
	}
	return ReasonTokens
}

// cutShort reports whether the answer was cut off in its last call before an argument was complete:
// wires write such a call with empty arguments, like a call of a tool that takes none. A call with
// an answer was made as it is.
func cutShort(turns []Turn, reason string) bool {
	if StopOf(reason) != StopCut || len(turns) == 0 {
		return false
	}
	calls := turns[len(turns)-1].Calls
	if len(calls) == 0 {
		return false
	}
	c := &calls[len(calls)-1]
	return string(c.Args) == "{}" && c.Repairs == nil && c.Status == "" && c.Result == nil && c.Error == "" &&
		c.Env == ""
}

// endsWithCalls reports whether the last answer of the target has calls.
func (r *Response) endsWithCalls() bool {
	for i := len(r.Turns) - 1; i >= 0; i-- {
		if t := &r.Turns[i]; t.Role == RoleAssistant {
			return len(t.Calls) > 0
		}
	}
	return false
}

func (r *Response) called() bool {
	return slices.ContainsFunc(r.Turns, func(t Turn) bool { return len(t.Calls) > 0 })
}

// Remark is what a person must know about the end of the answer in addition to its outcome; "" for
// nothing.
func (r *Response) Remark() string {
	switch stop := StopOf(r.FinishReason); {
	case r.Decision != nil:
		return ""
	case !r.called():
		return ""
	case stop == StopCut:
		return "the answer was cut off after its calls (" + r.FinishReason + ")"
	case stop == StopProvider:
		return "the provider ended the answer after its calls (" + r.FinishReason + ")"
	case stop == StopUnknown:
		return fmt.Sprintf("the finish reason %q is not known", r.FinishReason)
	}
	return ""
}

// Note adds a remark to the answer; "" adds nothing.
func (r *Response) Note(remark string) {
	if remark != "" {
		r.Notes = append(r.Notes, remark)
	}
}

// Note adds a remark to the trace, once.
func (t *Trace) Note(remark string) {
	if remark != "" && !slices.Contains(t.Notes, remark) {
		t.Notes = append(slices.Clip(t.Notes), remark)
	}
}
