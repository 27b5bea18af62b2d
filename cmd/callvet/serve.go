// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/server"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/sys"
	"github.com/callvet/callvet/web"
)

// serveFlags are the flags of the server's address and of its users' permissions.
type serveFlags struct {
	listen, url     string
	cert, key       string
	proxies, hosts  []string
	secretKey       string
	logFormat       string
	private         []string
	files           string
	exec, lendsKeys bool
	sockets         int
	quota           map[string]int64
	metricsOpen     bool
	models          account.Models
}

func (f *serveFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.listen, "listen", "127.0.0.1:8501", "address to listen at; with port 0 a free one")
	fs.StringVar(&f.url, "url", "",
		"address for users, such as https://eval.example.com (default: that of --listen)")
	fs.StringVar(&f.cert, "tls-cert", "", "file with the certificate of the server, and those above it")
	fs.StringVar(&f.key, "tls-key", "", "file with the key of the certificate")
	fs.StringSliceVar(&f.proxies, "trust-proxy", nil,
		"address or network of a proxy before the server: its X-Forwarded-For is believed; may be repeated")
	fs.StringSliceVar(&f.hosts, "allow-host", nil, "further name under which the server may be asked; may be repeated")
	fs.StringVar(&f.secretKey, "secret-key", "",
		"file with the key that seals keys of providers, made if missing "+
			"(default: next to the database, or $CALLVET_SECRET_KEY)")
	fs.StringVar(&f.logFormat, "log-format", "text", "text or json")
	fs.StringSliceVar(&f.private, "allow-private", nil,
		"host that targets may be at although its address is private, or all; may be repeated")
	fs.StringVar(&f.files, "allow-files", "", "folder with the files that targets may read (script:, recorded:)")
	fs.BoolVar(&f.exec, "allow-exec", false, "let targets be commands on this machine (exec:)")
	fs.BoolVar(&f.lendsKeys, "lend-keys", false,
		"let users without a key of a provider use that of the environment, at that provider alone")
	fs.StringVar(&f.models.Embedder, "embedder", "",
		"default model that compares texts in mode semantic, such as openai/text-embedding-3-small")
	fs.StringVar(&f.models.Embed, "embed", "",
		"default model that makes vectors of a search, such as openai:text-embedding-3-small")
	fs.StringVar(&f.models.Rerank, "rerank", "",
		"default model that orders the best tools of a search, such as cohere:rerank-v3.5")
	fs.BoolVar(&f.metricsOpen, "metrics-open", false,
		"let all clients read GET /metrics, not only admins")
	fs.StringToInt64Var(&f.quota, "quota", nil,
		"what a user may hold at most, such as jobs=1000,suites=10000,experiments=5000,bytes=4294967296,attempt_bytes=17179869184")
	fs.Var(wholeFlag(&f.sockets, api.DefaultSockets, 1), "sockets-per-user",
		"connections of a user that follow events at the same time")
}

const serveLong = `Serve callvet over HTTP to several users: they log in, keep suites and keys of providers, and run evaluations.

While there are no users, the server prints a link that works once: who uses it (callvet login LINK) is the first admin. Admins
invite others. Until then the server listens on this machine alone.

Targets of users reach public addresses only, read no file and run no command, unless a flag or an admin allows it.`

// serveCommand serves until it is interrupted.
func (a *cli) serveCommand() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use: "serve", Short: "Serve callvet over HTTP to several users", Long: serveLong, Args: cobra.NoArgs,
		Example: "  callvet serve\n  callvet serve --listen :8501 --url https://eval.example.com --trust-proxy 127.0.0.1 --allow-host eval.example.com\n  callvet serve --allow-private models.internal --lend-keys",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context(), &f) },
	}
	f.register(cmd.Flags())
	return cmd
}

