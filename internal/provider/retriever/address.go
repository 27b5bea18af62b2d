// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retriever

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/callvet/callvet"
)

// Spelled refuses an address or headers of a service that spell a secret out, because
// both are kept with the run: ${NAME} is to stand for it. Names tell what is a secret,
// such as api_key and Authorization; the error wraps callvet.ErrInvalid and repeats no
// value.
func Spelled(address string, headers map[string]string) error {
	variable := regexp.MustCompile(`\$\{[^}]*\}`)
	u, err := url.Parse(variable.ReplaceAllString(address, ""))
	if err != nil {
		u = &url.URL{} // whoever opens it tells
	}
	if password, _ := u.User.Password(); password != "" {
		return spelled("a password", "give it in a header: --header 'Authorization: Basic ${BASIC}'")
	}
	query := u.Query()
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if secretName(name) && slices.ContainsFunc(query[name], func(v string) bool { return v != "" }) {
			return spelled(name, fmt.Sprintf("write %s=${%s} and export %[2]s", name, variableOf(name)))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		if secretName(name) && !variable.MatchString(headers[name]) {
			return spelled("the header "+name, fmt.Sprintf("write '%s: ${%s}' and export %[2]s", name, variableOf(name)))
		}
	}
	return nil
}

func spelled(what, hint string) error {
	return &callvet.Hinted{Err: fmt.Errorf("open target: %w: %s is spelled out, and addresses and headers are kept with the run", callvet.ErrInvalid, what), Hint: hint}
}

// variableOf is a name for a variable of the environment; PWD is the shell's own.
func variableOf(name string) string {
	if strings.EqualFold(name, "pwd") {
		return "PASSWORD"
	}
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToUpper(name))
}

// secretName tells names that carry credentials whatever their value.
func secretName(name string) bool {
	name = strings.ReplaceAll(strings.ToLower(name), "keyword", "")
	return slices.Contains([]string{"sig", "code", "pass"}, name) || slices.ContainsFunc([]string{"auth", "token", "key", "secret", "passw", "passphrase", "pwd", "jwt", "bearer", "credential", "signature", "cookie"}, func(part string) bool {
		return strings.Contains(name, part)
	})
}

// expand fills ${NAME} in, each value written by escape, and keeps what is to be taken
// out of whatever is told. A variable that is not set is an error.
func (c *RemoteConfig) expand(text string, escape func(string) string) (string, error) {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "${")
		b.WriteString(before)
		if !ok {
			return b.String(), nil
		}
		name, after, closed := strings.Cut(rest, "}")
		v := ""
		if closed && c.Lookup != nil {
			v = c.Lookup(name)
		}
		if v == "" {
			return "", &callvet.Hinted{Err: fmt.Errorf("open target: %w: $%s is empty", callvet.ErrDenied, name), Hint: "export " + name + "=…"}
		}
		c.secrets = append(c.secrets, v)
		if e := escape(v); e != v {
			c.secrets = append(c.secrets, e)
		}
		b.WriteString(escape(v))
		text = after
	}
}

// fill expands the address and the headers, and gives the address.
func (c *RemoteConfig) fill() (*url.URL, error) {
	if err := Spelled(c.URL, c.Headers); err != nil {
		return nil, err
	}
	path, query, asks := strings.Cut(c.URL, "?")
	path, err := c.expand(path, func(s string) string { return s })
	if err != nil {
		return nil, err
	}
	if asks {
		if query, err = c.expand(query, url.QueryEscape); err != nil {
			return nil, err
		}
		path += "?" + query
	}
	headers := map[string]string{}
	for name, v := range c.Headers {
		if headers[name], err = c.expand(v, func(s string) string { return s }); err != nil {
			return nil, err
		}
	}
	c.URL, c.Headers = path, headers
	slices.SortFunc(c.secrets, func(a, b string) int { return len(b) - len(a) })
	u, err := url.Parse(path)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return nil, &callvet.Hinted{
			Err: fmt.Errorf("open target: %w: no http or https address without a password in it", callvet.ErrInvalid), Hint: "write it like http://localhost:8000/retrieve",
		}
	}
	return u, nil
}
