// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
	"sync"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// Limits on the names in a file.
const (
	MaxSliceValues = 2048 // of one slice key; a key with more is no slice
	maxKeys        = 512
	maxSets        = 1 << 16
	MaxTools       = 1 << 14
	maxJudges      = 64
	maxWords       = 1 << 14
	maxTargets     = 256
	clipAt         = 128 // bytes of a value
)

// BeyondLimit replaces the names over a limit.
const BeyondLimit = "(other)"

// TargetSlice names a slice of a target; without a key it is all of the target's tasks.
type TargetSlice struct {
	Target     uint32
	Key, Value string
}

// TargetKey is a slice key of a target.
type TargetKey struct {
	Target uint32
	Key    string
}

// SliceNames gives numbers to the texts that name slices, tools, targets and judges, so that sums are
// kept by number. All workers of a Sheet share it. Numbers depend on the order of
// arrival and never reach a result. Only beyond the limits on tools, targets and field names does
// the order decide which names are reported.
type SliceNames struct {
	by       []string
	families map[string][]string
	expected bool // lines are sliced by expected tools
	mu       sync.RWMutex
	// Slices are the slices by number.
	Slices  []TargetSlice
	bySlice map[TargetSlice]uint32
	values  map[TargetKey]int
	keys    map[string]struct{}
	Dead    map[TargetKey]bool // keys with too many values: no slices
	Targets Lexicon
	Tools   Lexicon
	Judges  Lexicon
	Words   Lexicon // names of scores, and short texts of attempts
	sets    map[string]*SliceSet
	// Crosses are the pairs of keys with crossed slices.
	Crosses [][2]string
	crossed map[[2]uint32]uint32
	// expects are the lists of slices by expected tools, from 1, and their numbers.
	expects   [][]uint32
	byExpects map[string]uint32
}

// Lexicon numbers the texts of one kind, up to a limit.
type Lexicon struct {
	All []string
	by  map[string]uint32
	max int
}

// Number returns the number of a text; a new one for a new text.
func (l *Lexicon) Number(s []byte) uint32 {
	if n, ok := l.by[string(s)]; ok {
		return n
	}
	name := string(s)
	if len(l.All) >= l.max {
		name = BeyondLimit
		if n, ok := l.by[name]; ok {
			return n
		}
	}
	n := uint32(len(l.All))
	l.All = append(l.All, name)
	l.by[name] = n
	return n
}

// Sorted are the numbers in the order of their texts.
func (l *Lexicon) Sorted() []uint32 {
	order := make([]uint32, len(l.All))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return cmp.Compare(l.All[a], l.All[b]) })
	return order
}

// SliceSet is the slices of a line: the one of all tasks first, crosses last.
type SliceSet struct {
	Target uint32
	Tool   uint32 // by base name; 0 for task records
	IDs    []uint32
	// Summed are those of the IDs that may get a table; the others are only parts of crosses.
	Summed []uint32
	// Expects is the number of the IDs that are slices by expected tools; 0: none.
	Expects uint32
}

// NewSliceNames makes SliceNames for slices by these keys; families are the families of tools by name.
func NewSliceNames(by []string, families map[string][]string) *SliceNames {
	n := &SliceNames{
		by: by, families: families, bySlice: map[TargetSlice]uint32{}, values: map[TargetKey]int{},
		keys: map[string]struct{}{}, Dead: map[TargetKey]bool{},
		Targets: Lexicon{by: map[string]uint32{}, max: maxTargets},
		Tools:   Lexicon{by: map[string]uint32{}, max: MaxTools},
		Judges:  Lexicon{by: map[string]uint32{}, max: maxJudges},
		Words:   Lexicon{by: map[string]uint32{}, max: maxWords}, sets: map[string]*SliceSet{},
		crossed:  map[[2]uint32]uint32{},
		expected: asked(by, callvet.SliceExpectedTool, false), expects: [][]uint32{nil}, byExpects: map[string]uint32{},
	}
	n.Tools.Number(nil) // 0: none
	for _, key := range by {
		if a, b, ok := strings.Cut(key, "*"); ok && a != "" && b != "" {
			n.Crosses = append(n.Crosses, [2]string{a, b})
		}
	}
	return n
}

// Slice is the slice of a number.
func (n *SliceNames) Slice(id uint32) TargetSlice {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.Slices[id]
}

