// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retriever

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/endpoint"
)

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
	if err := endpoint.Spelled(c.URL, c.Headers); err != nil {
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
