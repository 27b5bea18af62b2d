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

// Limits on what names a file may bring in.
const (
	maxValues  = 2048 // of one slice key; a key with more is no slice
	maxKeys    = 512
	maxSets    = 1 << 16
	maxTools   = 1 << 14
	maxJudges  = 64
	maxTargets = 256
	clipAt     = 128 // bytes of a value
)

// beyond stands for the names over a limit.
const beyond = "(other)"

// sliceName names a slice of a target; without a key it is all of the target's tasks.
type sliceName struct {
	target     uint32
	key, value string
}

type targetKey struct {
	target uint32
	key    string
}

// names gives numbers to texts. It is shared by all who fill a Sheet; numbers
// depend on who came first and never reach a result.
type names struct {
	cfg     *Config
	mu      sync.RWMutex
	slices  []sliceName
	bySlice map[sliceName]uint32
	values  map[targetKey]int
	keys    map[string]struct{}
	dead    map[targetKey]bool // keys with too many values
	targets lexicon
	tools   lexicon
	judges  lexicon
	sets    map[string]*set
	crosses [][2]string
	crossed map[[2]uint32]uint32
}

// lexicon numbers the texts of one kind, up to a limit.
type lexicon struct {
	all []string
	by  map[string]uint32
	max int
}

func (l *lexicon) number(s []byte) uint32 {
	if n, ok := l.by[string(s)]; ok {
		return n
	}
	name := string(s)
	if len(l.all) >= l.max {
		name = beyond
		if n, ok := l.by[name]; ok {
			return n
		}
	}
	n := uint32(len(l.all))
	l.all = append(l.all, name)
	l.by[name] = n
	return n
}

// set is the slices that a line belongs to, that of all tasks first.
type set struct {
	target uint32
	tool   uint32 // by base name; 0 for task records
	ids    []uint32
}

func newNames(cfg *Config) *names {
	n := &names{
		cfg: cfg, bySlice: map[sliceName]uint32{}, values: map[targetKey]int{}, keys: map[string]struct{}{}, dead: map[targetKey]bool{},
		targets: lexicon{by: map[string]uint32{}, max: maxTargets}, tools: lexicon{by: map[string]uint32{}, max: maxTools},
		judges: lexicon{by: map[string]uint32{}, max: maxJudges}, sets: map[string]*set{}, crossed: map[[2]uint32]uint32{},
	}
	n.tools.number(nil) // 0: none
	for _, key := range cfg.SliceBy {
		if a, b, ok := strings.Cut(key, "*"); ok && a != "" && b != "" {
			n.crosses = append(n.crosses, [2]string{a, b})
		}
	}
	return n
}

func (n *names) slice(id uint32) sliceName {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.slices[id]
}

func (n *names) count() int {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return len(n.slices)
}

// id numbers a slice; ok is false when its key has too many values.
func (n *names) id(s sliceName) (uint32, bool) {
	if id, ok := n.bySlice[s]; ok {
		return id, true
	}
	k := targetKey{s.target, s.key}
	if n.dead[k] {
		return 0, false
	}
	if _, known := n.keys[s.key]; !known {
		if len(n.keys) >= maxKeys {
			n.dead[k] = true
			return 0, false
		}
		n.keys[strings.Clone(s.key)] = struct{}{}
	}
	if n.values[k]++; n.values[k] > maxValues {
		n.dead[k] = true
		return 0, false
	}
	id := uint32(len(n.slices))
	s.key, s.value = strings.Clone(s.key), strings.Clone(s.value)
	n.slices = append(n.slices, s)
	n.bySlice[s] = id
	return id, true
}

// cross numbers the slice of two slices together.
func (n *names) cross(a, b uint32) (uint32, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if id, ok := n.crossed[[2]uint32{a, b}]; ok {
		return id, true
	}
	x, y := n.slices[a], n.slices[b]
	id, ok := n.id(sliceName{x.target, x.key + "*" + y.key, x.value + "*" + y.value})
	if ok {
		n.crossed[[2]uint32{a, b}] = id
	}
	return id, ok
}

// set makes the slices of a line; tool is nil for a task record.
func (n *names) set(target, tool []byte, tags, fields value.Value) *set {
	n.mu.Lock()
	defer n.mu.Unlock()
	b := builder{n: n, target: n.targets.number(target)}
	b.add("", "")
	s := &set{target: b.target}
	if tool != nil {
		name, version := callvet.SplitTool(string(tool))
		s.tool = n.tools.number([]byte(name))
		b.tool(name, version, fields)
	}
	b.fields(fields)
	b.tags(tags)
	slices.Sort(b.ids[1:])
	s.ids = slices.Compact(b.ids)
	return n.same(s)
}

// same gives the one set with these members.
func (n *names) same(s *set) *set {
	key := binary.LittleEndian.AppendUint32(nil, s.target)
	key = binary.LittleEndian.AppendUint32(key, s.tool)
	for _, id := range s.ids {
		key = binary.LittleEndian.AppendUint32(key, id)
	}
	if old := n.sets[string(key)]; old != nil {
		return old
	}
	if len(n.sets) < maxSets {
		n.sets[string(key)] = s
	}
	return s
}

func (n *names) tool(name []byte) uint32 {
	n.mu.Lock()
	defer n.mu.Unlock()
	base, _ := callvet.SplitTool(string(name))
	return n.tools.number([]byte(base))
}

func (n *names) judge(name string) uint32 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.judges.number([]byte(name))
}

// builder collects the slices of one line.
type builder struct {
	n      *names
	target uint32
	ids    []uint32
}

func (b *builder) add(key, val string) {
	if key != "" && val == "" {
		return
	}
	if len(val) > clipAt {
		val = strings.ToValidUTF8(val[:clipAt], "") + "…"
	}
	if id, ok := b.n.id(sliceName{b.target, key, val}); ok {
		b.ids = append(b.ids, id)
	}
}

// want adds a slice if its key was asked for.
func (b *builder) want(key, val string, named bool) {
	for _, by := range b.n.cfg.SliceBy {
		if by == key || named && by == "*" {
			b.add(key, val)
			return
		}
		if a, c, ok := strings.Cut(by, "*"); ok && (a == key || c == key) {
			b.add(key, val)
			return
		}
	}
}

func (b *builder) tool(name, version string, fields value.Value) {
	b.want("tool", name, false)
	if _, told := fields.Get("api_version"); !told {
		b.want("api_version", version, false)
	}
	if _, told := fields.Get("tool_family"); !told {
		for _, f := range b.n.cfg.Families[name] {
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
			b.want(keyName(e.Key()), e.Str(), true)
		case value.Number, value.Bool:
			b.want(keyName(e.Key()), string(e.Raw()), true)
		}
	}
}

func (b *builder) tags(tags value.Value) {
	for e, ok := tags.First(); ok; e, ok = tags.Next(e) {
		t := e.Str()
		if i := strings.IndexAny(t, ":="); i > 0 && i+1 < len(t) && isKey(t[:i]) {
			b.want(keyName(t[:i]), t[i+1:], true)
			continue
		}
		if isLanguage(t) {
			b.want("language", t, false)
		}
		b.want("tag", t, false)
	}
}

// keyName makes the spellings of one key one.
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
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '-' || c == '.' || i > 0 && c >= '0' && c <= '9') {
			return false
		}
	}
	return true
}

// isLanguage tells a language with a region, such as es-AR or zh-Hant-TW, from
// other tags. Source: BCP 47.
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

func compareNames(a, b sliceName) int {
	return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.value, b.value))
}
