// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"sync"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/sys"
	"github.com/callvet/callvet/retrieve"
)

// DefaultMaxCache is the default size limit of a file, in bytes: 600,000 vectors of 384 numbers.
const DefaultMaxCache = 1 << 30

// place is the position of a record in the file.
type place struct {
	at   int64
	size int
}

// EmbedCache is a file of vectors. Safe for concurrent use.
type EmbedCache struct {
	path   string
	max    int64
	mu     sync.RWMutex
	lock   *os.File
	file   *os.File
	end    int64 // the position up to which the file was read
	places map[retrieve.VectorKey]place
	models map[string]string // one copy of each name
	failed error
}

var _ retrieve.VectorCache = (*EmbedCache)(nil)

// OpenEmbedCache opens the file, or creates it with its folder. max is its size limit in bytes; 0:
// DefaultMaxCache. If the file is not an embedding cache, the error wraps ErrConflict.
func OpenEmbedCache(ctx context.Context, path string, max int64) (*EmbedCache, error) {
	c := &EmbedCache{path: path, max: cmp.Or(max, DefaultMaxCache), models: map[string]string{}}
	if err := c.open(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open vectors %s: %w", path, err), c.Close())
	}
	return c, nil
}

func (c *EmbedCache) open(ctx context.Context) (err error) {
	if c.lock, err = sys.PrivateFile(c.path + ".lock"); err != nil {
		return err
	}
	if err := lock(c.lock); err != nil {
		return err
	}
	defer unlock(c.lock)
	if err := c.reopen(); err != nil {
		return err
	}
	if c.end > c.max {
		return c.shrink(ctx)
	}
	return nil
}

// reopen reads the file that is at the path now. The caller holds both locks.
func (c *EmbedCache) reopen() error {
	f, err := sys.PrivateFile(c.path)
	if err != nil {
		return err
	}
	head := make([]byte, len(mark))
	if n, _ := f.ReadAt(head, 0); string(head[:n]) != mark[:n] {
		return errors.Join(fmt.Errorf("it is no file of vectors: %w", callvet.ErrConflict), f.Close())
	}
	if c.file != nil {
		_ = c.file.Close()
	}
	c.file, c.end, c.places = f, 0, map[retrieve.VectorKey]place{}
	return c.catchUp()
}

// catchUp reads the records that any process has added since.
func (c *EmbedCache) catchUp() error {
	info, err := c.file.Stat()
	if err != nil || info.Size() == c.end {
		return err
	}
	if info.Size() < c.end { // another process truncated it
		c.end, c.places = 0, map[retrieve.VectorKey]place{}
	}
	part := io.NewSectionReader(c.file, c.end, info.Size()-c.end)
	err = scan(part, c.end, func(at int64, record []byte) {
		text, model, _, _ := parse(record)
		c.places[retrieve.VectorKey{Model: c.name(model), Text: text}] = place{at, len(record)}
	})
	if err == nil {
		c.end = info.Size()
	}
	return err
}

func (c *EmbedCache) name(model []byte) string {
	s, ok := c.models[string(model)]
	if !ok {
		s = string(model)
		c.models[s] = s
	}
	return s
}

// Len is the number of vectors.
func (c *EmbedCache) Len() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.places)
}

// CachedModel is the share of one model in the file.
type CachedModel struct {
	Model   string `json:"model"`
	Vectors int    `json:"vectors"`
	// Bytes is the size of its records.
	Bytes int64 `json:"bytes"`
}

// Models lists the stored vectors of each model, by name.
func (c *EmbedCache) Models() []CachedModel {
	c.mu.RLock()
	defer c.mu.RUnlock()
	by := map[string]*CachedModel{}
	for k, p := range c.places {
		m := by[k.Model]
		if m == nil {
			m = &CachedModel{Model: k.Model}
			by[k.Model] = m
		}
		m.Vectors++
		m.Bytes += int64(p.size)
	}
	out := make([]CachedModel, 0, len(by))
	for _, name := range slices.Sorted(maps.Keys(by)) {
		out = append(out, *by[name])
	}
	return out
}

// Get reads the vector of a key from the file and checks its checksum.
func (c *EmbedCache) Get(k retrieve.VectorKey) ([]float32, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	p, ok := c.places[k]
	if !ok || c.file == nil {
		return nil, false
	}
	b := make([]byte, p.size)
	if _, err := c.file.ReadAt(b, p.at); err != nil {
		return nil, false
	}
	text, model, floats, ok := parse(b)
	if !ok || text != k.Text || string(model) != k.Model {
		return nil, false
	}
	return readFloats(floats), true
}

