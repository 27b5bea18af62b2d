// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package offline contains the targets that need no network.
//
// It answers two questions. Which result does a caller without a language model reach on this
// suite? OpenLexical opens offline/lexical: words choose the tool (BM25) and its schema fills the
// arguments; it is the floor that any model must beat. And how does callvet handle a given
// behaviour of a target? OpenScript reads answers from a file, including malformed ones, delays
// and errors.
//
// Both implement callvet.Model, are deterministic and safe for concurrent use.
// Neither sees the expectations of a case, so neither can use them.
//
// Open reads existing answers from a file or a folder (JSON, JSON Lines, gzip), and returns one
// Source for each target in it. Rows are found by case id; rows with one id are its repeats, in
// the order of the file unless they have a "repeat". A case without a row is a Fault of kind
// FaultMissing, never an abstention. Coverage compares the rows with the cases.
//
// # Scripts
//
// A script is YAML or JSON. The first rule that matches answers:
//
//	model: demo-1                  # the version string to report (optional)
//	rules:
//	  - case: travel-*             # id of the case, * and ? as in file names
//	    contains: refund           # part of the last user message, any case
//	    repeat: [0, 2]             # only these repeats, counted from 0
//	    steps:                     # one per round; a single step may be in the rule itself
//	      - calls:
//	          - {tool: search, args: {city: Paris}}
//	          - {tool: search, args_raw: '{"city": "Pa'}   # as emitted, JSON or not
//	        delay_ms: 20
//	      - error: {kind: rate_limit, http: 429, message: slow down, retry_after_ms: 50}
//	        times: 2               # the first two requests of this round, then the next step
//	      - text: All done.
//	        usage: {input_tokens: 12, output_tokens: 3, cost_usd: 0.001}
//	      - raw: '<tool_call>{"name": "search"'            # text that is searched for calls
//	    then: repeat               # after the last step: repeat it (default), or answer
//	otherwise: abstain             # no rule matched: abstain (default), or error
//
// The round is the number of assistant turns since the last user turn. A step
// has calls, text, raw, error, or calls with text; also reasoning,
// finish_reason, model and first_token_ms. An error without times stays.
// Unknown keys are errors with their place in the file.
//
// # Response surfaces
//
// With the key surface, the rule's steps are the answer with a chance that depends on the parameters
// and the system prompt of the request. The true effect of a change is then known:
//
//	surface:
//	  base: 0.6                    # the chance without terms
//	  spread: 0.2                  # a case is up to this much easier or harder
//	  seed: 7                      # of the cases' offsets and of the draws
//	  terms:                       # each adds to the chance, which is cut off at 0 and 1
//	    - {param: temperature, peak: 0.3, width: 0.2, gain: 0.2, unset: 1}   # unset: its value when not sent
//	    - {param: top_p, slope: -0.1}                      # for each unit
//	    - {param: temperature, from: 1.2, gain: -0.5}      # a cliff; from, to, or both
//	    - {param: reasoning_effort, is: high, gain: 0.1}   # at one value
//	    - {prompt: call a tool, gain: 0.1}                 # the system prompt contains it, in any case
//	    - {longer: 2000, gain: -0.1}                       # the system prompt has more characters
//	  else: {text: I do not know.}   # the answer that is not right: a step; without it, abstain
//
// Whether an answer is right is drawn by a hash of the seed, the case, the repeat, the parameters
// and the prompt: the same request of the same repeat has the same answer.
package offline
