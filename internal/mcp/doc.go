// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package mcp speaks the Model Context Protocol. It answers: which tools does a server have, what
// does one of them answer to a call, and how do tools of callvet look to an agent that speaks MCP?
//
// Connect opens a Session with a server: a command over stdio, or an address over streamable HTTP
// or SSE. Session.List reads its tools, Session.Call calls one, Session.Forward passes on other
// requests. A Serving is the server side: it answers agents over stdio or streamable HTTP. Each
// conversation has its own Talk, which does not depend on the wire.
//
// It is the only package that imports the Go SDK. The SDK decodes messages into Go types. That
// loses the order of keys, the difference between false and absent, and a whole list if one tool is
// malformed. The package therefore copies the bytes of an answer from the connection (see wire.go),
// and gives the SDK only a part that it can decode.
//
// Servers are untrusted: every message has a size limit, every request a timeout, and a server over
// HTTP cannot redirect to another host. Requests of a server to its client (to sample a model, to
// ask the user) are refused as the protocol allows. The package does not judge the texts of tools.
package mcp
