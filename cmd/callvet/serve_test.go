// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/sys"
)

// commandEvents are the events of a command.
type commandEvents struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (h *commandEvents) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.Write(b)
}

func (h *commandEvents) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.String()
}

// seat is a directory and an environment for commands.
type seat struct {
	dir string
	env map[string]string
}

func (s *seat) run(ctx context.Context, out io.Writer, in string, args ...string) int {
	a := &cli{
		in: strings.NewReader(in), out: out, err: out, dir: s.dir, process: sys.UnwatchedProcess(out, out), now: time.Now,
		getenv: func(k string) string { return s.env[k] },
	}
	return a.run(ctx, a.rootCommand(), args)
}

// serve starts a server and waits until it answers; stop ends it and returns its exit code.
func (s *seat) serve(t *testing.T, owner *sys.Group, args ...string) (stderr *commandEvents, stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	stderr, code := &commandEvents{}, make(chan int, 1)
	owner.Go(func() {
		code <- s.run(ctx, stderr, "",
			append([]string{"serve", "--listen", "127.0.0.1:0", "--log-format", "json"}, args...)...)
	})
	for range 1000 {
		if strings.Contains(stderr.String(), "serving http") {
			break
		}
		select {
		case c := <-code:
			t.Fatalf("exit %d: %s", c, stderr)
		case <-time.After(10 * time.Millisecond):
		}
	}
	return stderr, func() int {
		cancel()
		return <-code
	}
}

var startLink = regexp.MustCompile(`callvet login '(https?://\S+#claim=\S+)'`)

