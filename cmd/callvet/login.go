// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/cmd/callvet/process"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/file"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/server"
)

const loginLong = `Log in to a server (callvet serve), and keep a token for it.

URL is the address of the server, or a one-time link that an admin gave you: then you choose a password. Otherwise you are
asked for your name and password, or, with an empty name, for a token. The token is kept in a file that only you
can read, and ends after 90 days or with callvet logout. $CALLVET_TOKEN stands in its place where it is set.`

// loginFlags say how somebody logs in.
type loginFlags struct {
	name  string
	plain bool
}

// loginCommand logs in to a server.
func (a *cli) loginCommand() *cobra.Command {
	var f loginFlags
	cmd := &cobra.Command{
		Use: "login URL", Short: "Log in to a server", Long: loginLong, Args: cobra.ExactArgs(1),
		Example: "  callvet login https://eval.example.com\n  callvet login 'http://127.0.0.1:8501/#claim=cvlink_…'",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.login(cmd.Context(), args[0], &f) },
	}
	fs := cmd.Flags()
	fs.StringVar(&f.name, "name", "", "what the token is called (default: callvet, and the name of this machine)")
	fs.BoolVar(&f.plain, "plain-http", false, "send the password over plain http to another machine, where others can read it")
	return cmd
}

// logoutCommand forgets a server.
func (a *cli) logoutCommand() *cobra.Command {
	return &cobra.Command{
		Use: "logout URL", Short: "Log out of a server: end the token that is kept for it", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.logout(cmd.Context(), args[0]) },
	}
}

// remote is a server as a client of it.
type remote struct {
	base  string // scheme and host
	http  *http.Client
	token string
	// cookie is that of a session, which lives for this command only.
	cookie string
}

// serverAddress reads the address of a server, and the secret of a one-time link.
func serverAddress(text string) (base, claim string, err error) {
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return "", "", usagef("this is no address of a server: write one such as https://eval.example.com")
	}
	claim, _ = strings.CutPrefix(u.Fragment, "claim=")
	if claim == u.Fragment {
		claim = ""
	}
	return u.Scheme + "://" + strings.ToLower(u.Host), claim, nil
}

