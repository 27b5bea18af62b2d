// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/value"
)

// Config is what Open needs in addition to the spec. The zero value works for local servers.
type Config struct {
	// Getenv reads the environment; nil: it is empty.
	Getenv func(string) string
	// BaseURL replaces the provider's, and with it the need for a key.
	BaseURL string
	// APIKey replaces the provider's environment variable; KeyName names the variable that it was
	// read from. The name, never the key, identifies the account when an answer may be reused.
	APIKey, KeyName string
	// APIVersion selects a dated version of Azure's API by deployment; empty: its v1 API.
	APIVersion string
	Params     callvet.Params
	// DefaultTemperature is sent if Params has no temperature and no parameter that excludes it,
	// and the model accepts one; nil: none is sent.
	DefaultTemperature *float64
	// HTTPClient is shared by all models of a process; nil: a new one.
	HTTPClient *http.Client
	// Timeout of one request; 0: two minutes, negative: none.
	Timeout time.Duration
	// MaxBody bounds an answer, in bytes; 0: 8 MiB.
	MaxBody int64
	// Stream requests streamed answers, to measure the time to the first token.
	Stream bool
	// Prices for the cost of requests; nil: the shipped table.
	Prices *Prices
	// Now is the clock; nil: time.Now.
	Now func() time.Time
	// Unkeyed is called with the variable of a missing key, and the model is opened without it: for
	// a model that will not be asked. nil: such a model is refused.
	Unkeyed func(variable string)
	// Warn is called with a problem of a target that is opened nevertheless; nil: no warnings.
	Warn func(what string)
	// Note is called when a request shows that the provider refuses a parameter, which is then no
	// longer sent. The goroutine of the request calls it, once for each parameter and model; nil:
	// no notes.
	Note func(what string)
}

// Open makes the model that spec ("openai/gpt-5-mini", "ollama/qwen3") names and
// the target that describes it. Requests should carry the target's Params.
// Errors are *callvet.Hinted: ErrNotFound for an unknown provider, ErrDenied for
// a missing key, ErrInvalid for anything else.
func Open(spec string, cfg Config) (callvet.Model, callvet.Target, error) {
	m, t, err := openModel(spec, &cfg)
	if err != nil {
		return nil, callvet.Target{}, fmt.Errorf("open model %q: %w", spec, err)
	}
	return m, t, nil
}

func openModel(spec string, cfg *Config) (*model, callvet.Target, error) {
	var t callvet.Target
	name, id, _ := strings.Cut(spec, "/")
	svc, err := find(name)
	if err != nil {
		return nil, t, err
	}
	if id == "" {
		return nil, t, invalidSpec("the name of a model is missing", "write "+name+"/MODEL")
	}
	if cfg.Getenv == nil {
		cfg.Getenv = func(string) string { return "" }
	}
	base, own, err := baseURL(svc, cfg)
	if err != nil {
		return nil, t, err
	}
	key, from := apiKey(svc, cfg)
	if key == "" && !svc.local && !own {
		if cfg.Unkeyed == nil {
			return nil, t, callvet.Unset(fmt.Errorf("no API key: %w", callvet.ErrDenied), svc.keyEnv[0])
		}
		cfg.Unkeyed(svc.keyEnv[0])
	}
	if err := checkExtra(svc.wire, &cfg.Params); err != nil {
		return nil, t, err
	}
	t = callvet.Target{
		Name: spec, Provider: svc.name + "@" + base.Host, Model: id,
		BaseURL: withoutQuery(base),
	}
	svc, other, err := apiOf(svc, id, own, cfg, &t)
	if err != nil {
		return nil, t, err
	}
	pol := policyOf(svc.name, id)
	note := func(a callvet.Adjustment) { t.Adjustments = append(t.Adjustments, a) }
	given, std := pol.temperature(cfg, note)
	t.Params = pol.adjust(given, func(a callvet.Adjustment) {
		a.Default = std && a.Param == paramTemperature
		note(a)
	})
	if (key != "" || redact.HasCredential(base)) && cfg.Warn != nil && redact.ExposedAddress(base) {
		cfg.Warn(redact.UnencryptedWarning(base))
	}
	make := func(svc *providerRow, pol policy) *model {
		m := newModel(svc, id, cfg, pol)
		m.own = svc.local || own
		m.spec, m.hide = spec, newRedactor(key)
		m.url, m.header = address(svc, base, id, cfg), headers(svc, key)
		m.sender = sender(m.url, headers(svc, ""), from)
		return m
	}
	m := make(svc, pol)
	if other != nil {
		m.other = make(other, policyOf(other.name, id))
	}
	return m, t, nil
}

