// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Play is an entry of the playbook: the name of a symptom, the unit that is counted, how to check
// that it is there, and how to fix it. Fix names the commands of callvet, in backquotes.
type Play struct{ Code, Title, Unit, Test, Fix string }

// Playbook returns the entry of a code. S1 to S7 are symptoms of calls, T1 to T9 of runs, A1 to A6
// of whole attempts, L1 of loops, B1 and B2 of tools' contracts. It returns the zero Play for other
// codes. Source: Evaluating Tool Calling, §7 and §2.1; Tool Calling Evaluation, "Common Issues".
func Playbook(code string) Play {
	for _, p := range Plays() {
		if p.Code == code {
			return p
		}
	}
	return Play{}
}

// Plays are all entries of the playbook.
func Plays() []Play { return slices.Concat(callPlays(), toolPlays(), runPlays(), attemptPlays()) }

func callPlays() []Play {
	return []Play{
		{
			"S1", "Calls break their schema", "calls checked against a contract",
			"Count the calls that the contract rejects, and look at the arguments that are named most: they are the bad fields.",
			"Write a prompt that shows each schema with right and wrong arguments: `callvet prompt tool-caller SUITE -o prompt.txt`. " +
				"Run with it: `callvet run SUITE -m MODEL --system @prompt.txt`, and compare: `callvet diff last~1 last`. " +
				"Where strings can be numbers or one of few values, mend the payload before it is sent.",
		},
		{
			"S2", "The wrong tool is called", "calls checked against a label or a catalog",
			"Hold the verdicts of the necessity judge against labels: `callvet judge run last --judge necessity -m MODEL`, then " +
				"`callvet calibrate labels.jsonl --judge necessity --unit turn`. Many unneeded calls (over_call_rate) point to the same cause.",
			"List the pairs of tools that are easily confused: `callvet tools confusable CATALOGUE --run last`. Put a page with all tools " +
				"into the prompt: `callvet prompt tool-caller SUITE -o prompt.txt`. Add cases where no tool is to be called: " +
				"`callvet case coverage SUITE --run last` names what is not tested.",
		},
		{
			"S3", "The right tool gets wrong arguments", "calls with labelled arguments",
			"Look at the fidelity of arguments (arg_em, arg_f1), and compare emitted with expected arguments, key by key: `callvet show last CASE`.",
			"Turn free text into an enum of the schema or into a tool that resolves names, and look for arguments without a description: " +
				"`callvet tools lint CATALOGUE`. Have risky values confirmed before anything is changed (confirm_writes in a policy): " +
				"`callvet run SUITE -m MODEL --guard policy.yaml`.",
		},
		{
			"S4", "Calls fail or time out", "calls with a recorded end",
			"Look at the share of errors and at the p90 of the tool's latency, by tool: `callvet score last --slice called_tool`.",
			"See what the target does when tools fail: `callvet run SUITE -m MODEL --faults faults.yaml`. It should try again with growing " +
				"pauses. Set shorter time limits, cache, and take slow tools out of the critical path.",
		},
		{
			"S5", "Unneeded calls", "calls labelled as needed or not",
			"Look whether the answer uses the results: `callvet show last CASE`. A call is chatter where the answer would be the same without its result.",
			"Give the model the rule to call only where evidence or computation is missing: `callvet prompt tool-caller SUITE -o prompt.txt` " +
				"writes it. Count the rest against the model, with a gate on over_call_rate: `callvet gate last --gates gates.yaml`.",
		},
		{
			"S6", "Calls break safety rules", "calls checked by safety rules",
			"List the calls that broke a rule, and what would have stopped them: `callvet show last`.",
			"Deny by default at run time, with a policy of allowed tools and domains, no personal data, and a confirmation before anything " +
				"is changed: `callvet run SUITE -m MODEL --guard policy.yaml`. See whether it holds: `callvet drill -m MODEL --guard policy.yaml`.",
		},
		{
			"S7", "The same call gives different results", "calls repeated at a task, with a result",
			"Replay the run, and compare its attempts and results with the first ones: `callvet replay last`, then `callvet diff last~1 last`.",
			"Answer calls with mocks or recordings: `callvet fixtures make last -o recordings`, then `callvet run SUITE -m MODEL --world " +
				"recorded --recordings recordings`. Where results must be live, check post-conditions (result_check) instead of equality.",
		},
		{
			"L1", "Calls are repeated without new arguments", "calls repeated in an attempt",
			"Read the attempt from the repeated call on: does the target wait for something that the result already has?",
			"Limit how often the same call may be made (max_same_calls in the suite), and run those that failed again: " +
				"`callvet run SUITE -m MODEL --failed-from last`. Let results and the prompt say when to stop.",
		},
	}
}

