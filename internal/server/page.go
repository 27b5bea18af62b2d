// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
)

// nonceMark stands in the page's index where the nonce of a request belongs.
const nonceMark = "{{nonce}}"

// pagePolicy is of the page: scripts are files of the server, and styles are, too, or have the nonce of
// the request, which the libraries of the page put on theirs. It is completed with that nonce.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-%s'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
	"manifest-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"

// addPage serves the page: its files, and its index at every other path that a browser opens, as the
// page itself tells apart what is at /runs and what is at /suites.
func (s *Server) addPage() error {
	files := s.cfg.Page
	if files == nil {
		return nil
	}
	index, err := fs.ReadFile(files, "index.html")
	built := err == nil
	if errors.Is(err, fs.ErrNotExist) {
		index, err = fs.ReadFile(files, "unbuilt.html")
	}
	if err != nil {
		return fmt.Errorf("read the page: %w", err)
	}
	s.mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
		switch {
		case strings.HasPrefix(r.URL.Path, "/api/") || strings.HasPrefix(r.URL.Path, "/v1/"):
			writeProblem(w, http.StatusNotFound, "there is no such route; GET /api/docs lists them")
		case built && name != "index.html" && isFile(files, name):
			if strings.HasPrefix(name, "assets/") { // their names have a hash of what is in them
				w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
			} else { // the icon, which a browser asks for at each change of the address
				w.Header().Set("Cache-Control", "public, max-age=3600")
			}
			w.Header().Set("Vary", "Accept-Encoding")
			http.ServeFileFS(w, r, files, packed(w, r, files, name))
		case path.Ext(name) != "" && strings.HasPrefix(name, "assets/"):
			http.NotFound(w, r) // of another build: the page takes it for a sign to load itself anew
		default:
			writePage(w, index)
		}
	})
	return nil
}

// packed is the file as the build has compressed it, for a browser that takes it, with the headers that say so;
// else the file itself.
func packed(w http.ResponseWriter, r *http.Request, files fs.FS, name string) string {
	for _, as := range []struct{ encoding, end string }{{"br", ".br"}, {"gzip", ".gz"}} {
		if takes(r, as.encoding) && isFile(files, name+as.end) {
			w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
			w.Header().Set("Content-Encoding", as.encoding)
			return name + as.end
		}
	}
	return name
}

// writePage answers with the index, whose styles have a nonce of this answer alone.
func writePage(w http.ResponseWriter, index []byte) {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it does not fail
	nonce := base64.RawStdEncoding.EncodeToString(b[:])
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", fmt.Sprintf(pagePolicy, nonce))
	h.Set("Cache-Control", "no-store")
	_, _ = w.Write(bytes.ReplaceAll(index, []byte(nonceMark), []byte(nonce))) // who went away gets nothing
}

func isFile(files fs.FS, name string) bool {
	if !fs.ValidPath(name) {
		return false
	}
	info, err := fs.Stat(files, name)
	return err == nil && info.Mode().IsRegular()
}
