// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"strings"

	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel"
)

// slicesOf is one slice of all targets; nil for a target that does not have it.
type slicesOf []*panel.Slice

// sliceRows are the slices of targets, those of the first target first among the slices of a key.
func sliceRows(ps []panel.TargetPanel) []slicesOf {
	type name struct{ key, value string }
	var keys []string
	rows, at := map[string][]slicesOf{}, map[name]int{}
	for i := range ps {
		for j := range ps[i].Slices {
			s := &ps[i].Slices[j]
			if rows[s.Key] == nil {
				keys = append(keys, s.Key)
			}
			k, known := at[name{s.Key, s.Value}]
			if !known {
				k = len(rows[s.Key])
				at[name{s.Key, s.Value}] = k
				rows[s.Key] = append(rows[s.Key], make(slicesOf, len(ps)))
			}
			rows[s.Key][k][i] = s
		}
	}
	var out []slicesOf
	for _, key := range keys {
		out = append(out, rows[key]...)
	}
	return out
}

// any is the slice of the first target that has it.
func (s slicesOf) any() *panel.Slice {
	for _, x := range s {
		if x != nil {
			return x
		}
	}
	return nil
}

// name is the key and the value of the slice.
func (s slicesOf) name() string {
	p := s.any()
	return plain.Line(p.Key) + "=" + plain.Line(p.Value)
}

// cases is how many cases the slice has: one number, or one for each target where they differ.
func (s slicesOf) cases() string {
	each, differ := make([]string, len(s)), false
	for i, x := range s {
		each[i] = "0"
		if x != nil {
			each[i] = plain.Thousands(x.Cases)
		}
		differ = differ || each[i] != each[0]
	}
	if !differ {
		return each[0]
	}
	return strings.Join(each, " · ")
}

// metric is a metric of a target in the slice; nil if there is none.
func (s slicesOf) metric(target int, name string) *panel.Metric {
	if s[target] == nil {
		return nil
	}
	return s[target].Metric(name)
}