// apiOf chooses the API for a model, and records in t if that is not the API of its service. other
// is the alternative API; nil: none, as for the dated versions of Azure's API.
func apiOf(svc *providerRow, id string, own bool, cfg *Config,
	t *callvet.Target,
) (asked, other *providerRow, err error) {
	name := svc.responses()
	if name == "" {
		return svc, nil, nil
	}
	if svc.name != azure || cfg.apiVersion() == "" {
		if other, err = find(name); err != nil {
			return nil, nil, err
		}
	}
	if own || !onlyResponses(id, &cfg.Params) {
		return svc, other, nil
	}
	adj := callvet.Adjustment{
		Param: "api", Action: actWarn, From: "Chat Completions",
		Reason: "it takes no tools from this model while it reasons; ",
	}
	if other == nil {
		adj.Reason += "leave out the API version for the Responses API, or --reasoning-effort none"
		other = svc
	} else {
		adj.Reason += "the Responses API is used"
	}
	t.Adjustments = append(t.Adjustments, adj)
	return other, nil, nil
}

// onlyResponses reports whether the model supports tools only in OpenAI's Responses API: Chat
// Completions answers them with status 400 unless the effort is none.
func onlyResponses(model string, p *callvet.Params) bool {
	_, own := p.Extra["reasoning_effort"]
	return inAny(model, []string{"gpt-5.3+"}) && !inAny(model, chatModels()) && p.ReasoningEffort != "none" && !own
}

func newModel(svc *providerRow, id string, cfg *Config, pol policy) *model {
	prices := cfg.Prices
	if prices == nil {
		prices = ShippedPrices()
	}
	m := &model{
		note: cfg.Note, policy: pol, fit: svc.fit(), client: cfg.HTTPClient, stream: cfg.Stream, now: cfg.Now,
		timeout: cmp.Or(cfg.Timeout, defaultTimeout), maxBody: cmp.Or(cfg.MaxBody, defaultMaxBody),
		price: prices.Find(svc.name, id),
	}
	if m.client == nil {
		m.client = NewHTTPClient()
	}
	if m.now == nil {
		m.now = time.Now
	}
	n := pol.named(names{topP: "top_p", maxTokens: "max_tokens", seed: "seed", stop: "stop"})
	switch svc.wire {
	case wireMessages:
		n.seed = ""
		m.wire = &messages{model: id, names: n}
	case wireGemini:
		m.wire = &gemini{names: n, signs: inAny(id, gemini3())}
	case wireOllama:
		n = names{topP: "top_p", maxTokens: "num_predict", seed: "seed", stop: "stop"}
		m.wire, m.noChoice = &ollama{chat{model: id, names: n}}, true
	case wireResponses:
		n.seed, n.stop = "", ""
		m.wire = &responses{
			model: id, names: n,
			reasons: inAny(id, []string{"o1", "o3", "o4", "gpt-5+"}) && !inAny(id, chatModels()),
		}
	default:
		n.effort = "reasoning_effort"
		m.wire = &chat{model: id, names: n, usageOption: !svc.noUsageOption}
	}
	return m
}

func find(name string) (*providerRow, error) {
	all := services()
	for i := range all {
		if all[i].name == name {
			return &all[i], nil
		}
	}
	hint := "providers: " + strings.Join(Names(), ", ")
	if strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml") {
		hint = "a file with targets: --targets " + name + ". " + hint
	} else if near := callvet.Nearest(name, Names()); near != "" {
		hint = "did you mean " + near + "? " + hint
	}
	return nil, &callvet.Hinted{Err: fmt.Errorf("unknown provider %q: %w", name, callvet.ErrNotFound), Hint: hint}
}

// apiKey returns the key and the name of its variable.
func apiKey(svc *providerRow, cfg *Config) (key, from string) {
	if cfg.APIKey != "" {
		return cfg.APIKey, cfg.KeyName
	}
	for _, env := range svc.keyEnv {
		if k := strings.TrimSpace(cfg.Getenv(env)); k != "" {
			return k, env
		}
	}
	return "", ""
}

func (c *Config) apiVersion() string {
	return cmp.Or(c.APIVersion, c.Getenv("AZURE_OPENAI_API_VERSION"))
}

// checkExtra refuses extra parameters that are not JSON or that callvet sets itself.
func checkExtra(wire string, p *callvet.Params) error {
	own := []string{
		"model", "messages", "input", "instructions", "contents", "system", "systemInstruction",
		"tools", "tool_choice", "toolConfig", "stream", "stream_options", "store", "generationConfig",
		"parallel_tool_calls",
	}
	if wire == wireResponses {
		own = append(own, "include")
	}
	for k, v := range p.Extra {
		if slices.Contains(own, k) {
			return invalidSpec("extra parameter "+k+" is set by callvet", "remove it")
		}
		if _, err := value.Parse(v); err != nil {
			var se *value.SyntaxError
			errors.As(err, &se)
			return invalidSpec("extra parameter "+k+" is not JSON: "+se.Error(), "quote strings")
		}
	}
	return nil
}