// Put appends a vector. It ignores a vector that is already stored, empty or too long. If the write
// fails, see Err.
func (c *EmbedCache) Put(ctx context.Context, k retrieve.VectorKey, v []float32) {
	if len(k.Model) > maxName || len(v) == 0 || len(v) > maxFloats {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.exclusive(func() error { return c.put(ctx, k, v) }); err != nil && c.failed == nil {
		c.failed = fmt.Errorf("keep vector: %w", err)
	}
}

func (c *EmbedCache) put(ctx context.Context, k retrieve.VectorKey, v []float32) error {
	if _, ok := c.places[k]; ok {
		return nil
	}
	record := appendRecord(make([]byte, 0, recordHead+len(k.Model)+4*len(v)), k, v)
	if c.end+int64(len(record)) > c.max {
		if err := c.shrink(ctx); err != nil {
			return err
		}
		if c.end+int64(len(record)) > c.max {
			return nil
		}
	}
	n, err := c.file.WriteAt(record, c.end)
	if err == nil {
		c.places[retrieve.VectorKey{Model: c.name([]byte(k.Model)), Text: k.Text}] = place{c.end, n}
	}
	c.end += int64(n)
	return err
}

// exclusive calls do while no other process writes, after reading the records of others.
func (c *EmbedCache) exclusive(do func() error) error {
	if c.file == nil {
		return os.ErrClosed
	}
	if err := lock(c.lock); err != nil {
		return err
	}
	defer unlock(c.lock)
	ours, err := c.file.Stat()
	if err != nil {
		return err
	}
	if now, err := os.Stat(c.path); err != nil || !os.SameFile(ours, now) {
		err = c.reopen()
		if err != nil {
			return err
		}
	} else if err := c.catchUp(); err != nil {
		return err
	}
	return do()
}

// shrink keeps the newest records that fit into half of the limit.
func (c *EmbedCache) shrink(ctx context.Context) error {
	newest := make([]place, 0, len(c.places))
	for _, p := range c.places {
		newest = append(newest, p)
	}
	slices.SortFunc(newest, func(a, b place) int { return cmp.Compare(b.at, a.at) })
	room, from := c.max/2, c.end
	for _, p := range newest {
		if room -= int64(p.size); room < 0 {
			break
		}
		from = p.at
	}
	return c.rewrite(ctx, func(_ retrieve.VectorKey, p place) bool { return p.at >= from })
}

// rewrite replaces the file by one with the kept records.
func (c *EmbedCache) rewrite(ctx context.Context, stays func(k retrieve.VectorKey, p place) bool) (err error) {
	keep := make([]place, 0, len(c.places))
	for k, p := range c.places {
		if stays(k, p) {
			keep = append(keep, p)
		}
	}
	slices.SortFunc(keep, func(a, b place) int { return cmp.Compare(a.at, b.at) })
	err = sys.WriteFile(ctx, c.path, func(w io.Writer) error {
		for _, p := range keep {
			if _, err := io.Copy(w, io.NewSectionReader(c.file, p.at, int64(p.size))); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return c.reopen()
}

// Remove removes all vectors of a model, and returns their number. Other processes notice at their
// next write.
func (c *EmbedCache) Remove(ctx context.Context, model string) (int, error) {
	n := 0
	err := c.drop(ctx, func(k retrieve.VectorKey) bool {
		if k.Model == model {
			n++
			return true
		}
		return false
	})
	if err != nil {
		return 0, fmt.Errorf("remove vectors of %s: %w", model, err)
	}
	return n, nil
}

// Clear removes all vectors.
func (c *EmbedCache) Clear(ctx context.Context) error {
	if err := c.drop(ctx, func(retrieve.VectorKey) bool { return true }); err != nil {
		return fmt.Errorf("clear vectors: %w", err)
	}
	return nil
}

func (c *EmbedCache) drop(ctx context.Context, goes func(retrieve.VectorKey) bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.exclusive(func() error {
		return c.rewrite(ctx, func(k retrieve.VectorKey, _ place) bool { return !goes(k) })
	})
}

// Err is the first failure to store a vector; nil if none.
func (c *EmbedCache) Err() error {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.failed
}

// Close closes the file. Afterwards nothing is found or stored.
func (c *EmbedCache) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var err error
	if c.file != nil {
		err = c.file.Close()
	}
	if c.lock != nil {
		err = errors.Join(err, c.lock.Close())
	}
	c.file, c.lock, c.places = nil, nil, nil
	return err
}
