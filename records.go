// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package callvet

// Deliveries are the records of one attempt, in the order of the file: the same task, attempt and
// target. The zero value has none.
type Deliveries struct {
	seen []uint64
	// Counts is the index of the record that counts, from 0; -1 for none. Of is the first of the
	// records that contradict each other, Against a later one.
	Counts, Of, Against int
	// Merged are identical to an earlier one, Replaced were corrected by a later one.
	Merged, Replaced int
}

// Add adds the next record, given as a hash of its content. A record with corrects replaces those
// before it. A record with different content and without corrects contradicts them: then no record
// counts until one corrects.
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
