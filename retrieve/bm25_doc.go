// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package bm25 answers one question: how well do the fields of each document speak
// for the terms of a question?
//
// Index is an inverted index over documents of several fields; with one field it is
// BM25, with more it is BM25F, exactly and with no pruning. A Group is one word of
// the question in all the forms under which documents may have it. Expand finds
// those forms in the index's own vocabulary: compounds, inflections, misspellings.
//
// It does not cut texts into terms (package text), know tools, or mix its scores
// with others (package retrieve). Sources: Robertson and Zaragoza, "The
// Probabilistic Relevance Framework: BM25 and Beyond" (2009), sections 3.4 and 3.6;
// Zaragoza et al., "Microsoft Cambridge at TREC 13" (2004).
package retrieve
