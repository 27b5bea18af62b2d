// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/callvet/callvet/internal/sys"
)

var toldView = regexp.MustCompile(`http://127\.0\.0\.1:\d+/#view=\S+`)

// throughLink uses a link of callvet view, and returns what the server answers at paths.
func throughLink(t *testing.T, link string, paths ...string) string {
	t.Helper()
	base, token, _ := strings.Cut(link, "/#view=")
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar, Transport: &http.Transport{DisableKeepAlives: true}}
	type question struct{ method, path, body string }
	asks := []question{{http.MethodPost, "/api/session/view", `{"token":"` + token + `"}`}}
	for _, path := range paths {
		asks = append(asks, question{http.MethodGet, path, ""})
	}
	answer := ""
	for _, ask := range asks {
		req, err := http.NewRequestWithContext(t.Context(), ask.method, base+ask.path, strings.NewReader(ask.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%s %s: %d %s %v", ask.method, ask.path, res.StatusCode, b, err)
		}
		answer += string(b) + "\n"
	}
	return answer
}

// TestViewCommand: the page works next to a server of the same store, and shows runs that are made
// meanwhile.
func TestViewCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := &seat{dir: dir, env: map[string]string{"HOME": dir, "CALLVET_DB": filepath.Join(dir, "x.db")}}
	writeFiles(t, dir,
		map[string]string{"s.yaml": string(readFile(t, filepath.Join("..", "..", "examples"), "weather.yaml"))})
	var owner sys.Group
	t.Cleanup(owner.Wait)
	_, stop := s.serve(t, &owner)
	ctx, end := context.WithCancel(t.Context())
	stderr, code := &commandEvents{}, make(chan int, 1)
	owner.Go(func() { code <- s.run(ctx, stderr, "", "view") })
	link := ""
	for range 1000 {
		if link = toldView.FindString(stderr.String()); link != "" {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	out := &commandEvents{}
	if c := s.run(t.Context(), out, "", "run", "s.yaml", "-m", "offline/lexical", "-q"); c != exitOK {
		t.Fatalf("exit %d: %s", c, out)
	}
	if runs := throughLink(t, link, "/api/tool-eval/history", "/runs"); !strings.Contains(runs, "<html") ||
		!strings.Contains(runs, `"user_id":""`) || !strings.Contains(runs, `"status":"done"`) {
		t.Errorf("%s", runs)
	}
	end()
	if c := <-code; c != exitOK {
		t.Errorf("exit %d: %s", c, stderr)
	}
	if c := stop(); c != exitOK {
		t.Errorf("the server: exit %d", c)
	}
}