// exposed reports whether what is sent to an address can be read on the way.
func exposed(base string) bool {
	u, err := url.Parse(base)
	if err != nil || u.Scheme == "https" {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() != "localhost" && (err != nil || !ip.IsLoopback())
}

// newRemote is a client of a server, which follows no redirect: it would carry the token elsewhere.
func newRemote(base, token string) *remote {
	return &remote{base: base, token: token, http: &http.Client{
		Timeout:       time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// refusal is what a server said no with.
type refusalError struct {
	Status int
	Detail string `json:"detail"`
	Errors []struct {
		Location string `json:"location"`
		Message  string `json:"message"`
	} `json:"errors"`
}

func (e *refusalError) Error() string {
	return cmp.Or(plain.Line(e.Detail), http.StatusText(e.Status))
}

// Unwrap gives the kind of error.
func (e *refusalError) Unwrap() error {
	switch e.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return callvet.ErrDenied
	case http.StatusNotFound:
		return callvet.ErrNotFound
	case http.StatusConflict:
		return callvet.ErrConflict
	case http.StatusUnprocessableEntity, http.StatusBadRequest:
		return callvet.ErrInvalid
	case http.StatusTooManyRequests:
		return callvet.ErrLimited
	}
	return callvet.ErrUnavailable
}

// maxReply bounds what is read of an answer.
const maxReply = 8 << 20

// ask sends a request, with body as JSON unless it is nil, and reads the answer into out unless it
// is nil. What the server refuses is a *refusalError.
func (r *remote) ask(ctx context.Context, method, path string, body, out any) error {
	var send io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("write request: %w", err)
		}
		send = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, r.base+path, send)
	if err != nil {
		return fmt.Errorf("ask %s: %w", r.base, err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	switch {
	case r.cookie != "":
		req.AddCookie(&http.Cookie{Name: server.SessionCookie, Value: r.cookie})
	case r.token != "":
		req.Header.Set("Authorization", "Bearer "+r.token)
	}
	res, err := r.http.Do(req)
	if err != nil {
		return fmt.Errorf("ask %s: %w: %w", r.base, callvet.ErrUnavailable, err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, maxReply))
	if err != nil {
		return fmt.Errorf("ask %s: %w: %w", r.base, callvet.ErrUnavailable, err)
	}
	for _, c := range res.Cookies() {
		if c.Name == server.SessionCookie && c.MaxAge > 0 {
			r.cookie = c.Value
		}
	}
	if res.StatusCode/100 != 2 {
		no := &refusalError{}
		if json.Unmarshal(b, no) != nil {
			no.Detail = fmt.Sprintf("it answered HTTP %d, and is perhaps no callvet server", res.StatusCode)
		}
		no.Status = res.StatusCode
		return no
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(b, out); err != nil {
		return fmt.Errorf("ask %s: the answer cannot be read: %w", r.base, err)
	}
	return nil
}

// me is who is logged in, as the server tells it.
type me struct {
	Name   string          `json:"name"`
	Role   account.Role    `json:"role"`
	Grants []account.Scope `json:"grants"`
	Token  string          `json:"token_id"`
}

// login gets a token and keeps it.
func (a *cli) login(ctx context.Context, address string, f *loginFlags) error {
	base, claim, err := serverAddress(address)
	if err != nil {
		return err
	}
	if exposed(base) && !f.plain {
		return &callvet.Hinted{Err: usagef("log in to %s: a password over plain http can be read on the way", base), Hint: "https://…, or --plain-http in a network where nobody listens"}
	}
	r := newRemote(base, "")
	p := &prompter{a: a, in: bufio.NewReader(a.in)}
	var who me
	kept := keptToken{}
	switch {
	case claim != "":
		who, err = r.claim(ctx, p, claim)
	default:
		var name string
		if name, err = p.line(ctx, "name (empty: with a token): "); err != nil {
			return err
		}
		if name == "" {
			kept.Token, err = p.secret(ctx, "token: ")
			r.token = kept.Token
		} else {
			err = r.session(ctx, p, name)
		}
		if err == nil {
			err = r.ask(ctx, http.MethodGet, "/api/me", nil, &who)
		}
	}
	if err != nil {
		return fmt.Errorf("log in to %s: %w", base, err)
	}
	if kept.Token == "" {
		if kept, err = r.token90(ctx, who, f.name); err != nil {
			return fmt.Errorf("log in to %s: make a token: %w", base, err)
		}
	}
	if err := a.keepToken(ctx, base, &kept); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.out, "logged in to %s as %s (%s)\n", base, plain.Line(who.Name), plain.Line(string(who.Role)))
	return err
}

// claim uses a one-time link. Whether a name is to be chosen, the server knows.
func (r *remote) claim(ctx context.Context, p *prompter, secret string) (who me, err error) {
	name := ""
	password, err := p.chosen(ctx)
	if err != nil {
		return who, err
	}
	for {
		err = r.ask(ctx, http.MethodPost, "/api/session/claim", map[string]string{"link": secret, "name": name, "password": password}, &who)
		var no *refusalError
		if !errors.As(err, &no) || len(no.Errors) == 0 {
			return who, err
		}
		switch no.Errors[0].Location {
		case "body.name":
			if name != "" {
				fmt.Fprintln(p.a.err, plain.Line(no.Errors[0].Message))
			}
			if name, err = p.line(ctx, "the name of the first admin: "); err != nil || name == "" {
				return who, cmp.Or(err, error(no))
			}
		case "body.password":
			fmt.Fprintln(p.a.err, plain.Line(no.Errors[0].Message))
			if password, err = p.chosen(ctx); err != nil {
				return who, err
			}
		default:
			return who, err
		}
	}
}

// session logs in by name and password.
func (r *remote) session(ctx context.Context, p *prompter, name string) error {
	password, err := p.secret(ctx, "password: ")
	if err != nil {
		return err
	}
	return r.ask(ctx, http.MethodPost, "/api/session", map[string]string{"name": name, "password": password}, nil)
}

// token90 makes a token with the rights of who is logged in, and ends the session.
func (r *remote) token90(ctx context.Context, who me, name string) (keptToken, error) {
	if name == "" {
		host, err := os.Hostname()
		if err != nil {
			host = "a machine"
		}
		name = "callvet on " + host
	}
	var made struct {
		Secret  string    `json:"secret"`
		Expires time.Time `json:"expires"`
	}
	err := r.ask(ctx, http.MethodPost, "/api/tokens", map[string]any{"name": name, "scopes": who.Grants}, &made)
	if err != nil {
		return keptToken{}, err
	}
	err = r.ask(ctx, http.MethodDelete, "/api/session", nil, nil)
	return keptToken{Token: made.Secret, Expires: made.Expires, Made: true}, err
}

// logout ends the token that is kept, and forgets it.
func (a *cli) logout(ctx context.Context, address string) error {
	base, _, err := serverAddress(address)
	if err != nil {
		return err
	}
	all, err := a.keptTokens()
	if err != nil {
		return err
	}
	kept, ok := all[base]
	if !ok {
		_, err := fmt.Fprintf(a.out, "nobody was logged in to %s\n", base)
		return err
	}
	gone := error(nil)
	if kept.Made { // another one was made for something else
		gone = newRemote(base, kept.Token).ask(ctx, http.MethodDelete, "/api/session", nil, nil)
	}
	if err := a.keepToken(ctx, base, nil); err != nil {
		return err
	}
	var no *refusalError
	if gone != nil && !(errors.As(gone, &no) && no.Status == http.StatusUnauthorized) {
		return fmt.Errorf("the token is forgotten here, and the server was not told: %w", gone)
	}
	_, err = fmt.Fprintf(a.out, "logged out of %s\n", base)
	return err
}

// keptToken is what is kept for a server.
type keptToken struct {
	Token   string    `json:"token"`
	Expires time.Time `json:"expires,omitzero"`
	// Made tells that login made it, so that logout ends it.
	Made bool `json:"made,omitempty"`
}

// remoteToken is the token for a server: $CALLVET_TOKEN, or the one that login kept. The error
// wraps callvet.ErrDenied where there is none, and says how to get one.
func (a *cli) remoteToken(address string) (base, token string, err error) {
	base, _, err = serverAddress(address)
	if err != nil {
		return "", "", err
	}
	if t := strings.TrimSpace(a.getenv("CALLVET_TOKEN")); t != "" {
		return base, t, nil
	}
	all, err := a.keptTokens()
	if err != nil {
		return base, "", err
	}
	kept := all[base]
	if kept.Token == "" || !kept.Expires.IsZero() && kept.Expires.Before(a.now()) {
		return base, "", &callvet.Hinted{Err: fmt.Errorf("ask %s: %w: nobody is logged in", base, callvet.ErrDenied), Hint: "callvet login " + base}
	}
	return base, kept.Token, nil
}

// tokenFile is where tokens are kept.
func (a *cli) tokenFile() (string, error) {
	if d := a.getenv("XDG_CONFIG_HOME"); d != "" {
		return filepath.Join(d, "callvet", "tokens.json"), nil
	}
	home := a.getenv("HOME")
	switch runtime.GOOS {
	case "windows":
		if d := a.getenv("APPDATA"); d != "" {
			return filepath.Join(d, "callvet", "tokens.json"), nil
		}
		home = a.getenv("USERPROFILE")
	case "darwin":
		if home != "" {
			return filepath.Join(home, "Library", "Application Support", "callvet", "tokens.json"), nil
		}
	}
	if home == "" {
		return "", usagef("no home directory to keep a token in: set XDG_CONFIG_HOME, or CALLVET_TOKEN")
	}
	return filepath.Join(home, ".config", "callvet", "tokens.json"), nil
}

// keptTokens are the tokens that are kept, by server.
func (a *cli) keptTokens() (map[string]keptToken, error) {
	path, err := a.tokenFile()
	if err != nil {
		return nil, err
	}
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]keptToken{}, nil
	}
	out := map[string]keptToken{}
	if err == nil && len(b) > 0 {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		return nil, fmt.Errorf("read tokens: %s: %w", path, err)
	}
	return out, nil
}

// keepToken keeps a token for a server, in a file that nobody else reads; nil: none any more.
func (a *cli) keepToken(ctx context.Context, base string, t *keptToken) error {
	path, err := a.tokenFile()
	if err != nil {
		return err
	}
	f, err := file.Private(path)
	if err != nil {
		return fmt.Errorf("keep token: %w", err)
	}
	if err := errors.Join(f.Chmod(0o600), f.Close()); err != nil {
		return fmt.Errorf("keep token: %w", err)
	}
	release, err := file.Hold(ctx, path)
	if err != nil {
		return fmt.Errorf("keep token: %w", err)
	}
	all, err := a.keptTokens()
	if err == nil {
		if delete(all, base); t != nil {
			all[base] = *t
		}
		err = file.Write(ctx, path, func(w io.Writer) error {
			enc := json.NewEncoder(w)
			enc.SetIndent("", "  ")
			return enc.Encode(all)
		})
	}
	return errors.Join(err, release())
}

// prompter asks a person, or reads lines that are given on standard input.
type prompter struct {
	a  *cli
	in *bufio.Reader
}

// terminal is standard input where a person types; nil where lines are given.
func (p *prompter) terminal() *os.File {
	f, ok := p.a.in.(*os.File)
	if !ok || !isTerminal(f) {
		return nil
	}
	return f
}

// line asks for a line; "" at the end of the input.
func (p *prompter) line(ctx context.Context, what string) (string, error) {
	if p.terminal() != nil {
		fmt.Fprint(p.a.err, what)
	}
	text, err := p.in.ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read answer: %w", err)
	}
	return strings.TrimSpace(text), ctx.Err()
}