// serve answers until ctx ends.
func (a *cli) serve(ctx context.Context, f *serveFlags) (err error) {
	cfg, err := f.config()
	if err != nil {
		return err
	}
	logger, err := f.logger(a.err)
	if err != nil {
		return err
	}
	db, release, err := a.onlyServer(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	secret, err := a.secretKey(ctx, f.secretKey, true)
	if err != nil {
		return err
	}
	allowed, err := f.allowed()
	if err != nil {
		return err
	}
	users, err := account.New(account.Config{Store: db, Secret: secret, Allowed: allowed, Now: a.now, Log: logger})
	if err != nil {
		return err
	}
	if err := a.mayListen(ctx, users, f.listen); err != nil {
		return err
	}
	l, err := f.listener(ctx, &cfg, a)
	if err != nil {
		return err
	}
	files := server.UserFiles{}
	if f.files != "" {
		files.Root = a.path(f.files)
	}
	base := app.Config{
		Store: a.openStore, Files: files, Getenv: a.getenv, Environ: a.environ, Now: a.now,
		Claim: a.claim, Vectors: a.vectorPath, Abort: a.process.Hard.Done(), Version: buildVersion(),
		Browser: a.getenv("CALLVET_CHROMIUM"),
	}
	cfg.Accounts, cfg.Store, cfg.Log, cfg.Now, cfg.Version, cfg.Work = users, db, logger, a.now, buildVersion(), base
	base.Getenv = nil
	base.Environ = slices.DeleteFunc(slices.Clone(a.environ), func(kv string) bool {
		return !strings.HasPrefix(kv, "PATH=") // the browser that prints reports is a script on some machines
	})
	cfg.App = app.New(base)
	if cfg.Page, err = web.Files(); err != nil {
		return fmt.Errorf("open the page: %w", err)
	}
	srv, err := server.New(cfg)                  //nolint:contextcheck // handlers have the context of their request
	a.process.Patient(api.Drain + 2*time.Second) // the store is closed after this
	a.process.OnInterrupt("interrupted; the server has ended")
	if err == nil { // from here on, an interrupt ends it normally
		err = a.tellServer(context.WithoutCancel(ctx), users, &cfg, l)
	}
	if err != nil {
		return errors.Join(err, l.Close())
	}
	err = server.Serve(ctx, srv, l)
	a.drained = err == nil && a.process.Hard.Err() == nil
	return err
}

// onlyServer opens the database and locks it against a second server, which would treat the jobs
// of the first as left over from a crash.
func (a *cli) onlyServer(ctx context.Context) (db *store.DB, release func() error, err error) {
	db, err = a.openStore(ctx)
	if err != nil {
		return nil, nil, err
	}
	c, err := a.claim()
	if err != nil {
		return nil, nil, err
	}
	release, err = db.Serve(c)
	if errors.As(err, new(*store.ServedError)) {
		err = &callvet.Hinted{
			Err:  fmt.Errorf("serve: %w", err),
			Hint: "end that server first, or name another database with --db",
		}
	}
	return db, release, err
}

// config is the server's configuration of addresses.
func (f *serveFlags) config() (api.Config, error) {
	cfg := api.Config{Hosts: f.hosts, Sockets: f.sockets, MetricsOpen: f.metricsOpen}
	if f.url != "" {
		u, err := url.Parse(f.url)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil ||
			u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "" {
			return cfg, usagef("--url %s: write scheme and host, such as https://eval.example.com", f.url)
		}
		cfg.URL = &url.URL{Scheme: u.Scheme, Host: u.Host}
	}
	for _, p := range f.proxies {
		at, err := netip.ParsePrefix(p)
		if err != nil {
			var one netip.Addr
			if one, err = netip.ParseAddr(p); err != nil {
				return cfg, usagef("--trust-proxy %s: write an address, or a network such as 10.0.0.0/8", p)
			}
			at = netip.PrefixFrom(one, one.BitLen())
		}
		cfg.Proxies = append(cfg.Proxies, at)
	}
	for name, n := range f.quota {
		of := map[string]*int64{
			"jobs": &cfg.Quota.Jobs, "suites": &cfg.Quota.Suites, "experiments": &cfg.Quota.Experiments,
			"bytes": &cfg.Quota.Bytes, "attempt_bytes": &cfg.Quota.AttemptBytes,
		}[name]
		if of == nil || n < 1 {
			return cfg,
				usagef("--quota %s=%d: there are jobs, suites, experiments, bytes and attempt_bytes, each at least 1",
					name, n)
		}
		*of = n
	}
	if (f.cert == "") != (f.key == "") {
		return cfg, usagef("--tls-cert and --tls-key belong together")
	}
	return cfg, nil
}

// logger is the log of requests, on standard error.
func (f *serveFlags) logger(w io.Writer) (*slog.Logger, error) {
	switch f.logFormat {
	case "text":
		return slog.New(slog.NewTextHandler(w, nil)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, nil)), nil
	}
	return nil, usagef("--log-format %s: there are text and json", f.logFormat)
}

// allowed are the users' permissions of the flags.
func (f *serveFlags) allowed() (account.Allowed, error) {
	out := account.Allowed{ServerKeys: f.lendsKeys, Commands: f.exec, Files: f.files != "", Models: f.models}
	if err := f.models.Check(); err != nil {
		return out, err
	}
	for _, h := range f.private {
		if h == "all" {
			out.Private = true
			continue
		}
		name, err := account.Host(h)
		if err != nil {
			return out, usagef("--allow-private %s: write a name or an address without a port, or all", h)
		}
		out.Hosts = append(out.Hosts, name)
	}
	return out, nil
}

// local reports whether a listening address is reachable only from this machine.
func local(listen string) (bool, error) {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false, usagef("--listen %s: write an address with a port, such as 127.0.0.1:8501", listen)
	}
	at, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && at.Unmap().IsLoopback(), nil
}

// mayListen refuses to open a server without users to other machines: the first visitor would
// become the admin.
func (a *cli) mayListen(ctx context.Context, users *account.Accounts, listen string) error {
	own, err := local(listen)
	if err != nil || own {
		return err
	}
	there, err := users.HasUsers(ctx)
	if err == nil && !there {
		err = &callvet.Hinted{
			Err:  usagef("--listen %s: other machines would reach a server that has no admin yet", listen),
			Hint: "callvet serve --listen 127.0.0.1:8501, use the link that it prints, then start it again with --listen " + listen,
		}
	}
	return err
}

