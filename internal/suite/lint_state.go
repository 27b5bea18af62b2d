// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/callvet/callvet"
)

// states checks that the state which a mock requires can occur, and that some mock requires each
// state that is set. In a suite's own mocks it checks only the words that they set themselves,
// because cases may set or require further words.
func (l *linter) states() {
	own := l.s.Mocks
	inherited := []callvet.Mock(nil)
	if l.c != nil {
		own = l.c.Mocks
		for _, m := range l.s.Mocks { // a case's mocks of a tool replace the suite's
			if !slices.ContainsFunc(own, func(o callvet.Mock) bool { return strings.EqualFold(o.Tool, m.Tool) }) {
				inherited = append(inherited, m)
			}
		}
	}
	if !slices.ContainsFunc(own, stateful) {
		return
	}
	all := slices.Concat(own, inherited)
	reached, asked, set := reachable(all), map[string]bool{}, map[string]bool{}
	for i := range all {
		for word := range all[i].When {
			asked[word] = true
		}
		for j := range all[i].Replies {
			for word := range all[i].Replies[j].Set {
				set[word] = true
			}
		}
	}
	for i := range own {
		key := fmt.Sprintf("mocks[%d]", i)
		for _, word := range slices.Sorted(maps.Keys(own[i].When)) {
			if want := own[i].When[word]; !reached[word][want] && (set[word] || l.c != nil) {
				l.warn("unreachable-state", key+".when."+word,
					fmt.Sprintf("set: {%s: %s} in the answer of a mock that can be reached", word, want),
					"%s is never %q, so that this mock never answers", word, want)
			}
		}
		for j := range own[i].Replies {
			for _, word := range slices.Sorted(maps.Keys(own[i].Replies[j].Set)) {
				if !asked[word] && l.c != nil {
					l.warn("unread-state", key+".set."+word, "ask for it with when:, or remove it",
						"%s is set, but no mock asks for it", word)
				}
			}
		}
	}
}

func stateful(m callvet.Mock) bool {
	return m.When != nil || slices.ContainsFunc(m.Replies, func(r callvet.MockReply) bool { return r.Set != nil })
}

// values are those that words can have.
type values map[string]map[string]bool

func (v values) add(word, value string) (isNew bool) {
	if v[word] == nil {
		v[word] = map[string]bool{"": true}
	}
	isNew = !v[word][value]
	v[word][value] = true
	return isNew
}

// reachable finds the values that words can get: the values set by mocks that can answer.
func reachable(mocks []callvet.Mock) values {
	out := values{}
	for i := range mocks {
		for word := range mocks[i].When {
			out.add(word, "")
		}
	}
	for again := true; again; {
		again = false
		for i := range mocks {
			if slices.ContainsFunc(slices.Collect(maps.Keys(mocks[i].When)),
				func(word string) bool { return !out[word][mocks[i].When[word]] }) {
				continue
			}
			for j := range mocks[i].Replies {
				for word, s := range mocks[i].Replies[j].Set {
					first, then := out.add(word, s.Value), s.Calls > 0 && out.add(word, s.Then)
					again = again || first || then
				}
			}
		}
	}
	return out
}
