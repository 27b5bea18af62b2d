// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labels

import "slices"

// Opinion reports whether a line has verdicts of judges and no label of a person.
func (l *Label) Opinion() bool { return l.Pass == nil && l.Rating == nil && len(l.Judged) > 0 }

// Split divides the lines of a file into labels of people and Opinions.
func Split(all []Label) (people, opinions []Label) {
	for _, l := range all {
		if l.Opinion() {
			opinions = append(opinions, l)
		} else {
			people = append(people, l)
		}
	}
	return people, opinions
}

// WithOpinions adds the verdicts of opinions to labels on the same things; a label without a target
// matches any. Of two verdicts of one judge the later counts. It does not change people.
func WithOpinions(people, opinions []Label) []Label {
	if len(opinions) == 0 {
		return people
	}
	verdicts := map[Thing][]Verdict{}
	for i := range opinions {
		o := &opinions[i]
		thing := o.Thing()
		verdicts[thing] = Merge(verdicts[thing], o.Judged)
		if thing.Target != "" {
			thing.Target = ""
			verdicts[thing] = Merge(verdicts[thing], o.Judged)
		}
	}
	out := slices.Clone(people)
	for i := range out {
		out[i].Judged = Merge(slices.Clone(out[i].Judged), verdicts[out[i].Thing()])
	}
	return out
}

// Merge adds verdicts to the existing ones; a verdict of the same judge is replaced.
func Merge(have, more []Verdict) []Verdict {
	for _, v := range more {
		if at := slices.IndexFunc(have, func(o Verdict) bool { return o.ID() == v.ID() }); at >= 0 {
			have[at] = v
		} else {
			have = append(have, v)
		}
	}
	return have
}
