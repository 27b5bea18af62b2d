// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package catalogue reads catalogues of tools. It answers: which tools does this file
// list, what does their owner say about finding them, and what in it is no catalogue?
//
// Load reads callvet's own form and the lists of others: OpenAI's, Anthropic's, those of
// MCP servers, tools by name. What cannot be read is told all at once, with its place.
//
// It reads JSON alone, opens no file, and judges no tool: whether descriptions are good
// and schemas compile is for others to say.
package retrieve
