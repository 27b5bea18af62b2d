// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalogs

import (
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/mcp"
)

// TestSharedToolNames: a tool of another server with the name of one of the suite is noted, and the prefix
// that keeps both apart has only what may stand in a name. An equal tool is the same one.
func TestSharedToolNames(t *testing.T) {
	t.Parallel()
	tool := func(name, text string) mcp.Tool { return mcp.Tool{Tool: callvet.Tool{Name: name, Description: text}} }
	list := &mcp.Listing{Tools: []mcp.Tool{tool("pay", "Pays."), tool("ask", "Asks."), tool("new", "New.")}}
	old := &callvet.Suite{
		Name: "shop", Description: madeOf + "first 1.0",
		Tools: []callvet.Tool{{Name: "ask", Description: "Asks."}, {Name: "pay", Description: "Another."}},
	}
	r := &ImportMCPResult{Server: mcp.Server{Name: "az AZ/09-_{`:@[é"}}
	r.shared(old, list)
	if len(r.Problems) != 1 || r.Problems[0].Key != "pay" ||
		!strings.Contains(r.Problems[0].Fix, "--prefix mcp__az_AZ_09-_________; ") {
		t.Errorf("%+v", r.Problems)
	}
	for _, same := range []ImportMCPResult{{Server: mcp.Server{Name: "first"}}, {Server: mcp.Server{Name: "shop"}}} {
		if same.shared(old, list); len(same.Problems) > 0 {
			t.Errorf("the own server: %+v", same.Problems)
		}
	}
}
