// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package message answers one question: which turns and calls does this record of a model or an
// agent hold?
//
// Detect names the Form of a JSON value. The forms are chat completions and responses of OpenAI's
// API, and messages of Anthropic's, Gemini's and Bedrock's. They are also message lists of
// frameworks, traces of callvet, rows of BFCL and promptfoo, and plain records. Decode returns the
// callvet.Response, or the *callvet.Fault in the record. Turns reads one message of a conversation,
// CallOf one call, and Attach gives calls the results of later turns.
//
// RepairArgs, NewCall, CallsFromText and PythonCalls read what models write wrongly, without a
// guess: each repair is recorded on the call. Broken JSON is never completed; it stays raw, and
// the attempt is unparseable, not an abstention. A text is an attempt to call where all of it is
// calls, or where calls stand in a code fence or behind a mark that models use for calls.
//
// FinishOf reads the reason why an answer ended, UsageReader its tokens. The package opens
// nothing, and knows no file, no network and no score.
package message
