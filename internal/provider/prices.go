// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
)

//go:embed prices.json
var shippedPrices []byte

// Price is one row of a price table: list prices in US dollars for a million
// tokens.
type Price struct {
	Provider string `json:"provider"`
	// Model is the name without date or version suffix.
	Model string  `json:"model"`
	Input float64 `json:"input"`
	// Cached is the price of input read from a cache; nil: unknown, and so is the cost of a request
	// that used a cache.
	Cached *float64 `json:"cached,omitempty"`
	// CacheWrite is the price of input written to a cache, and CacheHour of input written for an
	// hour. nil: as for Cached.
	CacheWrite *float64 `json:"cache_write,omitempty"`
	CacheHour  *float64 `json:"cache_write_1h,omitempty"`
	Output     float64  `json:"output"`
	// MaxInput, if set, is the largest number of input tokens for which the row is valid.
	MaxInput int `json:"max_input,omitempty"`
	// Effective is the day since which the price is known (YYYY-MM-DD); Source is
	// the title of the list it is from.
	Effective string `json:"effective"`
	Source    string `json:"source,omitempty"`
}

// Prices is a price table.
type Prices struct {
	Rows []Price `json:"prices"`
}

// ShippedPrices is the table that is part of callvet: few rows, each dated.
func ShippedPrices() *Prices {
	p, err := ReadPrices("prices.json", shippedPrices)
	if err != nil { // a test reads the same bytes
		return &Prices{}
	}
	return p
}

// ReadPrices reads a table in the form of prices.json from the file name. Every row needs a known
// provider, a model, a date and non-negative prices; a model has one row.
func ReadPrices(name string, data []byte) (*Prices, error) {
	var p Prices
	if err := doc.DecodeSomeJSON(name, data, &p); err != nil {
		return nil, fmt.Errorf("read prices: %w: %w", callvet.ErrInvalid, err)
	}
	seen, known := map[[2]string]int{}, Names()
	for i := range p.Rows {
		r := &p.Rows[i]
		key := [2]string{r.Provider, r.Model}
		why := r.wrong(known)
		if first, twice := seen[key]; why == "" && twice {
			why = fmt.Sprintf("is there twice: row %d has it, too", first)
		}
		if why != "" {
			return nil, fmt.Errorf("read prices %s: row %d (%s/%s) %s: %w", name, i+1, r.Provider, r.Model, why,
				callvet.ErrInvalid)
		}
		seen[key] = i + 1
	}
	return &p, nil
}

// wrong is the reason why a row is invalid; "" if it is valid. known are the providers.
func (p *Price) wrong(known []string) string {
	_, noDate := time.Parse(time.DateOnly, p.Effective)
	switch {
	case p.Provider == "" || p.Model == "":
		return "needs a provider and a model"
	case !slices.Contains(known, p.Provider):
		return "is of a provider that callvet does not know"
	case noDate != nil:
		return fmt.Sprintf("needs a date such as 2026-01-31 in effective, not %q", p.Effective)
	case p.Input < 0 || p.Output < 0 || below(p.Cached) || below(p.CacheWrite) || below(p.CacheHour):
		return "has a price below 0"
	case p.MaxInput < 0:
		return "has a max_input below 0"
	}
	return ""
}

func below(price *float64) bool { return price != nil && *price < 0 }

// Over returns p with the rows of first before it, so that they win.
func (p *Prices) Over(first *Prices) *Prices {
	if first == nil {
		return p
	}
	return &Prices{Rows: append(append([]Price(nil), first.Rows...), p.Rows...)}
}

// version matches suffixes of a model's name that do not make a different model.
var version = regexp.MustCompile(`^[-@](\d{4}-\d{2}-\d{2}|\d{8}|\d{3,4}|latest)$`)

// Find returns the price of a model, also under a dated name, or nil: prices are never guessed from
// a similar name.
func (p *Prices) Find(provider, model string) *Price {
	switch provider {
	case azureResponses:
		provider = azure
	case openAIResponses:
		provider = "openai"
	}
	for i := range p.Rows {
		r := &p.Rows[i]
		rest, ok := strings.CutPrefix(model, r.Model)
		if ok && r.Provider == provider && (rest == "" || version.MatchString(rest)) {
			return r
		}
	}
	return nil
}

// taken are the facts about a request other than its usage.
type taken struct {
	sent, text int  // bytes of the request, and of the answer's text
	max        *int // the answer's limit in tokens, if one was sent
	open       bool // the answer is incomplete
}

// openTokens is the assumed maximum of an incomplete answer without a limit.
const openTokens = 4096

// apply sets the cost of u; it stays nil if the price or the usage is unknown. If only the usage or
// the price of cached input is unknown, u.AtMostUSD bounds the cost: a token has at least one byte
// of text, and an answer has at most the allowed tokens. The bound includes hidden reasoning only
// if a limit was sent. Writing to a cache costs more than input: without its price there is no
// bound.
func (p *Price) apply(u *callvet.Usage, t taken) {
	if p == nil || u.Known && p.MaxInput > 0 && u.InputTokens > p.MaxInput {
		return
	}
	written, priced := p.written(u)
	if u.Known && !priced {
		return
	}
	if u.Known && (u.CachedTokens == 0 || p.Cached != nil) {
		cost := float64(u.InputTokens-u.CachedTokens-u.CacheWriteTokens)*p.Input +
			float64(u.OutputTokens)*p.Output + written
		if u.CachedTokens > 0 {
			cost += float64(u.CachedTokens) * *p.Cached
		}
		cost /= 1e6
		u.CostUSD, u.PriceDate = &cost, p.Effective
		return
	}
	in, out := u.InputTokens, u.OutputTokens
	if !u.Known {
		if in, out = t.sent, t.text; t.max != nil {
			out = max(out, *t.max)
		} else if t.open {
			out = max(out, openTokens)
		}
	}
	if p.MaxInput > 0 && in > p.MaxInput {
		return
	}
	bound := (float64(in-u.CacheWriteTokens)*p.Input + float64(out)*p.Output + written) / 1e6
	u.AtMostUSD = &bound
}

// written is the cost of input written to a cache, in millionths of a dollar; known is false if its
// price is unknown or the count is impossible.
func (p *Price) written(u *callvet.Usage) (cost float64, known bool) {
	short, hour := u.CacheWriteTokens-u.CacheHourTokens, u.CacheHourTokens
	if short > 0 && p.CacheWrite == nil || hour > 0 && p.CacheHour == nil ||
		u.CachedTokens+u.CacheWriteTokens > u.InputTokens {
		return 0, false
	}
	if short > 0 {
		cost = float64(short) * *p.CacheWrite
	}
	if hour > 0 {
		cost += float64(hour) * *p.CacheHour
	}
	return cost, true
}