// secret asks for a line that is not shown.
func (p *prompter) secret(ctx context.Context, what string) (string, error) {
	f := p.terminal()
	if f == nil {
		text, err := p.in.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", fmt.Errorf("read answer: %w", err)
		}
		return strings.TrimRight(text, "\r\n"), ctx.Err()
	}
	fmt.Fprint(p.a.err, what)
	fd := int(f.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return "", fmt.Errorf("read answer: %w", err)
	}
	// An interrupt ends the process, which would leave a terminal that shows nothing.
	defer process.Upon(ctx, func() { _ = term.Restore(fd, before) })()
	b, err := term.ReadPassword(fd)
	fmt.Fprintln(p.a.err)
	if err != nil {
		return "", fmt.Errorf("read answer: %w", err)
	}
	return string(b), ctx.Err()
}

// chosen asks for a new password, at a terminal twice.
func (p *prompter) chosen(ctx context.Context) (string, error) {
	for {
		password, err := p.secret(ctx, fmt.Sprintf("choose a password of at least %d characters: ", account.MinPassword))
		if err != nil {
			return "", err
		}
		if p.terminal() == nil {
			if password == "" {
				return "", usagef("there is no password on standard input")
			}
			return password, nil
		}
		again, err := p.secret(ctx, "once more: ")
		if err != nil {
			return "", err
		}
		if password == again {
			return password, nil
		}
		fmt.Fprintln(p.a.err, "they differ")
	}
}
