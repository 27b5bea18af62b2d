// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package bfcl

import "testing"

func BenchmarkMatch(b *testing.B) {
	for _, c := range []struct{ name, schema, answers, args string }{
		{"text", `{"type":"string"}`, `["April 1, 2024"]`, `{"p":"aPRIL 1.2024"}`},
		{"float", `{"type":"float"}`, `[5.0,6.0]`, `{"p":6}`},
		{"list", `{"type":"array","items":{"type":"string"}}`, `[["A b","c"]]`, `{"p":["ab","C"]}`},
		{"dict", `{"type":"dict"}`, `[{"a":["X","y"],"b":[1,""]}]`, `{"p":{"a":"x"}}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			e, args := expect(b, c.schema, c.answers, Rules{Edition: V4}), parse(b, c.args)
			for b.Loop() {
				if bad := e.Match("f.g", args); bad != OK {
					b.Fatal(bad)
				}
			}
		})
	}
}