func toolPlays() []Play {
	return []Play{
		{
			"B1", "Tools take longer than their latency budget", "timed executions of the tools that exceed it",
			"Look at the p50 and p90 of the tool's latency, by tool: `callvet score last --slice called_tool`.",
			"Cache, shorten or parallelize what the tool does, or give it the budget that it needs, and hold it to that: " +
				"`callvet gate last --gates gates.yaml` with latency_budget_kept.",
		},
		{
			"B2", "Calls exceed a tool's rate limit", "calls",
			"Count the refused calls by tool, and how many calls an attempt makes in its time: `callvet score last --slice called_tool`.",
			"Let the guard wait before it sends calls beyond the limit (keep_rate_limits in a policy): `callvet run SUITE -m MODEL --guard " +
				"policy.yaml`. Ask for several things in one call, or raise the limit.",
		},
	}
}

func runPlays() []Play {
	return []Play{
		{
			"T1", "Models answer in text where a call is expected",
			"attempts that need a call and may answer in text (tool_choice auto)",
			"Look at the answers: do they say what the tool would have returned, or ask back? `callvet show last CASE`.",
			"Make the model call: `callvet run SUITE -m MODEL --tool-choice required`, or tool_choice in the cases that need a call. Where it " +
				"has to stay auto, say in the system prompt when to call, and make the questions more specific.",
		},
		{
			"T2", "The right tools are called, with wrong arguments nearly everywhere",
			"attempts with the right tools and labelled arguments",
			"Compare expected with actual arguments on the examples: is it the same value in other words? `callvet show last CASE`.",
			"Expect what models really write (other spellings as any_of, a looser mode, or only the arguments that matter), check the " +
				"suite: `callvet lint SUITE`, and score what was answered anew: `callvet replay last`. Describe the values in the schema.",
		},
		{
			"T3", "Calls had to be mended", "judged attempts",
			"Look at the raw answers: does the call stand in the function's name, in the text, or in a string? `callvet show last CASE --all`.",
			"Use a chat template or server that makes native calls. Set require_native in the suite to count mended calls as wrong, and " +
				"score anew: `callvet replay last`.",
		},
		{
			"T4", "tool_choice required was not taken", "attempts that had to call (tool_choice required)",
			"Look at the first exchange of an attempt: the provider refuses the parameter. `callvet show last CASE --all`.",
			"Compare such models under auto only: `callvet run SUITE -m MODEL --tool-choice auto`. Or choose a provider that takes required: " +
				"answers in text count against a model that could not be made to call.",
		},
		{
			"T5", "Answers are cut off before they end", "attempts that ran",
			"Compare the output tokens of the examples with max_tokens: do they end at the limit? `callvet show last CASE --all`.",
			"Raise the limit: `callvet run SUITE -m MODEL --max-tokens 8000 --failed-from last`. Where the context window is full, send " +
				"fewer or shorter tools and messages. A model that reasons needs room for that too.",
		},
		{
			"T6", "The provider blocks answers", "attempts that ran",
			"Look at the messages of the faults: which cases does the filter block, and for what? `callvet show last`.",
			"Ask without what the filter blocks, or choose a deployment with another filter: `callvet run SUITE -m MODEL --base-url URL " +
				"--failed-from last`. Blocked attempts are errors: they count neither for nor against the model.",
		},
		{
			"T7", "Models end without an answer", "attempts that ran",
			"Look at the first exchange of an attempt: is there reasoning, and nothing after it? `callvet show last CASE --all`.",
			"Raise the limit of tokens or lower the effort of reasoning, since an answer needs tokens after it: `callvet run SUITE -m MODEL " +
				"--max-tokens 8000 --reasoning-effort low`. Use a server that separates reasoning from the answer.",
		},
		{
			"T8", "Calls cannot be read", "attempts that ran",
			"Look at the raw answers: what was meant as a call, and where does it break off? `callvet show last CASE --all`.",
			"Use a chat template or server that makes native calls, or show the model the form of a call: `callvet prompt tool-caller SUITE " +
				"-o prompt.txt`, then `callvet run SUITE -m MODEL --system @prompt.txt`.",
		},
		{
			"T9", "Attempts end in errors", "attempts that ran",
			"Look at the kinds of the errors and at their messages: `callvet show last`. An error says nothing of the model.",
			"Mend what the messages name (key, address, rate limit, timeout), and try these attempts again: `callvet run --resume last`.",
		},
	}
}

