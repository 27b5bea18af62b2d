// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package modelproxy stands between a program and the models that it asks: it records what
// they answer into a folder of files, and gives the same answers again without asking anybody.
//
// It knows two dialects, OpenAI's (/v1/chat/completions, /v1/responses, /v1/embeddings and the
// others under /v1) and Anthropic's (/v1/messages), plain and streamed, by their paths and the
// form of their errors only: a request is told by its whole body, so that a field that a
// provider adds tomorrow is part of it.
//
// A recording is one file for each distinct request, named by the hash of it. Keys of an API
// are passed on and never written.
package modelproxy
