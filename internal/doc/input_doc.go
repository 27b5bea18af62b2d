// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package input answers one question: what is in this file or stream, without
// compression, and is it small enough to be read?
//
// Unpack gives a stream of any size, All what is in memory already, File a whole
// file. Each says how many bytes there may be; more are an error that wraps
// callvet.ErrLimited and names the limit. A small file that unpacks to hundreds of
// times its size is refused wherever it is read.
//
// It knows no format of what is read.
package doc