func attemptPlays() []Play {
	return []Play{
		{
			"A1", "Needed calls are not made", UnitFailing,
			"Look at the answers: do they ask back, say what the tool would have returned, or end too early? `callvet show last CASE`.",
			"Say in the prompt when to call: `callvet prompt tool-caller SUITE -o prompt.txt`, then `callvet run SUITE -m MODEL --system " +
				"@prompt.txt`. Or make the model call with --tool-choice required.",
		},
		{
			"A2", "Calls are made in the wrong order", UnitFailing,
			"Look at what an earlier call would have returned: does the later one need it? `callvet show last CASE`.",
			"Name what has to come first in the descriptions of the tools, and measure the new ones: `callvet tools whatif CATALOGUE " +
				"--edits edits.yaml --suite SUITE`. Where the order does not matter, let the case accept any, and check it: `callvet lint SUITE`.",
		},
		{
			"A3", "Calls are right, and the answer is not", UnitFailing,
			"Compare the answer with what is asserted of it: is it wrong, or in other words? `callvet show last CASE`.",
			"Assert what matters (response_contains_any, a rubric) rather than a wording, check the suite: `callvet lint SUITE`, and score what " +
				"was answered anew: `callvet replay last`. Have open answers judged: `callvet judge run last --judge task -m MODEL`.",
		},
		{
			"A4", "Attempts exceed their budget", UnitFailing,
			"Look at which limit was exceeded, and by how much: rounds, tokens, cost or time. `callvet show last CASE`.",
			"Shorten tools and messages, or give the case the budget that it needs and check it: `callvet lint SUITE`. Then run those that failed " +
				"again: `callvet run SUITE -m MODEL --failed-from last`.",
		},
		{
			"A5", "The wrong route, agents or tools are chosen", UnitFailing,
			"Compare the scores of the chosen and the expected tools: `callvet select query QUESTION --tools CATALOGUE`.",
			"Mend the texts of the tools and measure what that changes: `callvet tools whatif CATALOGUE --edits edits.yaml --suite SUITE`. Look " +
				"for better weights: `callvet select tune SUITE --tools CATALOGUE`.",
		},
		{
			"A6", "Attempts fail, and nothing recorded shows why", UnitFailing,
			"Look at an attempt: what did it do, and what was asked? The verdict came with the attempt, and no call is labelled.",
			"Label the calls that were right: `callvet label gold TRACES -o gold.yaml`, and score with a suite or with the schemas of " +
				"the tools: `callvet score TRACES --tools TOOLS`.",
		},
	}
}

// UnitFailing names attempts that failed.
const UnitFailing = "failing attempts"

// MostOf lists the three greatest counts: "a (5), b (2), c (2)".
func MostOf[N int | int64](m map[string]N) string {
	keys := slices.SortedFunc(maps.Keys(m),
		func(a, b string) int { return cmp.Or(cmp.Compare(m[b], m[a]), cmp.Compare(a, b)) })
	keys = keys[:min(len(keys), 3)]
	for i, k := range keys {
		keys[i] = fmt.Sprintf("%s (%d)", k, m[k])
	}
	return strings.Join(keys, ", ")
}