// listener listens, and sets the fields of cfg that depend on the address.
func (f *serveFlags) listener(ctx context.Context, cfg *api.Config, a *cli) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", f.listen)
	if err != nil {
		return nil, &callvet.Hinted{Err: fmt.Errorf("listen: %w", err), Hint: "--listen 127.0.0.1:0 takes a free port"}
	}
	scheme := "http"
	if f.cert != "" {
		pair, err := tls.LoadX509KeyPair(a.path(f.cert), a.path(f.key))
		if err != nil {
			return nil, errors.Join(fmt.Errorf("read --tls-cert and --tls-key: %w: %w", callvet.ErrInvalid, err),
				l.Close())
		}
		l, scheme = tls.NewListener(l,
			&tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}), "https"
	}
	at, err := netip.ParseAddrPort(l.Addr().String())
	cfg.Local = err == nil && at.Addr().Unmap().IsLoopback()
	if cfg.URL == nil {
		cfg.URL = &url.URL{Scheme: scheme, Host: l.Addr().String()}
		if err == nil && at.Addr().IsUnspecified() {
			cfg.URL.Host = net.JoinHostPort("localhost", fmt.Sprint(at.Port()))
		}
	}
	return l, nil
}

// tellServer prints the address of the server, the first admin's login link, and warnings.
func (a *cli) tellServer(ctx context.Context, users *account.Accounts, cfg *api.Config, l net.Listener) error {
	fmt.Fprintf(a.err, "serving %s (listening at %s); Ctrl-C ends it\n", plain.Line(cfg.URL.String()), l.Addr())
	if !cfg.Local && cfg.URL.Scheme == "http" {
		fmt.Fprintln(a.err,
			"warning: passwords and keys travel over plain http, where others can read them: give --tls-cert and --tls-key, or --url https://… of a proxy")
	}
	lost, all, err := users.LostKeys(ctx)
	if err != nil {
		return err
	}
	if lost > 0 {
		fmt.Fprintf(a.err,
			"warning: %d of %s cannot be read: they were sealed with another secret key. Restore it (--secret-key), or have their users set them again\n", lost, plain.Count(all, "key of a provider", "keys of providers"))
	}
	secret, err := users.FirstLink(ctx)
	if err != nil || secret == "" {
		return err
	}
	link := cfg.URL.String() + "/#claim=" + secret
	_, err = fmt.Fprintf(a.err,
		"no users yet. This link makes the first admin, once, within 24 hours:\n  callvet login '%s'\n", link)
	return err
}

// secretKey reads the key that encrypts keys of providers, and makes it at the first start. It is
// in a file next to the database, so that a copy of the database alone reveals no keys.
func (a *cli) secretKey(ctx context.Context, name string, fresh bool) ([]byte, error) {
	if text := a.getenv("CALLVET_SECRET_KEY"); text != "" && name == "" {
		return sealingKey("$CALLVET_SECRET_KEY", text)
	}
	path := a.path(name)
	if name == "" {
		db, err := a.storePath()
		if err != nil {
			return nil, err
		}
		path = db + ".key"
	}
	if _, err := os.Stat(path); err != nil && !fresh {
		return nil, fmt.Errorf("open secret key: %w", err)
	}
	release, err := sys.HoldFolder(ctx, path) // another server may start at the same time
	if errors.Is(err, fs.ErrNotExist) {
		release, err = func() error { return nil }, nil
	}
	if err != nil {
		return nil, err
	}
	key, err := readSecretKey(path)
	return key, errors.Join(err, release())
}

// readSecretKey reads a file with a key, and makes one if there is none.
func readSecretKey(path string) (key []byte, err error) {
	f, err := sys.PrivateFile(path)
	if err != nil {
		return nil, fmt.Errorf("open secret key: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("open secret key: %w", err)
	}
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode&0o077 != 0 {
		return nil, &callvet.Hinted{Err: fmt.Errorf("open secret key: %w: others may read %s (mode %04o)",
			callvet.ErrInvalid, path, mode), Hint: "chmod 600 " + plain.ShellQuote(path)}
	}
	const most = 1000
	b, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return nil, fmt.Errorf("read secret key: %w", err)
	}
	if len(b) > 0 {
		return sealingKey(path, string(b))
	}
	key = make([]byte, account.SecretSize)
	if _, err := rand.Read(key); err != nil {
		return nil, fmt.Errorf("make secret key: %w", err)
	}
	if _, err := io.WriteString(f, base64.StdEncoding.EncodeToString(key)+"\n"); err != nil {
		return nil, fmt.Errorf("write secret key: %w", err)
	}
	return key, f.Sync()
}

// sealingKey reads the text of a key.
func sealingKey(from, text string) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil || len(key) != account.SecretSize {
		return nil, &callvet.Hinted{
			Err: fmt.Errorf("read secret key: %w: %s is not %d bytes in Base64",
				callvet.ErrInvalid, from, account.SecretSize),
			Hint: "openssl rand -base64 32 makes one; keys of providers that are kept need the one that sealed them",
		}
	}
	return key, nil
}
