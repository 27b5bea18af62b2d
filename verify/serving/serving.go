// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package serving starts callvet serve for checks over HTTP.
package serving

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Server is a process of callvet serve that has one user, an admin.
type Server struct {
	// Base is its address, such as http://127.0.0.1:41231; Token is the admin's token, with all scopes.
	Base, Token string
	cmd         *exec.Cmd
	output      *transcript
	ended       chan error
}

// Upload is a file that is sent as a form.
type Upload struct {
	Name string
	Text []byte
}

// transcript stores the output of a process.
type transcript struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (t *transcript) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.Write(b)
}

func (t *transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.String()
}

var firstLink = regexp.MustCompile(`callvet login '(http://\S+)/#claim=(\S+)'`)

// Start starts a server with the store callvet.db in dir, and logs its first admin in. Stop it.
func Start(ctx context.Context, binary, dir string, flags ...string) (*Server, error) {
	bin, err := filepath.Abs(binary)
	if err != nil {
		return nil, err
	}
	s := &Server{output: &transcript{}, ended: make(chan error, 1)}
	s.cmd = exec.CommandContext(ctx, bin,
		append([]string{"serve", "--listen", "127.0.0.1:0", "--db", filepath.Join(dir, "callvet.db")}, flags...)...)
	s.cmd.Dir, s.cmd.Stderr = dir, s.output
	s.cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { s.ended <- s.cmd.Wait() }()
	link, err := s.link(ctx)
	if err == nil {
		s.Base = link[1]
		s.Token, err = s.firstAdmin(ctx, link[2])
	}
	if err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// link waits for the link of the first admin.
func (s *Server) link(ctx context.Context) ([]string, error) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	late := time.After(time.Minute)
	for {
		if m := firstLink.FindStringSubmatch(s.output.String()); m != nil {
			return m, nil
		}
		select {
		case err := <-s.ended:
			s.ended <- err
			return nil, fmt.Errorf("callvet serve ended: %w\n%s", err, s.output)
		case <-late:
			return nil, fmt.Errorf("callvet serve printed no link:\n%s", s.output)
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick.C:
		}
	}
}

// firstAdmin uses the link, and makes a token.
func (s *Server) firstAdmin(ctx context.Context, link string) (string, error) {
	res, err := s.send(ctx, http.MethodPost, "/api/session/claim",
		map[string]any{"link": link, "name": "root", "password": "correct horse battery"}, nil)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	made, err := s.send(ctx, http.MethodPost, "/api/tokens",
		map[string]any{"name": "verify", "scopes": []string{"read", "run", "write", "admin"}}, res.Cookies())
	if err != nil {
		return "", err
	}
	defer made.Body.Close()
	var token struct {
		Secret string `json:"secret"`
	}
	err = json.NewDecoder(made.Body).Decode(&token)
	return token.Secret, err
}

// Ask sends JSON, or unchanged bytes (nil: no body), and reads JSON into out, unless it is nil.
func (s *Server) Ask(ctx context.Context, method, path string, in, out any) error {
	res, err := s.send(ctx, method, path, in, nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if out == nil {
		return nil
	}
	return json.NewDecoder(res.Body).Decode(out)
}

// Text returns the answer of an address.
func (s *Server) Text(ctx context.Context, path string) (string, error) {
	res, err := s.send(ctx, http.MethodGet, path, nil, nil)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return string(b), err
}

// send returns an answer with a status that is no error. The caller closes it.
func (s *Server) send(ctx context.Context, method, path string, in any,
	cookies []*http.Cookie,
) (*http.Response, error) {
	res, err := s.respond(ctx, method, path, in, cookies)
	if err != nil || res.StatusCode < http.StatusBadRequest {
		return res, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, 1<<16))
	return nil, errors.Join(fmt.Errorf("%s %s: %s: %s", method, path, res.Status, strings.TrimSpace(string(b))), err)
}

// Answer sends the same as Ask, or an Upload, and returns the status and the body, also of an error.
func (s *Server) Answer(ctx context.Context, method, path string, in any) (status int, body []byte, err error) {
	res, err := s.respond(ctx, method, path, in, nil)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	body, err = io.ReadAll(res.Body)
	return res.StatusCode, body, err
}

// respond returns the answer to a request. The caller closes it.
func (s *Server) respond(ctx context.Context, method, path string, in any,
	cookies []*http.Cookie,
) (*http.Response, error) {
	body, kind, err := encoded(in)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, s.Base+path, body)
	if err != nil {
		return nil, err
	}
	if in != nil {
		req.Header.Set("Content-Type", kind)
	}
	for _, c := range cookies {
		req.AddCookie(c)
	}
	if s.Token != "" {
		req.Header.Set("Authorization", "Bearer "+s.Token)
	}
	return http.DefaultClient.Do(req)
}

// encoded is a body with its content type.
func encoded(in any) (body io.Reader, kind string, err error) {
	const asJSON = "application/json"
	switch in := in.(type) {
	case nil:
		return nil, "", nil
	case []byte:
		return bytes.NewReader(in), asJSON, nil
	case Upload:
		var b bytes.Buffer
		form := multipart.NewWriter(&b)
		file, err := form.CreateFormFile("file", in.Name)
		if err == nil {
			_, err = file.Write(in.Text)
		}
		return &b, form.FormDataContentType(), errors.Join(err, form.Close())
	}
	b, err := json.Marshal(in)
	return bytes.NewReader(b), asJSON, err
}

// Spent returns the CPU time of the server so far; 0 on a system without /proc.
func (s *Server) Spent() time.Duration {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(b), ") ") // the name of the program, which may have blanks
	fields := strings.Fields(after)
	if len(fields) < 13 {
		return 0
	}
	user, err1 := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	if errors.Join(err1, err2) != nil {
		return 0
	}
	const tick = 10 * time.Millisecond // USER_HZ is 100 wherever Go runs
	return time.Duration(user+system) * tick
}

// Stop interrupts the server and waits until it has ended; the exit code must be 0.
func (s *Server) Stop() error {
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case err := <-s.ended:
		if err != nil {
			err = fmt.Errorf("callvet serve did not end in order: %w\n%s", err, tail(s.output.String()))
		}
		return err
	case <-time.After(time.Minute):
		return errors.Join(errors.New("callvet serve went on for a minute after its interrupt"),
			s.cmd.Process.Kill(), <-s.ended)
	}
}

// tail is the end of a long text.
func tail(text string) string {
	const most = 2000
	return text[max(0, len(text)-most):]
}
