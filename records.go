// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package callvet

// Deliveries are the records of one attempt, in the order of the file: the same task, attempt and
// target. The zero value has none.
type Deliveries struct {
	seen []uint64
	// Counts is which of them counts, from 0; -1 where none does. Of is the first one of those
	// that contradict each other, Against a later one.
	Counts, Of, Against int
	// Merged are identical to an earlier one, Replaced were corrected by a later one.
	Merged, Replaced int
}

// Add takes the next record by a hash of its content; corrects: it replaces those before it.
// A record with another content that does not correct contradicts them: then none counts, until
// one corrects.
func (d *Deliveries) Add(content uint64, corrects bool) {
	n := len(d.seen) + d.Merged
	for _, s := range d.seen {
		if s == content {
			d.Merged++
			return
		}
	}
	d.seen = append(d.seen, content)
	switch {
	case len(d.seen) == 1:
		d.Counts, d.Of = n, n
	case corrects:
		d.Replaced++
		d.Counts, d.Of, d.Against = n, n, 0
	default:
		d.Counts, d.Against = -1, n
	}
}

// Conflict reports whether records contradict each other, so that none counts.
func (d *Deliveries) Conflict() bool { return d.Counts < 0 }
