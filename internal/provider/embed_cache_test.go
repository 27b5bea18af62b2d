// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/provider"
	"github.com/callvet/callvet/retrieve"
)

func openCache(t testing.TB, path string, most int64) *provider.EmbedCache {
	t.Helper()
	c, err := provider.OpenEmbedCache(t.Context(), path, most)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// vectorOf is the vector of text i.
func vectorOf(i, width int) []float32 {
	v := make([]float32, width)
	for k := range v {
		v[k] = float32(math.Sin(float64(i*width + k)))
	}
	return v
}

func cacheKey(model string, i int) retrieve.VectorKey {
	return retrieve.VectorKeyOf(model, fmt.Sprint("text ", i))
}

func holds(t *testing.T, c *provider.EmbedCache, model string, i, width int) bool {
	t.Helper()
	v, ok := c.Get(cacheKey(model, i))
	if ok && !slices.Equal(v, vectorOf(i, width)) {
		t.Fatalf("text %d of %s has the wrong vector %v", i, model, v)
	}
	return ok
}

func TestCache(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new", "vectors")
	c := openCache(t, path, 0)
	for i := range 100 {
		c.Put(t.Context(), cacheKey("a", i), vectorOf(i, 8))
		c.Put(t.Context(), cacheKey("b", i), vectorOf(i, 3))
		c.Put(t.Context(), cacheKey("b", i), vectorOf(i+1, 3)) // is there
	}
	for _, c := range []*provider.EmbedCache{c, openCache(t, path, 0)} {
		for i := range 100 {
			if !holds(t, c, "a", i, 8) || !holds(t, c, "b", i, 3) {
				t.Fatalf("text %d is gone", i)
			}
		}
		if holds(t, c, "c", 1, 3) || c.Len() != 200 || c.Err() != nil {
			t.Errorf("%d vectors, %v", c.Len(), c.Err())
		}
	}
	if n, err := c.Remove(t.Context(), "a"); n != 100 || err != nil || holds(t, c, "a", 1, 8) ||
		!holds(t, c, "b", 1, 3) {
		t.Errorf("removed %d, %v", n, err)
	}
	if d := openCache(t, path, 0); d.Len() != 100 || holds(t, d, "a", 5, 8) {
		t.Errorf("%d vectors after removing", d.Len())
	}
	if err := c.Clear(t.Context()); err != nil || c.Len() != 0 || openCache(t, path, 0).Len() != 0 {
		t.Errorf("%d vectors after clearing, %v", c.Len(), err)
	}
	c.Put(t.Context(), cacheKey("a", 1), vectorOf(1, 8))
	if !holds(t, c, "a", 1, 8) {
		t.Error("nothing can be kept after clearing")
	}
	c.Put(t.Context(), cacheKey(strings.Repeat("m", 2000), 1), vectorOf(1, 8))
	c.Put(t.Context(), cacheKey("a", 2), nil)
	if c.Len() != 1 || c.Err() != nil {
		t.Errorf("%d vectors, %v", c.Len(), c.Err())
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	c.Put(t.Context(), cacheKey("a", 3), vectorOf(3, 8))
	if _, ok := c.Get(cacheKey("a", 1)); ok || !errors.Is(c.Err(), os.ErrClosed) {
		t.Errorf("after closing: %v", c.Err())
	}
}

// TestDamage: whatever happens to the bytes of the file, what is read is right or
// nothing, records that were not touched are found, and more can be kept.
func TestDamage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := openCache(t, filepath.Join(dir, "whole"), 0)
	const n, width = 6, 5
	for i := range n {
		c.Put(t.Context(), cacheKey("m", i), vectorOf(i, width))
	}
	whole, err := os.ReadFile(filepath.Join(dir, "whole"))
	if err != nil {
		t.Fatal(err)
	}
	size := len(whole) / n
	path := filepath.Join(dir, "damaged")
	rapid.Check(t, func(rt *rapid.T) {
		b := bytes.Clone(whole)
		from := rapid.IntRange(4, len(b)-1).Draw(rt, "from")
		to := rapid.IntRange(from, len(b)).Draw(rt, "to")
		switch rapid.SampledFrom([]string{"cut", "garble", "lose", "insert"}).Draw(rt, "how") {
		case "cut":
			b, to = b[:from], len(b)
		case "garble":
			for i := from; i < to; i++ {
				b[i] ^= 0x5a
			}
		case "lose":
			b = slices.Delete(b, from, to)
		case "insert":
			b, to = slices.Insert(b, from, whole[from:to]...), from
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			rt.Fatal(err)
		}
		c := openCache(t, path, 0)
		defer c.Close()
		c.Put(t.Context(), cacheKey("m", n), vectorOf(n, width))
		for _, c := range []*provider.EmbedCache{c, openCache(t, path, 0)} {
			for i := range n + 1 {
				touched := i < n && to > i*size && from < (i+1)*size || from == to && from > i*size && from < (i+1)*size
				if !holds(t, c, "m", i, width) && !touched {
					rt.Fatalf("text %d of %d bytes is gone after damage from %d to %d", i, size, from, to)
				}
			}
		}
	})
}

func TestBound(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "vectors")
	c := openCache(t, path, 10_000)
	for i := range 1000 {
		c.Put(t.Context(), cacheKey("m", i), vectorOf(i, 100))
		if info, err := os.Stat(path); err != nil || info.Size() > 10_000 {
			t.Fatalf("the file has %d bytes after %d vectors, %v", info.Size(), i+1, err)
		}
		if !holds(t, c, "m", i, 100) {
			t.Fatalf("the newest vector, %d, is gone", i)
		}
	}
	if n := c.Len(); n < 10 || n > 25 || holds(t, c, "m", 0, 100) {
		t.Errorf("%d vectors are left", n)
	}
	c.Put(t.Context(), cacheKey("m", 5000), vectorOf(5000, 5000))
	if holds(t, c, "m", 5000, 5000) || c.Err() != nil {
		t.Errorf("a vector larger than the bound: %v", c.Err())
	}
	if n := openCache(t, path, 2000).Len(); n < 1 || n > 4 {
		t.Errorf("%d vectors are left under a smaller bound", n)
	}
}

