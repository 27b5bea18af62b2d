// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package provider answers one question: what did this model answer to exactly this request?
//
// Open turns "openai/gpt-5-mini" into a callvet.Model and the Target that describes it. Config
// holds keys, addresses and limits. Prices turns usage into cost. There are four wire formats, each
// in one file: OpenAI Chat Completions and compatible endpoints, OpenAI Responses, Anthropic
// Messages, Gemini generateContent. Tool schemas are sent byte for byte as in the suite, malformed
// arguments are kept unchanged, and each change by the parameter table is recorded. The package
// does not retry, pace or cache: the evaluation loop does.
//
// OpenEmbedder and OpenReranker serve package retrieve with vectors and orders over the wire
// ("openai:text-embedding-3-small", "tei:URL", "cohere:rerank-v3.5"). Fewer vectors than texts,
// another width, numbers that are not finite, or a web page instead of JSON are errors with the
// name of the server. An EmbedCache keeps vectors in one file of records that are appended, each
// with a checksum; damaged records are skipped. Goroutines and processes may share the file. A
// file that outgrows its limit is replaced by its newer half.
package provider
