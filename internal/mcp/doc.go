// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package mcp speaks the Model Context Protocol. It answers: which tools does a server have, what
// does one of them answer to a call, and how do tools of callvet look to an agent that speaks MCP?
//
// Connect opens a Session with a server (a command over stdio, or an address over streamable HTTP
// or SSE); Session.List reads its tools, Session.Call calls one, Session.Forward passes on what is
// not about tools. A Serving is the other side: it answers agents over stdio or streamable HTTP, each
// conversation from a Talk of its own, which knows nothing of the wire.
//
// It is the only room that imports the Go SDK. The SDK decodes what servers send into Go types,
// which loses the order of keys, the difference between false and not said, and whole lists where
// one tool is odd. The room therefore takes the bytes of an answer where they pass (see wire.go)
// and hands the SDK a part of them that it can decode.
//
// What a server says is untrusted: every message has a limit, every request a time, and a server
// over HTTP cannot lead to another host. What a server asks of its client (to sample a model, to
// ask the user) is refused as the protocol allows. The room does not judge the texts of tools.
package mcp
