// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tune

// Tried is how many of n candidates a search in that mode tries next to the base; 0 trials: DefaultTrials.
func Tried(mode Mode, n, trials int) int {
	if mode == "" || mode == Grid {
		return n
	}
	if trials == 0 {
		trials = DefaultTrials
	}
	return min(n, trials)
}

// MostCandidates are the most prompts that the search has, with the base, and the most candidates that race in
// all generations together.
func (e *Evolution) MostCandidates() (prompts, racing int) {
	prompts = 1 + e.cfg.Generations*(e.cfg.Population-1)
	racing = e.cfg.Generations * (e.cfg.Population + 1)
	if e.cfg.Mode == Reflect {
		racing++
	}
	return prompts, racing
}
