// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package provider asks models for their next turn, over the wire.
//
// It answers one question: what did this model really say to exactly this
// request? Open turns "openai/gpt-5-mini" into a callvet.Model and the Target
// that describes it; Config carries what the environment knows; Prices turns
// usage into cost. Four wires are spoken (OpenAI Chat Completions and every
// endpoint compatible with it, OpenAI Responses, Anthropic Messages, Gemini
// generateContent), each in one file, and nothing of them leaves this package.
//
// Tool schemas go out byte for byte as the suite has them, malformed arguments
// come in untouched, and whatever a parameter table changes is recorded. What a model
// newer than the table refuses is learned from its answer, told and recorded, too.
//
// It does not retry, pace or cache (the evaluation loop does, and counts), and
// it judges nothing.
package provider
