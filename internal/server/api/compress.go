// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package api

import (
	"compress/gzip"
	"mime"
	"net/http"
	"strings"
	"sync"
)

// packAbove is the least size of a response that is compressed, in bytes: a smaller one fits into
// one packet.
const packAbove = 1 << 10

// compressed compresses the responses of a handler with gzip if the client accepts it: texts that
// are large enough and that the handler has not compressed itself. Events are not delayed.
func compressed(next http.Handler) http.Handler {
	spare := &sync.Pool{New: func() any { return gzip.NewWriter(nil) }} // a compressor takes several hundred kilobytes
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead || r.Header.Get("Upgrade") != "" || !takes(r, "gzip") {
			next.ServeHTTP(w, r)
			return
		}
		p := &packing{ResponseWriter: w, spare: spare}
		defer p.end()
		next.ServeHTTP(p, r)
	})
}

// takes reports whether the client accepts an encoding.
func takes(r *http.Request, encoding string) bool {
	for _, part := range strings.Split(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		name, weight, _ := strings.Cut(strings.ReplaceAll(part, " ", ""), ";")
		if strings.EqualFold(name, encoding) {
			return strings.TrimRight(weight, ".0") != "q="
		}
	}
	return false
}

// packable reports whether compression makes a content type smaller and may delay it.
func packable(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	switch {
	case err != nil || kind == "text/event-stream":
		return false
	case strings.HasPrefix(kind, "text/"),
		strings.HasSuffix(kind, "json"), strings.HasSuffix(kind, "xml"), strings.HasSuffix(kind, "yaml"):
		return true
	}
	return kind == "application/javascript"
}

// packing is a response writer that compresses. Until the response is large enough, it keeps the
// status and the first bytes.
type packing struct {
	http.ResponseWriter
	spare  *sync.Pool // of *gzip.Writer
	status int
	begun  []byte
	plain  bool // nothing is compressed
	zip    *gzip.Writer
}

// WriteHeader keeps the status of a response that may be compressed.
func (p *packing) WriteHeader(code int) {
	switch h := p.Header(); {
	case p.plain || code < http.StatusOK: // 100 and 103 precede the response
		p.ResponseWriter.WriteHeader(code)
	case p.status != 0:
	case code == http.StatusNoContent || code == http.StatusNotModified || code == http.StatusPartialContent ||
		h.Get("Content-Encoding") != "" || !packable(h.Get("Content-Type")):
		p.plain = true
		p.ResponseWriter.WriteHeader(code)
	default:
		p.status = code
		h.Add("Vary", "Accept-Encoding")
	}
}

// Write compresses.
func (p *packing) Write(b []byte) (int, error) {
	if p.status == 0 && !p.plain {
		if p.Header().Get("Content-Type") == "" {
			p.Header().Set("Content-Type", http.DetectContentType(b))
		}
		p.WriteHeader(http.StatusOK)
	}
	switch {
	case p.plain:
		return p.ResponseWriter.Write(b)
	case p.zip != nil:
		return p.zip.Write(b)
	}
	if p.begun = append(p.begun, b...); len(p.begun) < packAbove {
		return len(b), nil
	}
	if err := p.pack(); err != nil {
		return 0, err
	}
	return len(b), nil
}

// pack begins to compress, with the kept bytes first.
func (p *packing) pack() error {
	h := p.Header()
	h.Set("Content-Encoding", "gzip")
	h.Del("Content-Length")
	p.ResponseWriter.WriteHeader(p.status)
	p.zip = p.spare.Get().(*gzip.Writer)
	p.zip.Reset(p.ResponseWriter)
	_, err := p.zip.Write(p.begun)
	p.begun = nil
	return err
}

// Flush sends the buffered bytes, of whatever size.
func (p *packing) Flush() {
	if p.status != 0 && p.zip == nil {
		_ = p.pack() // the next write returns the error
	}
	if p.zip != nil {
		_ = p.zip.Flush()
	}
	_ = http.NewResponseController(p.ResponseWriter).Flush()
}

// Unwrap returns the inner writer: http.ResponseController sets deadlines there.
func (p *packing) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// end sends the rest.
func (p *packing) end() {
	switch {
	case p.zip != nil:
		_ = p.zip.Close() // an error means that the client disconnected
		p.zip.Reset(nil)
		p.spare.Put(p.zip)
	case p.status != 0:
		p.ResponseWriter.WriteHeader(p.status)
		_, _ = p.ResponseWriter.Write(p.begun) // as above
	}
}
