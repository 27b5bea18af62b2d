// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package value

import (
	"fmt"
	"syscall"
	"testing"
)

// edge is memory that ends where none may be read.
type edge struct{ mem []byte }

func newEdge(t *testing.T, size int) edge {
	t.Helper()
	page := syscall.Getpagesize()
	size = (size/page + 1) * page
	m, err := syscall.Mmap(-1, 0, size+page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skip("no memory of its own:", err)
	}
	if err := syscall.Mprotect(m[size:], syscall.PROT_NONE); err != nil {
		t.Skip("memory cannot be closed:", err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(m); err != nil {
			t.Error(err)
		}
	})
	return edge{m[:size:size]}
}

// put gives a text with so many bytes of capacity after it, which are those of
// fill, and then the edge.
func (e edge) put(text string, after int, fill string) []byte {
	start := len(e.mem) - len(text) - after
	copy(e.mem[start:], text)
	for i := range after {
		e.mem[start+len(text)+i] = fill[i%len(fill)]
	}
	return e.mem[start : start+len(text)]
}

// TestEdge: texts cut anywhere, at the end of memory, are read as they are wherever
// they lie; whatever comes after them in memory belongs to nobody.
func TestEdge(t *testing.T) {
	e := newEdge(t, 4096)
	const other = `{"id" : "é", "n":123456789,"args":{"a":1.25,"b":[1,2,"x"],"a name that takes more than a few eights of bytes":{}},` +
		`"raw":"{\"a\":1.25,\"b\":[1,2,\"x\"],\"a name that takes more than a few eights of bytes\":{}}","gold":{"needed":null}}`
	for _, after := range []int{0, beyond - 1, beyond} {
		for _, fill := range []string{`"`, "1", "\n", `,"n":17`, line} {
			t.Run(fmt.Sprintf("%d %.4q", after, fill), func(t *testing.T) {
				d := expecting()
				for _, text := range []string{line, other, line} {
					for cut := range len(text) + 1 {
						same(t, d, e.put(text[:cut], after, fill))
						lines(t, d, e.put(text[:cut], after, text[cut:]+"x"))
					}
				}
			})
		}
	}
}

// TestEdgeSkim is TestEdge for lines that are skimmed, whole or cut.
func TestEdgeSkim(t *testing.T) {
	e := newEdge(t, 4096)
	for _, fill := range []string{`"`, "1", `,"n":17`, trace} {
		d := skimming()
		for round := range 3 {
			for cut := range len(trace) {
				skimmed(t, d, e.put(trace+"\n", beyond, fill))
				if _, ok := skimmed(t, d, e.put(trace[:len(trace)-cut]+"\n", beyond, fill)); round == 2 && ok != (cut == 0) {
					t.Fatalf("cut by %d, taken is %v", cut, ok)
				}
			}
		}
	}
}
