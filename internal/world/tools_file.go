// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package world

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/value"
)

// MaxToolsFile bounds the size of a File.
const MaxToolsFile = 1 << 20

// Defaults and limits of a Tool's settings.
const (
	DefaultTimeoutMS = 30_000
	DefaultMaxBytes  = 1 << 20
)

// ToolsFile are the live tools.
type ToolsFile struct {
	Tools map[string]LiveTool `json:"tools,omitempty"`
	// Servers speak MCP; tools name them.
	Servers map[string]ToolServer `json:"servers,omitempty"`
	// ExecEnv are variables that commands see although they are named like secrets; * matches any
	// letters.
	ExecEnv []string `json:"exec_env,omitempty"`
}

// LiveTool is one tool: exactly one of HTTP, Command and MCP is set.
type LiveTool struct {
	// ReadOnly: a call changes nothing. It is required: a tool that writes is called only if a
	// policy confirms it.
	ReadOnly *bool     `json:"read_only" form:"required"`
	HTTP     *HTTPTool `json:"http,omitempty"`
	// Command is started without a shell. It reads a line {"id":1,"tool":…,"arguments":{…}} for each
	// call and writes a line {"id":1,"result":…} or {"id":1,"error":"…"}. Tools of the same
	// command share one process in an attempt.
	Command string `json:"command,omitempty"`
	// MCP is the name of a server that has the tool.
	MCP string `json:"mcp,omitempty"`
	// TimeoutMS bounds a call, MaxBytes its answer; 0: the defaults.
	TimeoutMS float64 `json:"timeout_ms,omitempty" form:"min=0 max=600000"`
	MaxBytes  int64   `json:"max_bytes,omitempty" form:"min=0 max=67108864"`
	// Version is the tool's version in traces, if the tool does not report one.
	Version string `json:"version,omitempty" form:"scalar"`
}

// HTTPTool is a request. Placeholders are {{args.PATH}}; ${NAME} reads the environment.
type HTTPTool struct {
	// Method is POST by default.
	Method string `json:"method,omitempty" form:"words=GET|HEAD|POST|PUT|PATCH|DELETE"`
	// URL may have placeholders in its path, and ${NAME} in its query.
	URL string `json:"url" form:"required full"`
	// Query are further parameters of URL. Nil: a request without a body has all arguments that URL
	// does not name.
	Query map[string]string `json:"query,omitempty"`
	// Headers may contain ${NAME}.
	Headers map[string]string `json:"headers,omitempty"`
	// Body is the JSON that is sent, with placeholders in its texts; nil: the arguments.
	Body json.RawMessage `json:"body,omitempty"`
}

// ToolServer speaks MCP: a command over its standard input and output, or an address.
type ToolServer struct {
	Command   string            `json:"command,omitempty"`
	URL       string            `json:"url,omitempty"`
	Transport string            `json:"transport,omitempty" form:"words=streamable|sse"`
	Protocol  string            `json:"protocol,omitempty"`
	Headers   map[string]string `json:"headers,omitempty"`
	TimeoutMS int64             `json:"timeout_ms,omitempty" form:"min=0 max=600000"`
}

// ReadTools reads a File, in JSON or YAML. The error is a callvet.Problem with the place of the
// first mistake, or wraps callvet.ErrLimited.
func ReadTools(name string, data []byte) (*ToolsFile, error) {
	if len(data) > MaxToolsFile {
		return nil, fmt.Errorf("read live tools: %s: more than %d bytes: %w", name, MaxToolsFile, callvet.ErrLimited)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, callvet.Problem{
			Position: callvet.Position{File: name}, Code: "empty", Message: "the file is empty",
			Fix: "tools: {get_weather: {read_only: true, http: {method: GET, url: https://…}}}",
		}
	}
	d, bad := doc.Read(name, data)
	if bad != nil {
		return nil, d.Problem(bad)
	}
	var f ToolsFile
	if err := d.Fill(&f); err != nil {
		return nil, err
	}
	if w := f.check(); w != nil {
		at, _ := d.Root.Find(w.key)
		return nil, callvet.Problem{Position: d.Position(at), Code: "live", Key: w.key, Message: w.message, Fix: w.fix}
	}
	return &f, nil
}

