// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package mcpservers compares what callvet does over MCP with servers and clients that others
// wrote: how many tools real servers have, what one of them answers directly and through the
// proxy, and what the TypeScript SDK's client and the MCP inspector see of callvet's servers.
package mcpservers