// ID numbers a slice; ok is false when its key has too many values. It is not safe for concurrent
// use.
func (n *SliceNames) ID(s TargetSlice) (uint32, bool) {
	if id, ok := n.bySlice[s]; ok {
		return id, true
	}
	k := TargetKey{s.Target, s.Key}
	if n.Dead[k] {
		return 0, false
	}
	if _, known := n.keys[s.Key]; !known {
		if len(n.keys) >= maxKeys {
			n.Dead[k] = true
			return 0, false
		}
		n.keys[strings.Clone(s.Key)] = struct{}{}
	}
	if n.values[k]++; n.values[k] > MaxSliceValues {
		n.Dead[k] = true
		return 0, false
	}
	id := uint32(len(n.Slices))
	s.Key, s.Value = strings.Clone(s.Key), strings.Clone(s.Value)
	n.Slices = append(n.Slices, s)
	n.bySlice[s] = id
	return id, true
}

// Union is the set of a line extended by the slices of its task record, and by the crosses of the
// two.
func (n *SliceNames) Union(own, record *SliceSet) *SliceSet {
	n.mu.Lock()
	defer n.mu.Unlock()
	ids := slices.Clone(own.IDs)
	for _, id := range record.IDs {
		if !slices.Contains(own.IDs, id) {
			ids = append(ids, id)
		}
	}
	for _, c := range n.Crosses {
		ids = n.between(n.between(ids, c, own.IDs, record.IDs), c, record.IDs, own.IDs)
	}
	return n.Same(&SliceSet{Target: own.Target, Tool: own.Tool, IDs: ids})
}

