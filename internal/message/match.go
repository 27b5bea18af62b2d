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
func Match(open []*callvet.Call, told []callvet.Call,
	join func(to *callvet.Call, i int),
) (rest []*callvet.Call, done []bool) {
	done = make([]bool, len(told))
	written := map[*callvet.Call]string{} // once for each, as there may be many pairs
	for _, c := range open {
		written[c] = compact(c.Args)
	}
	for i := range told {
		written[&told[i]] = compact(told[i].Args)
	}
	for _, same := range []func(o, c *callvet.Call) bool{
		func(o, c *callvet.Call) bool { return c.ID != "" && o.ID == c.ID },
		func(o, c *callvet.Call) bool { return alike(o, c) && written[c] != "" && written[o] == written[c] },
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
	x := compact(a)
	return x != "" && x == compact(b)
}

func compact(args json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, args) != nil {
		return ""
	}
	return b.String()
}
