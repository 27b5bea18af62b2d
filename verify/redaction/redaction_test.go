// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package redaction

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/callvet/callvet/verify/proof"
)

// folder writes data of two sets and returns their folder.
func folder(t *testing.T, change map[string]string) string {
	t.Helper()
	files := map[string]string{
		"README.md":                   "| set | use |\n|---|---|\n| calls, presidio_pii | x |\n| origins/ | y |\n",
		"sets/calls/open/a.jsonl":     `{"lat":59.4111111111111111,"card":4111111111111111,"password":{"type":"string"}}` + "\n" + `{"to":"ana@x.com"}` + "\n",
		"sets/calls/spring/a.jsonl":   `not read`,
		"sets/calls/tools.json":       `[{"name":"a"}]`,
		"sets/presidio_pii/README.md": "2 texts, open = even.",
		"sets/presidio_pii/open/rows.jsonl": row("My card 4111111111111111", "CREDIT_CARD", 8, 24, "é ana@x.com",
			"EMAIL_ADDRESS", 2, 11, "GB29NWBK60161331926819", "IBAN_CODE", 0, 22, "ssn 219-09-9999", "US_SSN", 4, 15,
			"call 555-123-2002", "PHONE_NUMBER", 5, 17),
	}
	maps.Copy(files, change)
	dir := t.TempDir()
	for name, text := range files {
		if text == "" {
			continue
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// row writes labelled texts: text, label, start, end.
func row(cells ...any) string {
	var b strings.Builder
	for i := 0; i < len(cells); i += 4 {
		b.WriteString(`{"full_text":"` + cells[i].(string) + `","spans":[{"entity_type":"` + cells[i+1].(string) +
			`","start_position":` +
			strconv.Itoa(cells[i+2].(int)) + `,"end_position":` + strconv.Itoa(cells[i+3].(int)) + "}]}\n")
	}
	return b.String()
}

func TestVerify(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change map[string]string
		ok     bool
		want   string // a part of the output or the error
	}{
		"all there": {nil, true, "redaction: 13 of 13 compared agree"},
		"a set is missing": {map[string]string{
			"sets/calls/open/a.jsonl": "", "sets/calls/spring/a.jsonl": "",
			"sets/calls/tools.json": "",
		}, false, "no such folder"},
		"a set is not listed": {map[string]string{"sets/other/open/a.jsonl": "{}"}, false, "does not list other"},
		"an empty set": {
			map[string]string{"sets/calls/open/a.jsonl": "\n", "sets/calls/tools.json": ""},
			false,
			"SHORT records of calls: 0 compared, 1 due",
		},
		"a bad record": {
			map[string]string{"sets/calls/open/a.jsonl": "{}\n{\n"},
			false,
			"DIFFERS records of calls: 1: a.jsonl",
		},
		"labels are missing": {
			map[string]string{"sets/presidio_pii/README.md": "200 texts, open = even."},
			false,
			"its page lists 200",
		},
		"a kind is not found": {
			map[string]string{"sets/presidio_pii/open/rows.jsonl": row("x", "EMAIL_ADDRESS", 0, 1)},
			false, "DIFFERS labelled spans: email",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			check := proof.New(&b, "redaction", "open", nil)
			check.Problem(Verify(check, proof.Data{Root: folder(t, c.change), Part: "open"}, "calls"))
			ok := check.Close()
			text := b.String()
			if ok != c.ok || !strings.Contains(text, c.want) {
				t.Errorf("%v: %s", ok, text)
			}
			if name == "all there" &&
				(!strings.Contains(text, "email 1, card 1") ||
					!strings.Contains(text, "1 × card  .card  4111111111111111")) {
				t.Error(text)
			}
		})
	}
}
