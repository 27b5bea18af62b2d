// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/retrieve"
)

// EmbedConfig is what OpenEmbedder needs in addition to the spec. The zero value works for local servers.
type EmbedConfig struct {
	// Getenv reads the environment; nil: it is empty.
	Getenv func(string) string
	// APIKey replaces the variable of the service.
	APIKey string
	// HTTPClient may be shared; nil: a new one, which follows no redirect.
	HTTPClient *http.Client
	// Timeout of one request; 0: one minute.
	Timeout time.Duration
	// MaxBody bounds an answer, in bytes; 0: 64 MiB.
	MaxBody int64
	// Batch is how many texts a request has; 0: the known limit of the service.
	Batch int
	// Concurrency is how many requests run at once; 0: 4.
	Concurrency int
	// Dimensions is the requested length of vectors, if the service can shorten them; 0: the
	// model's length.
	Dimensions int
	// Retries is how often a request to a busy server is repeated; 0: 5, negative: never.
	Retries int
	// Wait waits between them; nil: by the clock.
	Wait func(ctx context.Context, d time.Duration) error
	// Now is the clock, for servers that give a retry time; nil: time.Now.
	Now func() time.Time
	// Unkeyed is called with the variable of a missing key, and the model is opened without it: for
	// a model that will not be asked. nil: such a model is refused.
	Unkeyed func(variable string)
	// Warn is called with a problem of a server that is used nevertheless; nil: no warnings.
	Warn func(what string)
}

// service is a kind of server.
type service struct {
	kind string
	// base is the default address; empty: the spec must have one. path is added to a base without a
	// path, and route is the path of requests below it.
	base, baseEnv, path, route string
	keyEnv                     []string
	// hosted services need a key at their own address.
	hosted bool
	// unnamed services have one model, without a name.
	unnamed bool
	batch   int
	form    form
}

func embedders() []service {
	return []service{
		{
			kind: "openai", base: "https://api.openai.com/v1", baseEnv: "OPENAI_BASE_URL", path: "/v1",
			route: "embeddings", keyEnv: []string{"OPENAI_API_KEY"}, hosted: true, batch: 128, form: openaiForm{},
		},
		{
			kind: "ollama", base: "http://127.0.0.1:11434", baseEnv: "OLLAMA_HOST", route: "api/embed",
			keyEnv: []string{"OLLAMA_API_KEY"}, batch: 64, form: ollamaForm{},
		},
		{
			kind: "tei", route: "embed", keyEnv: []string{"TEI_API_KEY", "HF_TOKEN"}, unnamed: true, batch: 32,
			form: teiForm{},
		},
	}
}

func rerankers() []service {
	return []service{
		{
			kind: "cohere", base: "https://api.cohere.com/v2", path: "/v2", route: "rerank",
			keyEnv: []string{"CO_API_KEY", "COHERE_API_KEY"}, hosted: true, batch: 500, form: cohereForm{},
		},
		{
			kind: "jina", base: "https://api.jina.ai/v1", path: "/v1", route: "rerank", keyEnv: []string{"JINA_API_KEY"},
			hosted: true, batch: 500, form: cohereForm{},
		},
		{
			kind: "tei", route: "rerank", keyEnv: []string{"TEI_API_KEY", "HF_TOKEN"}, unnamed: true, batch: 32,
			form: teiRerankForm{},
		},
	}
}

// OpenEmbedder makes the embedder that spec names: openai:MODEL, openai:MODEL@URL for compatible
// servers, ollama:MODEL, ollama:MODEL@URL, tei:URL or tei:MODEL@URL. The name of a tei model is for
// the cache only; without one, clear the cache when the server gets another model. It sends no
// request. Errors are *callvet.Hinted: ErrNotFound for an unknown service, ErrDenied for a missing
// key, ErrInvalid for anything else.
func OpenEmbedder(spec string, cfg EmbedConfig) (*Embedder, error) {
	c, dimensions, err := openClient(spec, &cfg, embedders())
	if err != nil {
		return nil, fmt.Errorf("open embedder %q: %w", shown(spec), err)
	}
	name := c.name
	if dimensions > 0 {
		name += "/" + strconv.Itoa(dimensions)
	}
	return &Embedder{c: c, name: name, dimensions: dimensions}, nil
}

// OpenReranker makes the reranker that spec names: cohere:MODEL, jina:MODEL, either with @URL for
// compatible servers, or tei:URL. Errors are those of Open.
func OpenReranker(spec string, cfg EmbedConfig) (*Reranker, error) {
	c, _, err := openClient(spec, &cfg, rerankers())
	if err != nil {
		return nil, fmt.Errorf("open reranker %q: %w", shown(spec), err)
	}
	return &Reranker{c: c}, nil
}

var (
	_ retrieve.Embedder = (*Embedder)(nil)
	_ retrieve.Reranker = (*Reranker)(nil)
)

