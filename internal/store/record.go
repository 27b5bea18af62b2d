// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package store

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/callvet/callvet"
)

// A cache key is the scope (the identity of the target), then the identity of the request. Cells of
// one scope are found together.
const (
	scopeBytes = 8
	askBytes   = 16
	// KeyBytes is the length of a cache key.
	KeyBytes = scopeBytes + askBytes
)

// Flags of a stored cell.
const (
	flagCached = 1 << iota
	flagUsageKnown
	flagCost
	flagOverall
	flagNotEvaluated
)

// Encode appends the durable form of a cell to dst; Append takes it. It is safe
// for concurrent use and keeps no reference to c. key is the cell's cache key,
// nil when its trace is not to be reused.
func (db *DB) Encode(dst []byte, c *callvet.Cell, key []byte) ([]byte, error) {
	if len(key) != 0 && len(key) != KeyBytes {
		return nil, fmt.Errorf("encode cell: a cache key of %d bytes, want %d: %w", len(key), KeyBytes,
			callvet.ErrInvalid)
	}
	if c.Case < 0 || c.Target < 0 || c.Repeat < 0 {
		return nil, fmt.Errorf("encode cell: negative coordinates: %w", callvet.ErrInvalid)
	}
	flags, cost, overall := byte(0), 0.0, c.Result.Score("overall")
	if c.Trace.Cached {
		flags |= flagCached
	}
	if c.Trace.Usage.Known {
		flags |= flagUsageKnown
	}
	if p := c.Trace.Usage.CostUSD; p != nil {
		flags |= flagCost
		cost = *p
	}
	if overall.Scored {
		flags |= flagOverall
	}
	if c.Result.NotEvaluated > 0 {
		flags |= flagNotEvaluated
	}
	b := append(dst, flags)
	for _, n := range []int{c.Case, c.Target, c.Repeat, c.Trace.Attempts} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(cost))
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(overall.Value))
	for _, s := range []string{
		c.Trace.CaseID, string(c.Trace.Outcome), string(c.Result.Verdict),
		string(c.Result.Class),
	} {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	b = append(binary.AppendUvarint(b, uint64(len(key))), key...)
	b = sized(b, func(b []byte) []byte { return appendResult(b, &c.Result) })
	b = sized(b, func(b []byte) []byte {
		b = appendTrace(b, &c.Trace)
		return append(optInt(b[:len(b)-1], keyRedacted, c.Redacted), '}')
	})
	return sized(b, func(b []byte) []byte {
		if len(c.Trace.Exchanges) == 0 {
			return b
		}
		return appendExchanges(b, c.Trace.Exchanges)
	}), nil
}

// sized writes a 4-byte length and the text that f appends, with its checksum unless it is empty.
func sized(b []byte, f func([]byte) []byte) []byte {
	at := len(b)
	b = f(append(b, 0, 0, 0, 0))
	if len(b) > at+4 {
		b = seal(b, at+4)
	}
	binary.LittleEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	return b
}

// record is an encoded cell taken apart; its slices alias the encoded bytes.
type record struct {
	flags                           byte
	caseIx, target, repeat, calls   int
	cost, overall                   float64
	caseID, outcome, verdict, class string
	key, result, trace, exchanges   []byte
}

// split takes an encoded cell apart. The bytes never leave the process, so a
// short one is a programming error and is only reported.
func split(b []byte) (r record, err error) {
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("append cell: not an encoded cell: %w", callvet.ErrInvalid)
		}
	}()
	number := func() int {
		n, k := binary.Uvarint(b)
		b = b[k:]
		return int(n)
	}
	take := func(n int) []byte {
		v := b[:n:n]
		b = b[n:]
		return v
	}
	float := func() float64 { return math.Float64frombits(binary.LittleEndian.Uint64(take(8))) }
	blob := func() []byte { return take(int(binary.LittleEndian.Uint32(take(4)))) }
	r.flags = take(1)[0]
	r.caseIx, r.target, r.repeat, r.calls = number(), number(), number(), number()
	r.cost, r.overall = float(), float()
	r.caseID, r.outcome = string(take(number())), string(take(number()))
	r.verdict, r.class = string(take(number())), string(take(number()))
	r.key = take(number())
	r.result, r.trace, r.exchanges = blob(), blob(), blob()
	return r, nil
}

// appendArgs adds the values of one row of insertCells.
func (r *record) appendArgs(args []any, run int64) []any {
	c := columns{
		run: counted(int(run)), outcome: word(r.outcome), verdict: word(r.verdict), class: word(r.class),
		caseID: word(r.caseID),
	}
	for i, n := range []int{r.caseIx, r.target, r.repeat} {
		c.at[i] = counted(n)
	}
	c.requests, c.flags = counted(r.calls), bits(r.flags&(flagCached|flagUsageKnown|flagNotEvaluated))
	var exchanges any
	if r.flags&flagOverall != 0 {
		_ = c.overall.Scan(r.overall) // Scan accepts every value
	}
	if r.flags&flagCost != 0 {
		_ = c.cost.Scan(r.cost)
	}
	if len(r.exchanges) > 0 {
		exchanges = r.exchanges
	}
	return append(args, run, r.caseIx, r.target, r.repeat, r.outcome, r.verdict, r.class, r.caseID,
		c.overall.value(), c.cost.value(), r.calls, c.summed(), r.result, r.trace, exchanges)
}