func TestRefusesOtherFiles(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "thesis.txt")
	if err := os.WriteFile(path, []byte("Chapter 1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := provider.OpenEmbedCache(t.Context(), path, 0); !errors.Is(err, callvet.ErrConflict) {
		t.Errorf("opened a file of something else: %v", err)
	}
	if b, _ := os.ReadFile(path); string(b) != "Chapter 1" {
		t.Errorf("and left %q of it", b)
	}
}

// TestProcesses: goroutines of two processes write at once, while a third removes
// another model, and nothing is lost.
func TestProcesses(t *testing.T) {
	if path := os.Getenv("CALLVET_DISK_CHILD"); path != "" {
		fill(t, openCache(t, path, 0), "theirs")
		return
	}
	t.Parallel()
	path := filepath.Join(t.TempDir(), "vectors")
	c := openCache(t, path, 0)
	child := exec.Command(os.Args[0], "-test.run", "^TestProcesses$")
	child.Env = append(os.Environ(), "CALLVET_DISK_CHILD="+path)
	var out bytes.Buffer
	child.Stdout, child.Stderr = &out, &out
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	fill(t, c, "ours")
	if err := child.Wait(); err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	d := openCache(t, path, 0)
	for i := range 400 {
		if !holds(t, d, "ours", i, 64) || !holds(t, d, "theirs", i, 64) {
			t.Fatalf("text %d is gone; there are %d vectors", i, d.Len())
		}
	}
}

func fill(t *testing.T, c *provider.EmbedCache, model string) {
	var g sync.WaitGroup
	for w := range 4 {
		g.Go(func() {
			for i := w; i < 400; i += 4 {
				c.Put(t.Context(), cacheKey(model, i), vectorOf(i, 64))
				if i%40 == 0 {
					c.Put(t.Context(), cacheKey("passing", i), vectorOf(i, 64))
					if _, err := c.Remove(t.Context(), "passing"); err != nil {
						t.Error(err)
					}
				}
				if !holds(t, c, model, i, 64) {
					t.Errorf("text %d is gone", i)
				}
			}
		})
	}
	g.Wait()
	if c.Err() != nil {
		t.Error(c.Err())
	}
}

func BenchmarkLoad(b *testing.B) {
	const n, width = 100_000, 384
	path := filepath.Join(b.TempDir(), "vectors")
	c := openCache(b, path, 0)
	keys, v := make([]retrieve.VectorKey, n), vectorOf(1, width)
	for i := range keys {
		keys[i] = cacheKey("m", i)
		c.Put(b.Context(), keys[i], v)
	}
	if c.Len() != n {
		b.Fatal(c.Len(), c.Err())
	}
	b.Run("open", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			openCache(b, path, 0).Close()
		}
	})
	b.Run("get", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, k := range keys {
				if _, ok := c.Get(k); !ok {
					b.Fatal("gone")
				}
			}
		}
	})
	b.Run("put", func(b *testing.B) {
		b.ReportAllocs()
		d := openCache(b, filepath.Join(b.TempDir(), "one"), 0)
		i := 0
		for b.Loop() {
			d.Put(b.Context(), cacheKey("m", i), v)
			i++
		}
	})
}
