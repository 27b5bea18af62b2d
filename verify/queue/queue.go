// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package queue

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/callvet/callvet/verify/proof"
)

// Scale is the size of the checks.
type Scale struct {
	// Runs are killed Kills times each; a run has Cells cells, Flying of them at the same time.
	Runs, Kills, Cells, Flying int
	// Slow is the least time of an answer; some take five times as long.
	Slow time.Duration
	// Jobs is the number of jobs of each user with limits, with JobCells cells each.
	Jobs, JobCells int
	// Cancels is how often a job is cancelled for each way of hanging.
	Cancels int
}

// Full is the scale of make verify-jobs.
func Full() Scale {
	return Scale{
		Runs: 5, Kills: 10, Cells: 5000, Flying: 4, Slow: 2 * time.Millisecond, Jobs: 10,
		JobCells: 40, Cancels: 5,
	}
}

// seed makes the moments of kills the same each time, as far as the machine allows.
const seed = 17

// check is one running check.
type check struct {
	*proof.Check
	Scale
	site  *site
	model *model
	rng   *rand.Rand
}

// Verify runs all checks with the binary, on a store in a separate folder.
func Verify(ctx context.Context, c *proof.Check, binary string, scale Scale) (err error) {
	const source, rounds = "this command makes them", 2
	c.Due("cells stored once and judged rightly", scale.Runs*scale.Cells, source)
	c.Due("results reported once", scale.Runs*scale.Cells, source)
	c.Due("kills", scale.Runs*scale.Kills, source)
	c.Due("runs", scale.Runs, source)
	c.Due(ofUsers, rounds*len(limited())*scale.Jobs, source)
	c.Due("limits", rounds*len(limited()), source)
	c.Due("cancels", len(hangs())*scale.Cancels, source)
	if binary, err = filepath.Abs(binary); err != nil {
		return fmt.Errorf("verify jobs: %w", err)
	}
	dir, err := os.MkdirTemp("", "callvet-jobs-*")
	if err != nil {
		return fmt.Errorf("verify jobs: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	m, err := startModel(ctx, scale.Slow, scale.JobCells)
	if err != nil {
		return err
	}
	defer m.stop()
	k := &check{Check: c, Scale: scale, site: newSite(binary, dir), model: m, rng: rand.New(rand.NewPCG(seed, seed))}
	defer func() { err = errors.Join(err, k.site.kill()) }()
	if err := k.site.open(ctx); err != nil {
		return err
	}
	if err := k.kills(ctx); err != nil {
		return fmt.Errorf("kills: %w", err)
	}
	if err := k.limits(ctx); err != nil {
		return fmt.Errorf("limits: %w", err)
	}
	if err := k.cancels(ctx); err != nil {
		return fmt.Errorf("cancels: %w", err)
	}
	return nil
}
