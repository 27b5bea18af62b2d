// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Play is an entry of the playbook: what a symptom is called, how one makes sure that it
// is there, and what helps.
type Play struct{ Code, Title, Unit, Test, Fix string }

// Playbook gives the entry of a code: S1 to S7 are the symptoms of calls, T1 to T7 those of
// runs, L1 loops, B1 and B2 those of tools' contracts. The zero Play stands for other codes.
// Source: Evaluating Tool Calling, §7 and §2.1; Tool Calling Evaluation, "Common Issues".
func Playbook(code string) Play {
	for _, p := range plays() {
		if p.Code == code {
			return p
		}
	}
	return Play{}
}

func plays() []Play {
	return []Play{
		{
			"S1", "Calls break their schema", "calls",
			"Count the rejected calls and look at the arguments that are named most.",
			"Show the schema and a valid example call in the prompt; narrow types and enums in the schema; mend payloads that can be mended before they are sent.",
		},
		{
			"S2", "The wrong tool is called", "calls",
			"Look at the confusion table: which tool is called in place of which.",
			"Put a catalog with one line a tool into the prompt, say how similar tools differ, and add examples in which no tool is called.",
		},
		{
			"S3", "The right tool gets wrong arguments", "calls",
			"Compare emitted with expected arguments, key by key, on the examples.",
			"Map what users say to the values the schema allows, with a resolver tool where there are many; ask for confirmation of risky values.",
		},
		{
			"S4", "Calls fail or time out", "calls",
			"Look at the share of errors and at the p90 of the tool's latency, by tool.",
			"Retry with growing pauses, set shorter time limits, cache, and take slow tools out of the critical path.",
		},
		{
			"S5", "Unneeded calls", "calls",
			"Look at the unneeded calls by task, and whether the answer uses the results.",
			"Allow calls only where evidence or computation is missing, and count the rest against the model.",
		},
		{
			"S6", "Calls break safety rules", "calls",
			"List the calls that broke a rule, and what would have stopped them.",
			"Deny by default at run time: allowed tools and domains only, personal data removed, a confirmation before anything is changed.",
		},
		{
			"S7", "The same call gives different results", "repeated calls",
			"Replay the call twice with the same arguments and compare.",
			"Replay with recorded results; where results must be live, check post-conditions instead of equality.",
		},
		{
			"T1", "Models answer in text where a call is expected", "attempts",
			"Look at the answers: do they say what the tool would have told, or ask back?",
			"Set tool_choice to required in the cases that need a call, or with --tool-choice required; where it has to stay auto, say in the system prompt when to call, and make the questions more specific.",
		},
		{
			"T2", "The right tools are called, with wrong arguments nearly everywhere", "attempts",
			"Compare expected with actual arguments on the examples: is it the same value in other words?",
			"Expect what models really write: other spellings as any_of, a looser mode, or only the arguments that matter; describe the values in the schema.",
		},
		{
			"T3", "Calls had to be mended", "attempts",
			"Look at the raw answers: does the call stand in the function's name, in the text, or in a string?",
			"Use a chat template or server that makes native calls; set require_native to count mended calls as wrong.",
		},
		{
			"T4", "tool_choice required was not taken", "attempts",
			"Look at the first exchange of an attempt: the provider refuses the parameter.",
			"Compare such models under auto only, or choose a provider that takes required: answers in text count against a model that could not be made to call.",
		},
		{
			"T5", "Answers are cut off before they end", "attempts",
			"Compare the output tokens of the examples with max_tokens: do they end at the limit?",
			"Raise max_tokens; where the context window is full, send fewer or shorter tools and messages. " +
				"A model that reasons needs room for that too.",
		},
		{
			"T6", "The provider blocks answers", "attempts",
			"Look at the messages of the faults: which cases does the filter block, and for what?",
			"Ask without what the filter blocks, or choose a deployment with another filter. " +
				"Blocked attempts are errors: they count neither for nor against the model.",
		},
		{
			"T7", "Models end without an answer", "attempts",
			"Look at the first exchange of an attempt: is there reasoning, and nothing after it?",
			"Raise max_tokens or lower the effort of reasoning: an answer needs tokens after it. " +
				"Use a server that separates reasoning from the answer.",
		},
		{
			"L1", "Calls are repeated without new arguments", "repeated calls",
			"Read the attempt from the repeated call on: does the target wait for something that the result already has?",
			"Give results that say what to do next, say in the prompt when to stop, and limit how often the same call may be made (max_same_calls).",
		},
		{
			"B1", "Tools take longer than their latency budget", "executions",
			"Look at the p50 and p90 of the tool's latency, by tool.",
			"Cache, shorten or parallelize what the tool does, or give it the budget that it needs.",
		},
		{
			"B2", "Calls exceed a tool's rate limit", "calls",
			"Count the refused calls by tool, and how many calls an attempt makes in its time.",
			"Wait before calling again, with growing pauses; ask for several things in one call; raise the limit.",
		},
	}
}

// MostOf lists the three greatest counts: "a (5), b (2), c (2)".
func MostOf[N int | int64](m map[string]N) string {
	keys := slices.SortedFunc(maps.Keys(m), func(a, b string) int { return cmp.Or(cmp.Compare(m[b], m[a]), cmp.Compare(a, b)) })
	keys = keys[:min(len(keys), 3)]
	for i, k := range keys {
		keys[i] = fmt.Sprintf("%s (%d)", k, m[k])
	}
	return strings.Join(keys, ", ")
}
