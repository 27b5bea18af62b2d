// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/callvet/callvet/internal/report/plain"
)

// Progress draws the live state of a run, for standard error. On a terminal it redraws one line at
// most ten times a second. Elsewhere it writes a plain line every 10 % or 5 seconds, whichever
// comes last. It is not safe for concurrent use.
type Progress struct {
	W io.Writer
	// TTY: W is a terminal; Width is its width, 0 means 80.
	TTY   bool
	Width int
	// Now is the clock.
	Now func() time.Time

	drawn    time.Time
	percent  int
	lastLen  int
	finished bool
}

// Tick is the progress of a run or a request. Done includes Failed and Errors.
type Tick struct {
	// Of names the counted units where nothing can fail, such as "searches"; empty for attempts,
	// where failures are shown.
	Of     string `json:"of,omitempty"`
	Done   int    `json:"done"`
	Total  int    `json:"total"`
	Failed int    `json:"failed"`
	Errors int    `json:"errors"`
	// CostUSD is what was spent so far; CostUnknown: a part of it is not known.
	CostUSD     float64 `json:"cost_usd"`
	CostUnknown bool    `json:"cost_unknown,omitempty"`
	// ETA is the time left; 0 means not known.
	ETA time.Duration `json:"eta_ns,omitempty"`
}

// Update draws t if it is time to. Errors of the writer are ignored: progress is
// a courtesy and must not end a run.
func (p *Progress) Update(t Tick) {
	if p.finished {
		return
	}
	now := p.Now()
	percent := 0
	if t.Total > 0 {
		percent = 100 * t.Done / t.Total
	}
	since := now.Sub(p.drawn)
	if p.TTY {
		if since >= 100*time.Millisecond {
			p.drawn = now
			p.redraw(t.line(p.width()))
		}
		return
	}
	if p.drawn.IsZero() {
		p.drawn = now // the first line comes after 5 seconds of work
		return
	}
	if since >= 5*time.Second && (percent >= p.percent+10 || since >= 30*time.Second) {
		p.drawn, p.percent = now, percent
		_, _ = fmt.Fprintln(p.W, t.line(0))
	}
}

// Finish removes the live line from a terminal; nothing is drawn afterwards.
func (p *Progress) Finish() {
	if p.TTY && !p.finished && p.lastLen > 0 {
		_, _ = fmt.Fprint(p.W, "\r"+strings.Repeat(" ", p.lastLen)+"\r")
	}
	p.finished = true
}

func (p *Progress) width() int {
	if p.Width > 0 {
		return p.Width
	}
	return 80
}

func (p *Progress) redraw(s string) {
	pad := max(0, p.lastLen-len([]rune(s)))
	p.lastLen = len([]rune(s))
	_, _ = fmt.Fprint(p.W, "\r"+s+strings.Repeat(" ", pad))
}

// line writes the tick on one line; width 0 means without a bar and without limit.
func (t Tick) line(width int) string {
	percent := 0
	if t.Total > 0 {
		percent = 100 * t.Done / t.Total
	}
	count, failed, errors, spent, eta := plain.Thousands(t.Done)+"/"+plain.Thousands(t.Total),
		fmt.Sprintf("%d failed", t.Failed), "", "", ""
	if t.Of != "" {
		count, failed = count+" "+t.Of, ""
	}
	if t.Errors > 0 {
		errors = fmt.Sprintf("%d errors", t.Errors)
	}
	switch {
	case t.CostUSD > 0 && t.CostUnknown:
		spent = "≥ " + plain.Dollars(t.CostUSD)
	case t.CostUSD > 0:
		spent = plain.Dollars(t.CostUSD)
	}
	if t.ETA > 0 {
		eta = left(t.ETA) + " left"
	}
	s := spaced(count, fmt.Sprintf("%d %%", percent), failed, errors, spent, eta)
	if width == 0 {
		return s
	}
	// On a narrow terminal the least important part is left out first.
	for _, less := range []string{
		spaced(count, failed, errors, spent, eta), spaced(count, failed, errors, eta), spaced(count, failed, errors),
	} {
		if len([]rune(s)) > width-1 {
			s = less
		}
	}
	if bar := min(24, width-1-len([]rune(s))-2); bar >= 8 {
		full := 0
		if t.Total > 0 {
			full = bar * t.Done / t.Total
		}
		s = strings.Repeat("━", full) + strings.Repeat("─", bar-full) + "  " + s
	}
	return short(s, width-1)
}

// spaced joins the non-empty parts.
func spaced(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "  ")
}

func left(d time.Duration) string {
	switch d = d.Round(time.Second); {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
}
