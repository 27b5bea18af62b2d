// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package callvet

import (
	"fmt"
	"slices"
	"strings"
)

// RulesVersion is that of the rules by which attempts get their outcomes and verdicts. A run keeps
// the verdicts that it was given, and its manifest the version of the rules. Version 1 took an
// answer without a call for an abstention, however it ended.
const RulesVersion = 2

// Stop is what the finish reason of an answer means, whatever the provider calls it.
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
	// StopPause: the answer goes on when the target is asked again.
	StopPause Stop = "pause"
	// StopDecoded: the output was decoded by the rules of a benchmark, which also decide
	// what an output without a call is.
	StopDecoded Stop = "decoded"
	// StopUnknown: the reason is not in the table.
	StopUnknown Stop = "unknown"
)

// Finish reasons that callvet writes itself.
const (
	// FinishDecoded is that of an output that the decoder of a benchmark read.
	FinishDecoded = "decoded"
	// FinishUndecodable is that of an output that the decoder of a benchmark could not read.
	FinishUndecodable = "undecodable"
	// FinishHITL is that of an attempt that stopped to ask a person.
	FinishHITL = "hitl"
)

// StopOf is the meaning of a finish reason. Case, "-", "_" and spaces do not count, and the
// prefix FINISH_REASON_ neither: this is the one table for all wires, agents, recordings and
// trace files.
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

// providerStop is the kind of fault of a finish reason by which a provider ended an answer, ""
// for any other reason.
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

// stopKey is a finish reason without what its spellings differ in. Gemini's "blocked: WHY" is
// "blocked".
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

// Why an attempt is unparseable. Each is the model's doing.
const (
	// ReasonTokens: the limit of output tokens cut the answer off.
	ReasonTokens Reason = "token_limit"
	// ReasonContext: the context window was full.
	ReasonContext Reason = "context_window"
	// ReasonCut: the answer was cut off, and it is not recorded by what.
	ReasonCut Reason = "cut_off"
	// ReasonEmpty: there is neither a text nor a call.
	ReasonEmpty Reason = "empty_answer"
	// ReasonThoughts: the model reasoned, and neither answered nor called.
	ReasonThoughts Reason = "reasoning_only"
	// ReasonCall: the text has the mark of a call that cannot be read.
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

// broken reports whether a reason is about a call, so that other calls of the attempt do not
// make it one that was read.
func (r Reason) broken() bool { return r == ReasonCall || r == ReasonCutCall }

// NoteUnmocked is the note on a call that no mock answered, so that its result is a placeholder.
const NoteUnmocked = "no mock for this tool"

// Placeholder reports whether the call has a result that no tool, recording or mock gave.
func (c *Call) Placeholder() bool { return c.Env == EnvMock && c.Note == NoteUnmocked }

// NoteNoStop is the note on an answer in words without a recorded finish reason.
const NoteNoStop = "stop not recorded"

// Ending is what the end of an answer without a call shows: why is set where the answer is no
// abstention by the model's doing, fault where that is the provider's doing or not known. Both
// are empty where the model ended its answer by itself, in words, and where it called. An answer
// that has a mark of a call that could not be read is never empty here.
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
	case stop == StopDecoded, called && (stop != StopProvider || r.endsWithCalls()):
		return "", nil
	case stop == StopDone || stop == StopNone:
		return r.silence(), nil
	case stop == StopCut:
		return cutBy(r.FinishReason), nil
	case stop == StopPause && r.CallsUntold:
		return "", nil
	}
	return "", r.stopFault(stop)
}

// Unread is why an answer is no abstention by the model's doing: the first result of Ending.
func (r *Response) Unread() Reason {
	why, _ := r.Ending()
	return why
}

// stopFault is the fault of an answer that did not end by the model's doing.
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

// silence is why an answer without words is none; "" where there are words.
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

// Remark is what a person has to know of how the answer ended, in addition to its outcome; ""
// where there is nothing.
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

// Note adds a remark to the answer; "" is none.
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