// wrong is a mistake of a file.
type wrong struct{ key, message, fix string }

// check finds the first mistake that the form does not detect; nil without one.
func (f *ToolsFile) check() *wrong {
	if len(f.Tools) == 0 {
		return &wrong{
			"tools", "no tool is listed",
			"tools: {get_weather: {read_only: true, http: {method: GET, url: https://…}}}",
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.Servers)) {
		if w := f.Servers[name].check("servers." + name); w != nil {
			return w
		}
	}
	folded := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(f.Tools)) {
		t, key := f.Tools[name], "tools."+name
		if other, taken := folded[strings.ToLower(name)]; taken {
			return &wrong{key, fmt.Sprintf("%q and %q differ in case only, and names are compared without case", other,
				name), "rename one"}
		}
		folded[strings.ToLower(name)] = name
		if w := t.check(key, f.Servers); w != nil {
			return w
		}
	}
	return nil
}

func (t *LiveTool) check(key string, servers map[string]ToolServer) *wrong {
	ways := 0
	for _, is := range [...]bool{t.HTTP != nil, t.Command != "", t.MCP != ""} {
		if is {
			ways++
		}
	}
	switch {
	case t.ReadOnly == nil: // null counts as absent
		return &wrong{key + ".read_only", "whether a tool changes something must be said", "read_only: true, or false"}
	case ways != 1:
		return &wrong{key, "a tool is called in exactly one way", "write one of http, command and mcp"}
	case t.HTTP != nil:
		return t.HTTP.check(key + ".http")
	case t.MCP != "":
		if _, ok := servers[t.MCP]; !ok {
			fix := "add it under servers"
			if near := callvet.Nearest(t.MCP, slices.Collect(maps.Keys(servers))); near != "" {
				fix = fmt.Sprintf("did you mean %q?", near)
			}
			return &wrong{key + ".mcp", fmt.Sprintf("there is no server %q", t.MCP), fix}
		}
	}
	return nil
}

func (s ToolServer) check(key string) *wrong {
	if (s.Command == "") == (s.URL == "") {
		return &wrong{key, "a server is a command or an address", "write command or url"}
	}
	if s.URL == "" {
		return nil
	}
	if w := address(key+".url", s.URL); w != nil {
		return w
	}
	return headers(key, s.URL, s.Headers)
}

func (h *HTTPTool) check(key string) *wrong {
	if w := address(key+".url", h.URL); w != nil {
		return w
	}
	if w := headers(key, h.URL, h.Headers); w != nil {
		return w
	}
	_, path, _ := cutAddress(h.URL)
	if w := placeholders(key+".url", path); w != nil {
		return w
	}
	for _, name := range slices.Sorted(maps.Keys(h.Query)) {
		if w := placeholders(key+".query."+name, h.Query[name]); w != nil {
			return w
		}
	}
	if h.Body == nil {
		return nil
	}
	if !sends(h.method()) {
		return &wrong{key + ".body", h.method() + " sends no body", "write query in place of it, or another method"}
	}
	var w *wrong
	_, err := value.FillJSON(h.Body, func(name string) json.RawMessage {
		if found := placeholders(key+".body", "{{"+name+"}}"); w == nil {
			w = found
		}
		return nil
	})
	if w == nil && err != nil {
		w = &wrong{key + ".body", err.Error(), "{{args.city}}"}
	}
	return w
}

func (h *HTTPTool) method() string {
	if h.Method == "" {
		return http.MethodPost
	}
	return h.Method
}

// sends reports whether requests of a method have a body.
func sends(method string) bool {
	return method == http.MethodPost || method == http.MethodPut || method == http.MethodPatch
}

// cutAddress splits an address at the end of its host and at its query.
func cutAddress(address string) (host, path, query string) {
	if i := strings.Index(address, "://"); i >= 0 {
		if j := strings.IndexAny(address[i+3:], "/?#"); j >= 0 {
			host, path = address[:i+3+j], address[i+3+j:]
		} else {
			host = address
		}
	}
	path, query, _ = strings.Cut(path, "?")
	return host, path, query
}

