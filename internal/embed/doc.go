// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package embed asks models over the wire for what package retrieve needs of them: the
// vectors of texts, and the order of texts for a question.
//
// Open makes a vector.Embedder of a spec such as "openai:text-embedding-3-small",
// "ollama:nomic-embed-text" or "tei:http://localhost:8080", OpenReranker a
// retrieve.Reranker of "cohere:rerank-v3.5", "jina:MODEL" or "tei:URL". Texts travel in
// batches, several at a time; an overloaded server is asked again.
//
// What a server says is not believed: fewer vectors than texts, vectors of another
// width, numbers that are not finite, zeros, a web page where JSON should be are errors
// that name the server, never a vector.
//
// It keeps nothing on disk (internal/embed/disk does) and decides nothing.
package embed
