// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package answer reads what a target answered out of one JSON value of any
// known form: chat completions and responses of OpenAI's API, messages of
// Anthropic's, message lists, traces of callvet, results of BFCL and promptfoo,
// and plain records with a text and a list of calls.
//
// It answers one question: which turns does this record hold? Detect names the
// Form, Decode gives the callvet.Response (Complete, because a record holds the
// whole attempt) or the *callvet.Fault that the record tells of.
//
// It opens nothing, knows no file and no network (recorded and agent do), and
// repairs nothing itself: what a model wrote wrongly goes through repair.
package message