// address checks an address: its host must be literal, not an argument of a call.
func address(key, text string) *wrong {
	host, path, query := cutAddress(text)
	u, err := url.Parse(host)
	switch {
	case strings.Contains(host, "{{") || strings.Contains(host, "${"):
		return &wrong{
			key, "the host of an address stands in the file: no placeholder and no variable",
			"write it out; tools of several hosts are several tools",
		}
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return &wrong{key, fmt.Sprintf("%q is no address", host), "https://api.example.com/v1/weather"}
	case u.User != nil:
		return &wrong{key, "the address has a user in it", "write headers: {Authorization: 'Basic ${BASIC}'}"}
	case strings.Contains(path, "${"):
		return &wrong{key, "a variable stands in the path, which traces show", "give it in a header or in the query"}
	case strings.Contains(query, "{{"):
		return &wrong{key, "a placeholder stands in the query of an address", "write query: {city: \"{{args.city}}\"}"}
	case strings.Contains(text, "#"):
		return &wrong{key, "the address has a part behind #, which no server sees", "remove it"}
	}
	return nil
}

// headers finds literal secrets, and headers that belong to the connection.
func headers(key, address string, set map[string]string) *wrong {
	host, _, query := cutAddress(address)
	if err := redact.RefuseSpelled(host+"/?"+query, set); err != nil {
		return &wrong{
			key, "a secret is spelled out, and the file is kept with the run",
			"write ${NAME} for it and export NAME",
		}
	}
	for name, text := range set {
		switch http.CanonicalHeaderKey(name) {
		case "Host", "Content-Length", "Transfer-Encoding", "Connection", "Upgrade", "Trailer", "Te",
			"Proxy-Authorization":
			return &wrong{key + ".headers." + name, "this header is the connection's own", "remove it"}
		}
		if strings.Contains(text, "{{") {
			return &wrong{
				key + ".headers." + name, "a header holds no argument of a call",
				"give it in the path, in query or in body",
			}
		}
	}
	return nil
}

// placeholders accepts only {{args.PATH}}.
func placeholders(key, text string) *wrong {
	t, err := value.ParseTemplate(text)
	if err != nil {
		return &wrong{key, err.Error(), "{{args.city}}"}
	}
	for _, name := range t.Names() {
		path, ok := strings.CutPrefix(name, value.TemplateArgs)
		if !ok {
			return &wrong{
				key, fmt.Sprintf("unknown placeholder {{%s}}", name),
				"write {{args.NAME}} for an argument, ${NAME} for a variable",
			}
		}
		if err := value.CheckPath(path); err != nil {
			return &wrong{key, err.Error(), "{{args.user.orders[0].id}}"}
		}
	}
	return nil
}

// Commands are the commands that calls may start, each once.
func (f *ToolsFile) Commands() []string {
	var out []string
	add := func(command string) {
		if command != "" && !slices.Contains(out, command) {
			out = append(out, command)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.Tools)) {
		t := f.Tools[name]
		add(t.Command)
		add(f.Servers[t.MCP].Command)
	}
	return out
}

// Find finds a tool by its name, case-insensitively.
func (f *ToolsFile) Find(name string) (string, *LiveTool) {
	if t, ok := f.Tools[name]; ok {
		return name, &t
	}
	for known, t := range f.Tools {
		if callvet.SameName(known, name) {
			return known, &t
		}
	}
	return "", nil
}

// Hosts are the hosts of tools and servers, each once.
func (f *ToolsFile) Hosts() []string {
	var out []string
	add := func(address string) {
		if u, err := url.Parse(first(cutAddress(address))); err == nil && address != "" &&
			!slices.Contains(out, u.Hostname()) {
			out = append(out, u.Hostname())
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.Tools)) {
		t := f.Tools[name]
		if t.HTTP != nil {
			add(t.HTTP.URL)
		}
		add(f.Servers[t.MCP].URL)
	}
	return out
}

func first(s, _, _ string) string { return s }
