// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package native

import (
	"fmt"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
)

// TestExportWide: a schema with very many properties is written so that it can be read.
func TestExportWide(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{`)
	for i := range 16_000 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"p%d":{"type":"string"}`, i)
	}
	b.WriteString(`}}`)
	s := &callvet.Suite{Name: "wide", Tools: []callvet.Tool{{Name: "add", Parameters: []byte(b.String())}}}
	out, err := Export(s, "yaml")
	if err != nil {
		t.Fatal(err)
	}
	if _, bad := doc.Read("wide.yaml", out); bad != nil {
		t.Errorf("what was written cannot be read: %v", bad)
	}
}
