// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package mcpservers compares callvet over MCP with servers and clients of other projects. It counts
// the tools of real servers, and compares the answers of one server directly and through the proxy. It
// checks callvet's servers with the TypeScript SDK's client and the MCP inspector.
package mcpservers
