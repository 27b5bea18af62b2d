// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/redact"
)

// TargetFile is the part after "retrieve:" of a target that searches a catalogue in this process;
// ok is false for other targets, including those that ask a service.
func TargetFile(target string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(target, "retrieve:")
	return rest, ok && !redact.IsWebAddress(rest)
}

// value is the value of a variable; it is recorded, to be masked in messages.
func (c *RemoteConfig) value(name string) (string, error) {
	v := ""
	if c.Lookup != nil {
		v = c.Lookup(name)
	}
	if v == "" {
		return "", redact.EmptyVariable(name)
	}
	c.secrets = append(c.secrets, v)
	if e := url.QueryEscape(v); e != v {
		c.secrets = append(c.secrets, e)
	}
	return v, nil
}

// fill expands the address and the headers, and returns the address.
func (c *RemoteConfig) fill() (*url.URL, error) {
	if err := redact.RefuseSpelled(c.URL, c.Headers); err != nil {
		return nil, err
	}
	address, err := redact.FillAddress(c.URL, c.value)
	if err != nil {
		return nil, fmt.Errorf("open target: %w", err)
	}
	headers := map[string]string{}
	for name, v := range c.Headers {
		if headers[name], err = redact.FillVariables(v, c.value); err != nil {
			return nil, fmt.Errorf("open target: header %s: %w", name, err)
		}
	}
	c.URL, c.Headers = address, headers
	slices.SortFunc(c.secrets, func(a, b string) int { return len(b) - len(a) })
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return nil, &callvet.Hinted{
			Err:  fmt.Errorf("open target: %w: no http or https address without a password in it", callvet.ErrInvalid),
			Hint: "write it like http://localhost:8000/retrieve",
		}
	}
	return u, nil
}