// between appends the crosses of a slice on one side with a slice on the other.
func (n *SliceNames) between(ids []uint32, keys [2]string, left, right []uint32) []uint32 {
	for _, a := range left {
		if n.Slices[a].Key != keys[0] || slices.Contains(right, a) {
			continue
		}
		for _, b := range right {
			if n.Slices[b].Key != keys[1] || slices.Contains(left, b) {
				continue
			}
			if id, ok := n.cross(a, b); ok && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

func (n *SliceNames) cross(a, b uint32) (uint32, bool) {
	if id, ok := n.crossed[[2]uint32{a, b}]; ok {
		return id, true
	}
	x, y := n.Slices[a], n.Slices[b]
	id, ok := n.ID(TargetSlice{x.Target, x.Key + "*" + y.Key, x.Value + "*" + y.Value})
	if ok {
		n.crossed[[2]uint32{a, b}] = id
	}
	return id, ok
}

// Needing is a set extended by the families of tools that the task needs.
func (n *SliceNames) Needing(set *SliceSet, tools []string, fields value.Value) *SliceSet {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, present := fields.Get("tool_family"); present {
		return set
	}
	b := builder{n: n, target: set.Target}
	for _, name := range tools {
		for _, f := range n.families[name] {
			b.want("tool_family", f, false)
		}
	}
	return n.with(set, b.ids)
}

// crosses appends the crosses of the slices in ids.
func (n *SliceNames) crosses(ids []uint32) []uint32 {
	for _, c := range n.Crosses {
		for _, a := range ids {
			for _, b := range ids {
				if n.Slices[a].Key != c[0] || n.Slices[b].Key != c[1] {
					continue
				}
				if id, ok := n.cross(a, b); ok && !slices.Contains(ids, id) { // a cross may be requested twice
					ids = append(ids, id)
				}
			}
		}
	}
	return ids
}

// Set makes the slices of a line; tool is nil for a task record.
func (n *SliceNames) Set(target, tool []byte, tags, fields value.Value) *SliceSet {
	n.mu.Lock()
	defer n.mu.Unlock()
	b := builder{n: n, target: n.Targets.Number(target)}
	b.add("", "")
	s := &SliceSet{Target: b.target}
	if tool != nil {
		name, version := callvet.SplitTool(string(tool))
		s.Tool = n.Tools.Number([]byte(name))
		b.tool(name, version, fields)
	}
	b.fields(fields)
	b.tags(tags)
	slices.Sort(b.ids[1:])
	s.IDs = n.crosses(slices.Compact(b.ids))
	return n.Same(s)
}

// Same returns the shared set with these members. It is not safe for concurrent use.
func (n *SliceNames) Same(s *SliceSet) *SliceSet {
	key := binary.LittleEndian.AppendUint32(nil, s.Target)
	key = binary.LittleEndian.AppendUint32(key, s.Tool)
	for _, id := range s.IDs {
		key = binary.LittleEndian.AppendUint32(key, id)
	}
	if old := n.sets[string(key)]; old != nil {
		return old
	}
	s.Expects = n.expectsOf(s.IDs)
	for _, id := range s.IDs {
		if key := n.Slices[id].Key; key == "" || SliceRequested(n.by, key) {
			s.Summed = append(s.Summed, id)
		}
	}
	if len(n.sets) < maxSets {
		n.sets[string(key)] = s
	}
	return s
}

// Tool numbers a tool by its base name.
func (n *SliceNames) Tool(name []byte) uint32 {
	n.mu.Lock()
	defer n.mu.Unlock()
	base, _ := callvet.SplitTool(string(name))
	return n.Tools.Number([]byte(base))
}

// Judge numbers a judge.
func (n *SliceNames) Judge(name string) uint32 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.Judges.Number([]byte(name))
}

// Word numbers a short text.
func (n *SliceNames) Word(text string) uint32 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.Words.Number([]byte(text))
}

// builder collects the slices of one line.
type builder struct {
	n      *SliceNames
	target uint32
	ids    []uint32
}

func (b *builder) add(key, val string) {
	if key != "" && val == "" {
		return
	}
	if id, ok := b.n.ID(TargetSlice{b.target, key, clip(val)}); ok {
		b.ids = append(b.ids, id)
	}
}

// want adds a slice if its key was requested.
func (b *builder) want(key, val string, named bool) {
	if asked(b.n.by, key, named) {
		b.add(key, val)
	}
}

func (b *builder) tool(name, version string, fields value.Value) {
	b.want(callvet.SliceCalledTool, name, false)
	if _, present := fields.Get("api_version"); !present {
		b.want("api_version", version, false)
	}
	if _, present := fields.Get("tool_family"); !present {
		for _, f := range b.n.families[name] {
			b.want("tool_family", f, false)
		}
	}
}

func (b *builder) fields(fields value.Value) {
	if fields.Kind() != value.Object {
		return
	}
	for e, ok := fields.First(); ok; e, ok = fields.Next(e) {
		switch e.Kind() {
		case value.String:
			b.field(e.Key(), e.Str())
		case value.Number, value.Bool:
			b.field(e.Key(), string(e.Raw()))
		}
	}
}

// field adds a slice by its usual name, and by its own where that was requested.
func (b *builder) field(key, val string) {
	usual := keyName(key)
	b.want(usual, val, true)
	if usual != key {
		b.want(key, val, false)
	}
}

func (b *builder) tags(tags value.Value) {
	for e, ok := tags.First(); ok; e, ok = tags.Next(e) {
		t := e.Str()
		if i := strings.IndexAny(t, ":="); i > 0 && i+1 < len(t) && isKey(t[:i]) {
			b.want(keyName(t[:i]), t[i+1:], true)
			continue
		}
		if isLanguage(t) && asked(b.n.by, "language", false) {
			b.want("language", t, false)
			continue // the same table under another name would only cost time
		}
		b.want("tag", t, false)
	}
}

// keyName maps all spellings of a key to one.
func keyName(k string) string {
	switch k {
	case "lang", "locale":
		return "language"
	case "family":
		return "tool_family"
	}
	return k
}

func isKey(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '-' || c == '.' || i > 0 &&
			c >= '0' && c <= '9') {
			return false
		}
	}
	return true
}

// isLanguage reports whether a tag is a language with a region, such as es-AR or zh-Hant-TW.
// Source: BCP 47.
func isLanguage(s string) bool {
	p := strings.Split(s, "-")
	if len(p) < 2 || len(p) > 3 || len(p[0]) < 2 || len(p[0]) > 3 || !within(p[0], 'a', 'z') {
		return false
	}
	if len(p) == 3 && (len(p[1]) != 4 || !within(p[1][:1], 'A', 'Z') || !within(p[1][1:], 'a', 'z')) {
		return false
	}
	region := p[len(p)-1]
	return len(region) == 2 && within(region, 'A', 'Z') || len(region) == 3 && within(region, '0', '9')
}

func within(s string, from, to byte) bool {
	for i := range len(s) {
		if s[i] < from || s[i] > to {
			return false
		}
	}
	return true
}

// CompareSlices orders slices by key and value.
func CompareSlices(a, b TargetSlice) int {
	return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value))
}
