// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package api

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

// nonceMark is the placeholder in the page's index for the nonce of a request.
const nonceMark = "{{nonce}}"

// pagePolicy is the content policy of the page. Scripts are files of the server. Styles are files
// of the server, or have the nonce of the request, which the page's libraries add to theirs.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-%s'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
	"manifest-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"

// AddPage serves the files of the page, and its index at every other path that a browser opens: the
// page routes /runs, /suites and so on itself.
func (s *Server) AddPage() error {
	files := s.Config.Page
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
	s.Mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
		switch {
		case strings.HasPrefix(r.URL.Path, "/api/") || strings.HasPrefix(r.URL.Path, "/v1/"):
			writeProblem(w, http.StatusNotFound, "there is no such route; GET /api/docs lists them")
		case built && name != "index.html" && isFile(files, name):
			if strings.HasPrefix(name, "assets/") { // their names contain a hash of the content
				w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
			} else { // the icon: browsers request it at each change of the address
				w.Header().Set("Cache-Control", "public, max-age=3600")
			}
			w.Header().Set("Vary", "Accept-Encoding")
			http.ServeFileFS(w, r, files, packed(w, r, files, name))
		case path.Ext(name) != "" && strings.HasPrefix(name, "assets/"):
			http.NotFound(w, r) // of another build: the page then reloads itself
		default:
			writePage(w, index)
		}
	})
	return nil
}

// packed is the name of the compressed file, with its headers set, if the browser accepts it;
// otherwise the name of the file.
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

// writePage writes the index with a new nonce for styles.
func writePage(w http.ResponseWriter, index []byte) {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it does not fail
	nonce := base64.RawStdEncoding.EncodeToString(b[:])
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", fmt.Sprintf(pagePolicy, nonce))
	h.Set("Cache-Control", "no-store")
	// An error means that the client disconnected.
	_, _ = w.Write(bytes.ReplaceAll(index, []byte(nonceMark), []byte(nonce)))
}

func isFile(files fs.FS, name string) bool {
	if !fs.ValidPath(name) {
		return false
	}
	info, err := fs.Stat(files, name)
	return err == nil && info.Mode().IsRegular()
}
