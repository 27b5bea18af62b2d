// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package embed asks models over the wire for what package retrieve needs of them: the
// vectors of texts, and the order of texts for a question.
//
// Open makes a retrieve.Embedder of a spec such as "openai:text-embedding-3-small",
// "ollama:nomic-embed-text" or "tei:http://localhost:8080", OpenReranker a
// retrieve.Reranker of "cohere:rerank-v3.5", "jina:MODEL" or "tei:URL". Texts travel in
// batches, several at a time; an overloaded server is asked again.
//
// What a server says is not believed: fewer vectors than texts, vectors of another
// width, numbers that are not finite, zeros, a web page where JSON should be are errors
// that name the server, never a vector.
//
// A Cache keeps vectors between processes, so that a text is embedded once: one file of records
// that are appended and never changed, each with a checksum. What a crash left half-written, or a
// disk damaged, is skipped, and the next good record counts. Any number of goroutines and processes
// may use a file at once. A file that outgrows its bound is replaced by one with the newer half of
// it. Nothing is forgotten because of age: a changed text has another key, and Remove and Clear are
// for models that changed under their name.
//
// It decides nothing.
package provider