func openClient(spec string, cfg *EmbedConfig, services []service) (*client, int, error) {
	kind, rest, _ := strings.Cut(spec, ":")
	var svc *service
	kinds := make([]string, len(services))
	for i := range services {
		if kinds[i] = services[i].kind; kinds[i] == kind {
			svc = &services[i]
		}
	}
	if svc == nil {
		return nil, 0, &callvet.Hinted{
			Err:  fmt.Errorf("unknown service %q: %w", kind, callvet.ErrNotFound),
			Hint: "services: " + strings.Join(kinds, ", "),
		}
	}
	if cfg.Dimensions < 0 || cfg.Dimensions > 1<<16 {
		return nil, 0, invalidSpec(fmt.Sprintf("%d dimensions", cfg.Dimensions), "leave them out for the model's own")
	}
	if cfg.Dimensions > 0 && svc.kind == "tei" {
		return nil, 0, invalidSpec("this service does not shorten vectors", "leave out the dimensions")
	}
	model, address := cutSpec(rest)
	if model == "" && !svc.unnamed {
		return nil, 0, invalidSpec("the name of a model is missing", "write "+kind+":MODEL or "+kind+":MODEL@URL")
	}
	if strings.Contains(model, "://") {
		return nil, 0, invalidSpec("the address is not an http(s) URL", "for example http://localhost:8080")
	}
	c := newClient(svc, model, cfg)
	own, err := c.locate(svc, address, cfg)
	if err != nil {
		return nil, 0, err
	}
	if svc.hosted && !own && c.key == "" && cfg.Unkeyed != nil {
		cfg.Unkeyed(svc.keyEnv[0])
	} else if svc.hosted && !own && c.key == "" {
		return nil, 0, callvet.Unset(fmt.Errorf("no API key: %w", callvet.ErrDenied), svc.keyEnv[0])
	}
	return c, cfg.Dimensions, nil
}

// shown is a spec without possible secrets in its address.
func shown(spec string) string {
	before, address, ok := strings.Cut(spec, "://")
	if !ok {
		return spec
	}
	address, _, _ = strings.Cut(address, "?")
	if i := strings.LastIndexByte(address, '@'); i >= 0 {
		address = hidden + address[i:]
	}
	return before + "://" + address
}

// cutSpec splits MODEL@URL; either part may be missing. Names of models may contain @ and colons.
func cutSpec(s string) (model, address string) {
	for _, scheme := range []string{"https://", "http://"} {
		if strings.HasPrefix(s, scheme) {
			return "", s
		}
		if i := strings.LastIndex(s, "@"+scheme); i >= 0 {
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}

// locate sets the address of requests; own reports that it is not the service's default.
func (c *client) locate(svc *service, address string, cfg *EmbedConfig) (own bool, err error) {
	own = address != ""
	if address == "" && svc.baseEnv != "" && cfg.Getenv != nil {
		address = strings.TrimSpace(cfg.Getenv(svc.baseEnv))
		own = address != ""
		if own && svc.kind == "ollama" {
			address = strings.TrimSuffix(strings.TrimRight(ollamaAddress(address), "/"), "/v1")
		}
	}
	if address = cmp.Or(address, svc.base); address == "" {
		return false, invalidSpec("the address is missing", "write "+svc.kind+":http://localhost:8080")
	}
	u, err := url.Parse(strings.TrimRight(address, "/"))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return false, invalidSpec("the address is not an http(s) URL", "for example http://localhost:8080")
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return false, invalidSpec("the address holds a user name, a password or a query", "give the key in the environment")
	}
	if u.Path == "" {
		u.Path = svc.path
	}
	if c.key != "" && cfg.Warn != nil && redact.ExposedAddress(u) {
		cfg.Warn(redact.UnencryptedWarning(u))
	}
	c.server = u.Host
	c.name = svc.kind + "/" + cmp.Or(c.model, "model") + "@" + u.Host + u.Path
	c.url = u.JoinPath(svc.route).String()
	return own, nil
}

func invalidSpec(what, hint string) error {
	return &callvet.Hinted{Err: fmt.Errorf("%s: %w", what, callvet.ErrInvalid), Hint: hint}
}

// EmbedKeyVariables are the environment variables that keys are read from, each once.
func EmbedKeyVariables() []string {
	var out []string
	for _, s := range append(embedders(), rerankers()...) {
		for _, name := range s.keyEnv {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// EmbedKeyHosts are the default hosts of each key variable, with a port if one is written. A
// service without an address has none.
func EmbedKeyHosts(getenv func(string) string) map[string][]string {
	out := map[string][]string{}
	all := append(embedders(), rerankers()...)
	for i := range all {
		c := &client{}
		if _, err := c.locate(&all[i], "", &EmbedConfig{Getenv: getenv}); err != nil {
			continue
		}
		for _, name := range all[i].keyEnv {
			if !slices.Contains(out[name], c.server) {
				out[name] = append(out[name], c.server)
			}
		}
	}
	return out
}
