// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"crypto/sha256"
	"encoding/json"
	"sync"

	"github.com/callvet/callvet"
)

// maxIndexes bounds how many catalogues are kept in memory.
const maxIndexes = 16

// Indexes keeps catalogues that were indexed between requests. The zero value is empty. It is safe
// for concurrent use.
type Indexes struct {
	mu    sync.Mutex
	kept  map[[sha256.Size]byte]kept
	order [][sha256.Size]byte
}

// kept is a catalogue with its index.
type kept struct {
	retriever *Retriever
	target    callvet.Target
}

// Drop removes all of them, and returns their number.
func (x *Indexes) Drop() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := len(x.kept)
	x.kept, x.order = nil, nil
	return n
}

func (x *Indexes) get(key [sha256.Size]byte) (k kept, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	k, ok = x.kept[key]
	return k, ok
}

// put adds a catalogue, and removes the oldest one where there are too many.
func (x *Indexes) put(key [sha256.Size]byte, k kept) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.kept == nil {
		x.kept = map[[sha256.Size]byte]kept{}
	}
	if _, known := x.kept[key]; !known {
		x.order = append(x.order, key)
	}
	x.kept[key] = k
	if len(x.order) > maxIndexes {
		delete(x.kept, x.order[0])
		x.order = x.order[1:]
	}
}

// indexKey identifies the index of a catalogue under settings; ok is false if its content also
// depends on models or files with routes.
func (e *Env) indexKey(file string, s *Settings) (key [sha256.Size]byte, ok bool) {
	if e.Indexes == nil || s.Embed+s.Rerank != "" || s.Routes != "" && s.Routes != "none" {
		return key, false
	}
	data, err := e.Read(file)
	if err != nil {
		return key, false // opening it reports the error
	}
	of := sha256.Sum256(data)
	b, err := json.Marshal(struct {
		Of       []byte
		File     string
		Settings *Settings
	}{of[:], file, s})
	return sha256.Sum256(b), err == nil
}
