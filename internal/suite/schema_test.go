// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/callvet/callvet/contract"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/value"
)

func compileSchema(t *testing.T) *contract.Schema {
	t.Helper()
	s, err := contract.Compile(Schema())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// schemaErrors validates a YAML or JSON text against the published schema.
func schemaErrors(t *testing.T, schema *contract.Schema, text string) []string {
	t.Helper()
	d, bad := doc.Read("s.yaml", []byte(text))
	if bad != nil {
		t.Fatalf("%v\n%s", bad, text)
	}
	for _, key := range []string{"cases", "test_cases"} { // a lazy list has no items to write out
		if n := d.Root.Get(key); n != nil && n.Lazy {
			var items []doc.Node
			d.Elements(n, func(_ int, v *doc.Node) {
				c, _ := doc.ReadJSON("", v.JSON())
				items = append(items, c.Root)
			})
			n.Lazy, n.Items = false, items
		}
	}
	v, err := value.Parse(d.Root.JSON())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, violation := range schema.Check(v) {
		out = append(out, violation.Path+": "+violation.Message)
	}
	return out
}

// TestSchemaAndLoaderAgree reads a table of forms with both: both take the good
// ones, both refuse the bad ones.
func TestSchemaAndLoaderAgree(t *testing.T) {
	t.Parallel()
	schema := compileSchema(t)
	for name, want := range map[string]bool{"good": true, "bad": false} {
		b, err := os.ReadFile(filepath.Join("testdata", "forms", name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		for i, form := range strings.Split(strings.TrimSpace(string(b)), "\n") {
			text := strings.ReplaceAll(form, " ; ", "\n")
			if !strings.HasPrefix(form, "callvet") { // a case
				text = "callvet: 1\ntools: [{name: a}, {name: b}]\ncases:\n  - " + form
			}
			violations := schemaErrors(t, schema, text)
			_, problems, err := parse([]byte(text), "s.yaml", Options{})
			loads := err == nil && !HasErrors(problems)
			if loads != want || (len(violations) == 0) != want {
				t.Errorf("%s form %d: %s\nschema: %v\nloader: %v %v", name, i+1, form, violations, err, problems)
			}
		}
	}
}

func TestTemplateKeepsTheSchema(t *testing.T) {
	t.Parallel()
	if violations := schemaErrors(t, compileSchema(t), string(Template())); len(violations) > 0 {
		t.Error(violations)
	}
}
