// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package mcpservers compares callvet over MCP with servers and clients that others wrote. It
// counts the tools of real servers, compares the answers of one directly and through the proxy, and
// checks what the TypeScript SDK's client and the MCP inspector get from callvet's servers.
package mcpservers
