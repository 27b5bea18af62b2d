// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package safety_test

import (
	"testing"

	"github.com/callvet/callvet/score/safety"
	"github.com/callvet/callvet/value"
)

func BenchmarkStep(b *testing.B) {
	c, err := safety.New(catalog(), safety.Rules{Domains: []string{"example.com"}, ReadOnly: true, DenyPII: true})
	if err != nil {
		b.Fatal(err)
	}
	args, err := value.Parse(
		[]byte(
			`{"country":"AR","product_type":"electronics","note":"within 30 days of delivery, unopened","page":"https://docs.example.com/refunds"}`))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if safe, known := c.Step("note@v1", args); !safe || !known {
			b.Fatal("not safe")
		}
	}
}
