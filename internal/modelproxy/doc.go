// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package modelproxy is a proxy between a program and models: it records their answers into a
// folder of files, and replays them without asking a model.
//
// It knows two dialects: OpenAI's (/v1/chat/completions, /v1/responses, /v1/embeddings and the
// others under /v1) and Anthropic's (/v1/messages), plain and streamed. It knows only their paths
// and the form of their errors. The whole body identifies a request, including fields that a
// provider adds later.
//
// A recording is one file for each distinct request, named by the hash of it. Keys of an API
// are passed on and never written.
package modelproxy
