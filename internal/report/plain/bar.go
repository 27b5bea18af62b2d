// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package plain

import (
	"crypto/sha256"
	_ "embed" // the style
	"encoding/base64"
	"math"

	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
)

// Style is the style sheet of every page.
//
//go:embed page.css
var Style string

// Digest is a text's source expression for a content security policy.
func Digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// BarWidth is the width of an interval bar in SVG units.
const BarWidth = 160

// Bar is an interval drawn on a scale, in SVG units; OK is false where there
// is only the label.
type Bar struct {
	OK              bool
	From, Width, At float64
	Zero            float64
	Label           string
}

// RateBar draws a rate between 0 and 1; other metrics are a label.
func RateBar(m *panel.Metric) Bar {
	if m == nil || m.Unit != panel.UnitRate || !m.Interval.Usable() {
		return Bar{Label: Amount(m)}
	}
	return shape(m.Interval, 0, 1, Amount(m))
}

// ChangeBar draws a difference between -1 and 1.
func ChangeBar(iv stats.Interval) Bar {
	if !iv.Usable() {
		return Bar{Label: Change(iv)}
	}
	return shape(iv, -1, 1, Change(iv))
}

func shape(iv stats.Interval, lo, hi float64, label string) Bar {
	at := func(x float64) float64 {
		return math.Round(10*BarWidth*(min(hi, max(lo, x))-lo)/(hi-lo)) / 10
	}
	return Bar{
		OK: true, From: at(iv.Lower), Width: max(1, at(iv.Upper)-at(iv.Lower)), At: at(iv.Point), Zero: at(0),
		Label: label,
	}
}
