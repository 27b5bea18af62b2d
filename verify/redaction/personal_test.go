// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package redaction

import (
	"bytes"
	"strings"
	"testing"

	"github.com/callvet/callvet/verify/proof"
)

// TestPersonal: entities are counted by span and by character, next to the reference, and an entity
// that is not found fails the check.
func TestPersonal(t *testing.T) {
	t.Parallel()
	all := row("My card 4111111111111111", "CREDIT_CARD", 8, 24, "é ana@x.com", "EMAIL_ADDRESS", 2, 11,
		"GB29NWBK60161331926819", "IBAN_CODE", 0, 22, "ssn 219-09-9999", "US_SSN", 4, 15, "call 555-123-2002",
		"PHONE_NUMBER", 5, 17)
	for name, c := range map[string]struct {
		rows string
		ok   bool
		want []string
	}{
		"all found": {
			all + row("I am Ana", "PERSON", 5, 8), true,
			[]string{"EMAIL_ADDRESS             1      1.000   1.000        1.000   1.000         49      1.000   1.000", "PERSON                    1", "10 of 10 compared agree"},
		},
		"one is missed": {
			all + row("1 one 2 two", "US_SSN", 0, 11), false,
			[]string{"US_SSN                    2      1.000   0.500        1.000   0.500"},
		},
		"half a span": {
			strings.Replace(all, `"end_position":11`, `"end_position":4`, 1), true,
			[]string{"EMAIL_ADDRESS             1      1.000   1.000        0.222   1.000"},
		},
	} {
		var b bytes.Buffer
		check := proof.New(&b, "pii", "open", nil)
		check.Problem(Personal(check,
			proof.Data{Root: folder(t, map[string]string{"sets/presidio_pii/open/rows.jsonl": c.rows}), Part: "open"}))
		if ok := check.Close(); ok != c.ok {
			t.Errorf("%s: %v\n%s", name, ok, b.String())
		}
		for _, want := range c.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: no %q in\n%s", name, want, b.String())
			}
		}
	}
}