// TestServe: a server is started, and its first admin logs in by the link, and after a restart by a
// password. A token is kept where no other user can read it, and ended.
func TestServe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := &seat{dir: dir, env: map[string]string{"HOME": dir, "CALLVET_DB": filepath.Join(dir, "x.db")}}
	var owner sys.Group
	t.Cleanup(owner.Wait)
	start := func(args ...string) (stderr *commandEvents, stop func() int) { return s.serve(t, &owner, args...) }
	types := func(in string, want int, args ...string) string {
		t.Helper()
		var out bytes.Buffer
		if code := s.run(t.Context(), &out, in, args...); code != want {
			t.Fatalf("%v: exit %d: %s", args, code, out.String())
		}
		return out.String()
	}
	const password = "correct horse battery"

	stderr, stop := start()
	var link string
	for range 1000 {
		if m := startLink.FindStringSubmatch(stderr.String()); m != nil {
			link = m[1]
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	base, secret, _ := strings.Cut(link, "/#claim=")
	if out := types(password+"\nroot\n", exitOK, "login", link); !strings.Contains(out, "as root (admin)") {
		t.Errorf("%s", out)
	}
	if out := types(password+"\nother\n", exitError, "login", link); !strings.Contains(out, "denied") {
		t.Errorf("the link was used twice: %s", out)
	}
	file := filepath.Join(dir, ".config", "callvet", "tokens.json")
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	a := &cli{getenv: func(k string) string { return s.env[k] }, now: time.Now}
	_, token, err := a.remoteToken(base)
	if err != nil {
		t.Fatal(err)
	}
	whoami := func(token string) int {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/api/users", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		return res.StatusCode
	}
	if code := whoami(token); code != http.StatusOK {
		t.Errorf("the token: %d", code)
	}
	if out := types("root\nnot the password\n", exitError, "login", base); !strings.Contains(out, "denied") ||
		strings.Contains(out, "not the password") {
		t.Errorf("%s", out)
	}
	if code := stop(); code != exitOK || !strings.Contains(stderr.String(), "interrupted; the server has ended") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	for _, s := range []string{password, token, "not the password"} {
		if strings.Contains(stderr.String(), s) {
			t.Errorf("%q was logged", s)
		}
	}
	if strings.Count(stderr.String(), secret) != 1 ||
		!strings.Contains(stderr.String(), `"path":"/api/session/claim"`) {
		t.Errorf("the link is printed once, and requests are logged:\n%s", stderr)
	}

	stderr, stop = start("--allow-private", "models.internal")
	base = regexp.MustCompile(`serving (http://\S+) `).FindStringSubmatch(stderr.String())[1]
	if strings.Contains(stderr.String(), "claim=") {
		t.Errorf("a link for another first admin: %s", stderr)
	}
	if code := whoami(token); code != http.StatusOK {
		t.Errorf("the token after a restart: %d", code)
	}
	types("root\n"+password+"\n", exitOK, "login", base)
	_, second, err := a.remoteToken(base)
	if err != nil || second == token {
		t.Errorf("%v", err)
	}
	types("", exitOK, "logout", base)
	if code := whoami(second); code != http.StatusUnauthorized {
		t.Errorf("after logout: %d", code)
	}
	if _, _, err := a.remoteToken(base); !errors.Is(err, callvet.ErrDenied) {
		t.Errorf("%v", err)
	}
	if out := types("", exitOK, "logout", base); !strings.Contains(out, "no user was logged in") {
		t.Errorf("%s", out)
	}
	types("\n"+token+"\n", exitOK, "login", base)
	if _, kept, err := a.remoteToken(base); err != nil || kept != token {
		t.Errorf("%v", err)
	}
	types("", exitOK, "logout", base)
	if code := whoami(token); code != http.StatusOK {
		t.Errorf("a token that was given, not made, was ended: %d", code)
	}
	if code := stop(); code != exitOK {
		t.Errorf("exit %d", code)
	}

	// The key that seals others is private, and needed.
	key := filepath.Join(dir, "x.db.key")
	if info, err := os.Stat(key); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := os.Chmod(key, 0o644); err != nil {
		t.Fatal(err)
	}
	if out := types("", exitUsage, "serve", "--listen", "127.0.0.1:0"); !strings.Contains(out, "chmod 600") {
		t.Errorf("%s", out)
	}
	if err := errors.Join(os.Chmod(key, 0o600), os.WriteFile(key, []byte("c2hvcnQ=\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if out := types("", exitUsage, "serve", "--listen", "127.0.0.1:0"); !strings.Contains(out, "is not 32 bytes") ||
		strings.Contains(out, "c2hvcnQ") {
		t.Errorf("%s", out)
	}
}

// TestUnracedServeTLS: only clients that trust it use a server with its own certificate.
func TestUnracedServeTLS(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts processes")
	}
	dir := t.TempDir()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA:        true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	cert, err := x509.CreateCertificate(rand.Reader, of, of, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	writeFiles(t, dir, map[string]string{
		"cert.pem": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})),
		"key.pem":  string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: sealed})),
	})
	s := &seat{dir: dir, env: map[string]string{"HOME": dir, "CALLVET_DB": filepath.Join(dir, "x.db")}}
	var owner sys.Group
	t.Cleanup(owner.Wait)
	stderr, stop := s.serve(t, &owner, "--tls-cert", "cert.pem", "--tls-key", "key.pem")
	var link []string
	for deadline := time.Now().Add(10 * time.Second); link == nil && time.Now().Before(deadline); {
		link = startLink.FindStringSubmatch(stderr.String())
	}
	if link == nil || !strings.HasPrefix(link[1], "https://") {
		t.Fatalf("no link: %s", stderr)
	}
	base, _, _ := strings.Cut(link[1], "/#claim=")

	// Which certificates are trusted is read once for a process.
	types := func(in string, want int, trust string, args ...string) string {
		t.Helper()
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), self)
		cmd.Args, cmd.Dir, cmd.Stdin = append([]string{"callvet"}, args...), dir, strings.NewReader(in)
		cmd.Env = append(os.Environ(), "HOME="+dir, "CALLVET_DB="+filepath.Join(dir, "y.db"), "SSL_CERT_FILE="+trust)
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != want {
			t.Fatalf("%v: exit %d, want %d: %s", args, code, want, out)
		}
		return string(out)
	}
	trusted := filepath.Join(dir, "cert.pem")
	const login = "correct horse battery\nroot\n"
	if out := types(login, exitError, "/dev/null", "login", link[1]); !strings.Contains(out, "certificate") ||
		!strings.Contains(out, "SSL_CERT_FILE") || strings.Contains(out, "callvet serve") {
		t.Errorf("a stranger's certificate: %s", out)
	}
	types(login, exitOK, trusted, "login", link[1])
	abs, err := filepath.Abs(filepath.Join("..", "..", "examples", "weather.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if out := types("", exitOK, trusted, "run", abs, "-m", "offline/lexical", "--remote", base); !strings.Contains(out,
		"judged attempts") {
		t.Errorf("run: %s", out)
	}
	if code := stop(); code != exitOK {
		t.Errorf("exit %d", code)
	}
	plain, _ := s.serve(t, &owner)
	address := regexp.MustCompile(`serving http://(\S+)`).FindStringSubmatch(plain.String())
	if out := types(login, exitError, trusted, "login", "https://"+address[1]); !strings.Contains(out,
		"write http://") {
		t.Errorf("https to a server that speaks http: %s", out)
	}
}
