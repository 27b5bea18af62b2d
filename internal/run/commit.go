// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package run

import (
	"context"
	"sync"
	"time"

	"github.com/callvet/callvet"
)

const (
	// maxBatch bounds the cells in memory that are not durable yet.
	maxBatch = 512
	// linger is how long a batch waits for more. A flush costs some milliseconds, so twenty of them
	// double no attempt's waiting time.
	linger = 10 * time.Millisecond
)

// finished is a scored cell on its way to the journal.
type finished struct {
	of      *callvet.Case
	cell    *callvet.Cell
	encoded *[]byte
}

// committer stores finished cells in batches and counts them afterwards.
type committer struct {
	cfg     *Config
	queue   chan finished
	buffers sync.Pool
	fail    func(error)
	// full is called after cells became durable.
	full func(ctx context.Context) error
	// unbooked returns what was spent since its last call.
	unbooked func() callvet.Spent
	lost     callvet.Spent // spent, and not known to the journal
	began    time.Time
	most     int // cells of a batch

	totals  Totals
	targets []Totals
	before  int // cells that were done when the session began
}

func newCommitter(cfg *Config, fail func(error)) *committer {
	c := &committer{
		cfg: cfg, queue: make(chan finished, maxBatch), fail: fail, began: cfg.Now(), most: maxBatch,
		targets: make([]Totals, len(cfg.Targets)),
	}
	if cfg.Enough != nil { // cells that wait to be stored were asked before
		c.queue, c.most = make(chan finished), cfg.inFlight()
	}
	c.buffers.New = func() any { return new([]byte) }
	perTarget := 0
	for _, ix := range cfg.Cases {
		perTarget += cfg.repeats(ix)
	}
	c.totals = Totals{Total: perTarget * len(cfg.Only), CostKnown: true}
	for i := range c.targets {
		c.targets[i].CostKnown = true
	}
	for _, ix := range cfg.Only {
		c.targets[ix].Total = perTarget
	}
	return c
}

// count is called for cells that are durable, by one goroutine at a time.
func (c *committer) count(cell *callvet.Cell) {
	free := c.cfg.Targets[cell.Target].Free
	c.totals.add(cell, free)
	c.targets[cell.Target].add(cell, free)
}

// put encodes a cell on the caller's goroutine and queues it. It returns false when the run is
// being aborted.
func (c *committer) put(ctx context.Context, of *callvet.Case, cell *callvet.Cell, key []byte) bool {
	buf := c.buffers.Get().(*[]byte)
	b, err := c.cfg.Journal.Encode((*buf)[:0], cell, key)
	if err != nil {
		c.fail(err)
		return false
	}
	*buf = b
	cell.Trace.Exchanges = nil // encoded; they would be most of the memory
	for i := range cell.Trace.Turns {
		t := &cell.Trace.Turns[i]
		t.Parsed = callvet.Parsed{}
		for j := range t.Calls {
			t.Calls[j].Parsed = callvet.Parsed{}
		}
	}
	f := finished{of, cell, buf}
	select {
	case c.queue <- f:
		return true
	default:
	}
	select {
	case c.queue <- f:
		return true
	case <-ctx.Done():
		return false
	}
}

// run stores until the queue is closed. After a failure it only drains, so that
// no worker hangs.
func (c *committer) run(ctx context.Context) {
	batch := make([]finished, 0, maxBatch)
	encoded := make([][]byte, 0, maxBatch)
	broken := false
	for f := range c.queue {
		batch = c.gather(append(batch[:0], f))
		if broken {
			continue
		}
		encoded = encoded[:0]
		for i := range batch {
			encoded = append(encoded, *batch[i].encoded)
		}
		spent := c.unbooked()
		if err := c.cfg.Journal.Append(ctx, c.cfg.RunID, encoded, spent); err != nil {
			broken, c.lost = true, spent
			c.fail(err)
			continue
		}
		cells, cases := make([]*callvet.Cell, len(batch)), make([]*callvet.Case, len(batch))
		for i := range batch {
			cells[i], cases[i] = batch[i].cell, batch[i].of
			c.count(batch[i].cell)
			c.buffers.Put(batch[i].encoded)
			batch[i] = finished{}
		}
		c.announce(cells, cases)
		if err := c.full(ctx); err != nil {
			broken = true
			c.fail(err)
		}
	}
	if broken {
		return
	}
	// The spending of cells without a result.
	spent := c.unbooked()
	if err := c.cfg.Journal.Append(ctx, c.cfg.RunID, nil, spent); err != nil {
		c.lost = spent
		c.fail(err)
	}
}

// gather fills a batch with the cells that arrive within the linger.
func (c *committer) gather(batch []finished) []finished {
	timer := time.NewTimer(linger)
	defer timer.Stop()
	for len(batch) < c.most {
		select {
		case f, ok := <-c.queue:
			if !ok {
				return batch
			}
			batch = append(batch, f)
		case <-timer.C:
			return batch
		}
	}
	return batch
}

func (c *committer) announce(cells []*callvet.Cell, cases []*callvet.Case) {
	e := Event{
		Totals: c.totals, Targets: append([]Totals(nil), c.targets...), Elapsed: c.cfg.Now().Sub(c.began),
		Cells: cells, Cases: cases,
	}
	if n := c.totals.Done - c.before; n > 0 {
		e.ETA = time.Duration(float64(e.Elapsed) / float64(n) * float64(c.totals.Total-c.totals.Done))
	}
	c.cfg.Observe(e)
}
