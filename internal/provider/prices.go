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
	// Cached is the price of input read from a cache; nil: not known, and the
	// cost of a request that used one is not known either.
	Cached *float64 `json:"cached,omitempty"`
	// CacheWrite is the price of input that is written to a cache, and CacheHour that of input
	// that is written for an hour. nil: as for Cached.
	CacheWrite *float64 `json:"cache_write,omitempty"`
	CacheHour  *float64 `json:"cache_write_1h,omitempty"`
	Output     float64  `json:"output"`
	// MaxInput, when set, is up to how many input tokens the row holds.
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

// ShippedPrices is the table that ships with callvet: few rows, each dated.
func ShippedPrices() *Prices {
	p, err := ReadPrices("prices.json", shippedPrices)
	if err != nil { // a test reads the same bytes
		return &Prices{}
	}
	return p
}

// ReadPrices reads a table in the form of prices.json from the file name. Every row
// needs a provider that is known, a model, a date and prices that are not negative, and a
// model has one row.
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

// wrong says what makes a row useless, where those providers are known; "" when nothing does.
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

// Over gives p with the rows of first before it, so that they win.
func (p *Prices) Over(first *Prices) *Prices {
	if first == nil {
		return p
	}
	return &Prices{Rows: append(append([]Price(nil), first.Rows...), p.Rows...)}
}

// version is what may follow a model's name without making it another model.
var version = regexp.MustCompile(`^[-@](\d{4}-\d{2}-\d{2}|\d{8}|\d{3,4}|latest)$`)

// Find gives the price of a model, also under a dated name, or nil: prices are
// never guessed from a similar name.
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

// taken is what is known of a request without its usage.
type taken struct {
	sent, text int  // bytes of the request, and of the answer's text
	max        *int // tokens that the answer could have, where a limit was sent
	open       bool // the answer did not come to its end
}

// openTokens is what an answer that did not come to its end is taken to have had
// at most, where no limit was sent.
const openTokens = 4096

// apply sets the cost of u; it stays nil when the price or the usage is not known.
// Where only the usage or the price of cached input is not, u.AtMostUSD bounds the
// cost: a token has at least one byte of text, and an answer has no more tokens than
// were allowed. Reasoning that the provider hides is in the bound only where a limit
// was sent. Writing to a cache costs more than input does, by how much is not known:
// without its price there is no bound.
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

// written is what the input that was written to a cache cost, in millionths of a dollar; known
// is false where its price is not known, or the count cannot be true.
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
