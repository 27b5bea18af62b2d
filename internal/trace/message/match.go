// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/callvet/callvet"
)

// Match finds for each call that a tool's record tells of the call that a model made: by id,
// else by name and arguments, else by name and order. done tells which were found; join is
// called for these. The rest of open is what no record tells of.
func Match(open []*callvet.Call, told []callvet.Call, join func(to *callvet.Call, i int)) (rest []*callvet.Call, done []bool) {
	done = make([]bool, len(told))
	for _, same := range []func(o, c *callvet.Call) bool{
		func(o, c *callvet.Call) bool { return c.ID != "" && o.ID == c.ID },
		func(o, c *callvet.Call) bool { return alike(o, c) && SameArgs(o.Args, c.Args) },
		alike,
	} {
		for i := range told {
			at := slices.IndexFunc(open, func(o *callvet.Call) bool { return same(o, &told[i]) })
			if done[i] || at < 0 {
				continue
			}
			join(open[at], i)
			open, done[i] = slices.Delete(open, at, at+1), true
		}
	}
	return open, done
}

// alike reports whether two calls are of one tool and do not have ids that differ.
func alike(o, c *callvet.Call) bool { return (c.ID == "" || o.ID == "") && o.Tool == c.Tool }

// SameArgs compares arguments as they were written, white space aside; unknown ones are
// like none.
func SameArgs(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	return a != nil && b != nil && json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}
