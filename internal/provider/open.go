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
	"github.com/callvet/callvet/internal/endpoint"
	"github.com/callvet/callvet/value"
)

// Config is what Open needs beside the spec. The zero value works for local
// servers.
type Config struct {
	// Getenv reads the environment; nil: there is none.
	Getenv func(string) string
	// BaseURL replaces the provider's, and with it the need for a key.
	BaseURL string
	// APIKey replaces the provider's environment variable; KeyName names the
	// variable that it was read from. The name tells accounts apart where an answer
	// may be reused; the key itself never does.
	APIKey, KeyName string
	// APIVersion chooses Azure's dated API by deployment; empty: its v1 API.
	APIVersion string
	Params     callvet.Params
	// DefaultTemperature is sent where Params has no temperature and none of the
	// parameters that rule it out, and the model takes it; nil: none is.
	DefaultTemperature *float64
	// HTTPClient is shared by all models of a process; nil: one of its own.
	HTTPClient *http.Client
	// Timeout of one request; 0: two minutes, negative: none.
	Timeout time.Duration
	// MaxBody is how many bytes an answer may have; 0: 8 MiB.
	MaxBody int64
	// Stream asks for streamed answers, to learn the time to the first token.
	Stream bool
	// Prices for the cost of requests; nil: the table that ships.
	Prices *Prices
	// Now is the clock; nil: time.Now.
	Now func() time.Time
	// Unkeyed is told the variable of a key that is missing, and the model is opened without: it
	// is for a model that nobody asks. nil: such a model is refused.
	Unkeyed func(variable string)
	// Warn is told what is wrong with a target that opens all the same; nil: nobody is.
	Warn func(what string)
	// Note is told what was learned of a model while it was asked: a parameter that the
	// provider refuses and that is not sent from then on. It is called from the goroutines
	// that ask, each thing once for a model; nil: nobody is told.
	Note func(what string)
}

// Open makes the model that spec ("openai/gpt-5-mini", "ollama/qwen3") names and
// the target that describes it. Requests should carry the target's Params.
// Errors are *callvet.Hinted: ErrNotFound for an unknown provider, ErrDenied for
// a missing key, ErrInvalid for anything else.
func Open(spec string, cfg Config) (callvet.Model, callvet.Target, error) {
	m, t, err := providerOpen(spec, &cfg)
	if err != nil {
		return nil, callvet.Target{}, fmt.Errorf("open model %q: %w", spec, err)
	}
	return m, t, nil
}

func providerOpen(spec string, cfg *Config) (*model, callvet.Target, error) {
	var t callvet.Target
	name, id, _ := strings.Cut(spec, "/")
	svc, err := find(name)
	if err != nil {
		return nil, t, err
	}
	if id == "" {
		return nil, t, providerInvalid("the name of a model is missing", "write "+name+"/MODEL")
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
	if (key != "" || endpoint.Carries(base)) && cfg.Warn != nil && endpoint.Exposed(base) {
		cfg.Warn(endpoint.Unencrypted(base))
	}
	make := func(svc *providerService, pol policy) *model {
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

// apiOf finds the API in which a model is asked, and notes in t where that is not the one
// of its service. other is the one that it may want besides; nil: there is none, as beside
// the dated versions of Azure's API.
func apiOf(svc *providerService, id string, own bool, cfg *Config,
	t *callvet.Target,
) (asked, other *providerService, err error) {
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

// onlyResponses reports whether OpenAI takes tools from the model in the Responses API only:
// Chat Completions answers them with status 400 unless the effort is none.
func onlyResponses(model string, p *callvet.Params) bool {
	_, own := p.Extra["reasoning_effort"]
	return inAny(model, []string{"gpt-5.3+"}) && !inAny(model, chatModels()) && p.ReasoningEffort != "none" && !own
}

func newModel(svc *providerService, id string, cfg *Config, pol policy) *model {
	prices := cfg.Prices
	if prices == nil {
		prices = ShippedPrices()
	}
	m := &model{
		note: cfg.Note, policy: pol, fit: svc.fit(), client: cfg.HTTPClient, stream: cfg.Stream, now: cfg.Now,
		timeout: cmp.Or(cfg.Timeout, providerDefaultTimeout), maxBody: cmp.Or(cfg.MaxBody, providerDefaultMaxBody),
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

func providerInvalid(what, hint string) error {
	return &callvet.Hinted{Err: fmt.Errorf("%s: %w", what, callvet.ErrInvalid), Hint: hint}
}

func find(name string) (*providerService, error) {
	all := services()
	for i := range all {
		if all[i].name == name {
			return &all[i], nil
		}
	}
	hint := "providers: " + strings.Join(Names(), ", ")
	if near := callvet.Nearest(name, Names()); near != "" {
		hint = "did you mean " + near + "? " + hint
	}
	return nil, &callvet.Hinted{Err: fmt.Errorf("unknown provider %q: %w", name, callvet.ErrNotFound), Hint: hint}
}

// apiKey gives the key and the name of the variable that holds it.
func apiKey(svc *providerService, cfg *Config) (key, from string) {
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
			return providerInvalid("extra parameter "+k+" is set by callvet", "remove it")
		}
		if _, err := value.Parse(v); err != nil {
			var se *value.SyntaxError
			errors.As(err, &se)
			return providerInvalid("extra parameter "+k+" is not JSON: "+se.Error(), "quote strings")
		}
	}
	return nil
}
