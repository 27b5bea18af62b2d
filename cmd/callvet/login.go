// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/remote"
	"github.com/callvet/callvet/internal/report/plain"
)

const loginLong = `Log in to a server (callvet serve), and keep a token for it.

URL is the address of the server, or a one-time link that an admin gave you: then you choose a password. Otherwise you are
asked for your name and password, or, with an empty name, for a token. The token is kept in a file that only you
can read, and ends after 90 days or with callvet logout. $CALLVET_TOKEN stands in its place where it is set.`

// loginFlags are the flags of a login.
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
	fs.StringVar(&f.name, "name", "", "name of the token (default: callvet, and the name of this machine)")
	fs.BoolVar(&f.plain, "plain-http", false,
		"send the password over plain http, where others can read it")
	return cmd
}

// logoutCommand forgets a server.
func (a *cli) logoutCommand() *cobra.Command {
	return &cobra.Command{
		Use: "logout URL", Short: "Log out of a server, and revoke the stored token", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.logout(cmd.Context(), args[0]) },
	}
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

// exposed reports whether data sent to an address can be read in transit.
func exposed(base string) bool {
	u, err := url.Parse(base)
	if err != nil || u.Scheme == "https" {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() != "localhost" && (err != nil || !ip.IsLoopback())
}

// login requests a token and stores it.
func (a *cli) login(ctx context.Context, address string, f *loginFlags) error {
	base, claim, err := serverAddress(address)
	if err != nil {
		return err
	}
	if exposed(base) && !f.plain {
		return &callvet.Hinted{
			Err:  usagef("log in to %s: a password over plain http can be read on the way", base),
			Hint: "https://…, or --plain-http in a network that you trust",
		}
	}
	c, err := remote.New(remote.Config{Address: base})
	if err != nil {
		return err
	}
	p := &prompter{a: a, in: bufio.NewReader(a.in)}
	var who *remote.Me
	kept := remote.KeptToken{}
	switch {
	case claim != "":
		who, err = claimLink(ctx, c, p, claim)
	default:
		var name string
		if name, err = p.line(ctx, "name (empty: with a token): "); err != nil {
			return err
		}
		if name == "" {
			if kept.Token, err = p.secret(ctx, "token: "); err == nil {
				c, err = remote.New(remote.Config{Address: base, Token: kept.Token})
			}
		} else {
			err = openSession(ctx, c, p, name)
		}
		if err == nil {
			who, err = c.Me(ctx)
		}
	}
	if err != nil {
		return fmt.Errorf("log in: %w", err)
	}
	if kept.Token == "" {
		if kept, err = makeToken(ctx, c, who, f.name); err != nil {
			return fmt.Errorf("log in: make a token: %w", err)
		}
	}
	if err := a.keepToken(ctx, base, &kept); err != nil {
		return err
	}
	if kept.Made {
		if err := c.Logout(ctx); err != nil { // of the session; the token stays
			return fmt.Errorf("the token is kept, and the session was not ended: %w", err)
		}
	}
	_, err = fmt.Fprintf(a.out, "logged in to %s as %s (%s)\n", base, plain.Line(who.Name), plain.Line(who.Role))
	return err
}

// claimLink uses a one-time link. The server decides whether a name must be chosen.
func claimLink(ctx context.Context, c *remote.Client, p *prompter, secret string) (*remote.Me, error) {
	name := ""
	password, err := p.chosen(ctx)
	if err != nil {
		return nil, err
	}
	for {
		who, err := c.Claim(ctx, secret, name, password)
		var no *remote.Refusal
		if !errors.As(err, &no) || len(no.Errors) == 0 {
			return who, err
		}
		switch no.Errors[0].Location {
		case "body.name":
			if name != "" {
				fmt.Fprintln(p.a.err, plain.Line(no.Errors[0].Message))
			}
			if name, err = p.line(ctx, "the name of the first admin: "); err != nil || name == "" {
				return nil, cmp.Or(err, error(no))
			}
		case "body.password":
			fmt.Fprintln(p.a.err, plain.Line(no.Errors[0].Message))
			if password, err = p.chosen(ctx); err != nil {
				return nil, err
			}
		default:
			return nil, err
		}
	}
}

// openSession logs in by name and password.
func openSession(ctx context.Context, c *remote.Client, p *prompter, name string) error {
	password, err := p.secret(ctx, "password: ")
	if err != nil {
		return err
	}
	return c.Login(ctx, name, password)
}

// makeToken makes a token with the rights of the logged-in user.
func makeToken(ctx context.Context, c *remote.Client, who *remote.Me, name string) (remote.KeptToken, error) {
	if name == "" {
		host, err := os.Hostname()
		if err != nil {
			host = "a machine"
		}
		name = "callvet on " + host
	}
	made, err := c.MakeToken(ctx, name, who.Grants)
	if err != nil {
		return remote.KeptToken{}, err
	}
	return remote.KeptToken{Token: made.Secret, Expires: made.Expires, Made: true}, nil
}

// logout revokes the stored token, and removes it.
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
		_, err := fmt.Fprintf(a.out, "no user was logged in to %s\n", base)
		return err
	}
	gone := error(nil)
	if kept.Made { // a different token was made for another purpose
		c, err := remote.New(remote.Config{Address: base, Token: kept.Token})
		if err != nil {
			return err
		}
		gone = c.Logout(ctx)
	}
	if err := a.keepToken(ctx, base, nil); err != nil {
		return err
	}
	var no *remote.Refusal
	if gone != nil && !(errors.As(gone, &no) && no.Status == http.StatusUnauthorized) {
		return fmt.Errorf("the token is removed here, but the server did not end it: %w", gone)
	}
	_, err = fmt.Fprintf(a.out, "logged out of %s\n", base)
	return err
}

// remoteToken is the token for a server: $CALLVET_TOKEN, or the stored one of login. Without one
// the error wraps callvet.ErrDenied, and has a hint.
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
		return base, "", &callvet.Hinted{
			Err:  fmt.Errorf("ask %s: %w: no user is logged in", base, callvet.ErrDenied),
			Hint: "callvet login " + base,
		}
	}
	return base, kept.Token, nil
}

// tokenFile is the path of the file with tokens.
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

// keptTokens are the stored tokens, by server.
func (a *cli) keptTokens() (map[string]remote.KeptToken, error) {
	path, err := a.tokenFile()
	if err != nil {
		return nil, err
	}
	return remote.KeptTokens(path)
}

// keepToken stores a token for a server; nil removes it.
func (a *cli) keepToken(ctx context.Context, base string, t *remote.KeptToken) error {
	path, err := a.tokenFile()
	if err != nil {
		return err
	}
	return remote.KeepToken(ctx, path, base, t)
}

// prompter asks a person, or reads lines from standard input.
type prompter struct {
	a  *cli
	in *bufio.Reader
}

// terminal is standard input where a person types; nil where lines are piped.
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
	b, err := ReadSecret(ctx, f)
	fmt.Fprintln(p.a.err)
	if err != nil {
		return "", fmt.Errorf("read answer: %w", err)
	}
	return string(b), ctx.Err()
}

// chosen asks for a new password, at a terminal twice.
func (p *prompter) chosen(ctx context.Context) (string, error) {
	for {
		password, err := p.secret(ctx,
			fmt.Sprintf("choose a password of at least %d characters: ", account.MinPassword))
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
